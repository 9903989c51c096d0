"""Neural networks as functions of one flat vector: models, loss, gradient. The only package that imports torch.

May import: the standard library, numpy, torch, and of `pame` what is free of it.
"""
