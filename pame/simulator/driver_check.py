"""Which driver can run which setting."""

from pame.algorithms import PameSpec, Who
from pame.errors import ParameterError
from pame.problems.base import StackedProblem
from pame.resolved_run import ResolvedRun


def check(driver: str, setting: ResolvedRun) -> None:
    """Refuse a setting that a driver cannot run."""
    if driver == "virtual-time":
        return
    if setting.stop.by_seconds_alone:
        raise ParameterError(
            f"the {driver} driver has no clock, so that stop.seconds alone never ends a run: give stop.iterations, or "
            "use simulate.driver: virtual-time"
        )
    if not setting.conditions.is_public:
        raise ParameterError(
            f"the {driver} driver knows no time, and some faults go by the clock: use simulate.driver: virtual-time"
        )
    if driver == "vectorised" and setting.plan:
        raise ParameterError("the vectorised driver knows no faults: use simulate.driver: lock-step")
    if not setting.exchange.waits or setting.exchange.spare != 0:
        raise ParameterError(
            f"the {driver} driver knows no time, so nobody can be first: use simulate.driver: virtual-time with "
            "exchange.mode: free or a spare"
        )
    if driver == "vectorised" and not isinstance(setting.algorithm, PameSpec):
        raise ParameterError("the vectorised driver knows only PaME: use simulate.driver: lock-step for others")
    if driver == "vectorised" and not isinstance(setting.problem, StackedProblem):
        raise ParameterError("the vectorised driver knows only regressions: use simulate.driver: lock-step")
    if driver == "vectorised" and setting.algorithm.who is not Who.CHOSEN:
        raise ParameterError("the vectorised driver knows only draw: directed: use simulate.driver: lock-step")
