import pytest

from orchestrator.cli.run_progress import Progress, progress_of
from pame.stopping import StopRules


@pytest.mark.parametrize(
    ("iterations", "seconds", "reached", "expected"),
    [
        (300, None, (30, None), Progress(0.1, "30/300 iterations")),
        (300, 10.0, (30, 0.5), Progress(0.1, "30/300 iterations")),
        (300, 10.0, (30, 5.0), Progress(0.5, "5/10 seconds")),
        (None, 20.0, (9000, 5.0), Progress(0.25, "5/20 seconds")),
        (None, 20.0, (9000, 25.0), Progress(1.0, "20/20 seconds")),
        (300, 20.0, (600, None), Progress(1.0, "300/300 iterations")),
        (None, 20.0, (9000, None), Progress(0.0, "")),
    ],
)
def test_it_goes_by_what_will_end_the_run_first(
    iterations: int | None, seconds: float | None, reached: tuple[int, float | None], expected: Progress
) -> None:
    assert progress_of(StopRules(iterations, seconds=seconds), *reached) == expected
