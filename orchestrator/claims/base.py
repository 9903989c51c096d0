"""The experiment that most claims start from: the paper's linear regression as we read it, on 32 nodes.

Participation, support, growth and periods are the paper's; step size, samples and noise are those of the reading that
comes close to its table. None of them was chosen with the outcome of a claim in view.
"""

LINEAR = """
nodes: 32
topology: {kind: random-regular, degree: 10}
problem: {kind: linear, n: 600, samples: 216, noise: 0.5, test_samples: 1}
algorithm:
  kind: pame
  participation: 0.2
  support: 0.2
  step: {kind: fixed, eta: 0.055, gamma: 1.005}
period: 3..7
evaluate: {every: 2}
stop: {iterations: 300}
simulate: {driver: vectorised}
"""
EVERY = 2
"""How far points of its curves are apart."""
TARGET = 0.05
"""The share of the way from f(0) to the optimum that may be left."""
