"""The mistakes a user can make, one type per kind; each message is one sentence that says what to do."""


class PameError(Exception):
    """Any mistake of the user that has a one-line explanation."""


class TopologyError(PameError):
    """The graph that was asked for cannot exist or is not connected."""


class ParameterError(PameError):
    """A parameter is out of its range, or two of them contradict each other."""


class Diverged(PameError):
    """The iterates blew up: the step is too large for the problem."""

    def __init__(self, what_happened: str) -> None:
        super().__init__(
            f"{what_happened}: make the step smaller (a smaller algorithm.step.eta or algorithm.eta, or a larger "
            "algorithm.step.sigma0)"
        )


class MessageRefused(PameError):
    """An algorithm sends what real nodes refuse: its messages are not what it declares."""


class PlanError(PameError):
    """A text is not a plan of faults; the message names the line."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"plan, line {line}: {why}; a plan is copied, not written by hand")
        self.line = line
