"""Numbers as people read them: four significant digits, KiB and MiB, minutes and hours."""

import re
from collections.abc import Iterable, Sequence

NOT_MEASURED = "not measured"
BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def number(value: float | None) -> str:
    """Four significant digits; whole numbers in full, with thousands apart."""
    if value is None:
        return NOT_MEASURED
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{int(value):,}".replace(",", "\u202f")
    if 999.95 <= abs(value) < 1e7:
        return f"{value:,.0f}".replace(",", "\u202f")
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def byte_unit(largest: float) -> tuple[str, int]:
    """The unit in which `largest` bytes is a number from 1 to 1024, and the bytes in one such unit."""
    power = 0
    while power < len(BYTE_UNITS) - 1 and largest >= 1024 ** (power + 1):
        power += 1
    return BYTE_UNITS[power], 1024**power


def volume(count: float | None) -> str:
    """A number of bytes, in the unit that suits it."""
    if count is None:
        return NOT_MEASURED
    unit, size = byte_unit(count)
    return f"{number(count / size)} {unit}"


def duration(seconds: float | None) -> str:
    """A time span: milliseconds below a second, minutes from two minutes, hours from two hours."""
    if seconds is None:
        return NOT_MEASURED
    if 0 < seconds < 1:
        return f"{number(seconds * 1000)} ms"
    if seconds < 120:
        return f"{number(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def percent(share: float | None) -> str:
    """A share of one as a percentage with three significant digits."""
    return NOT_MEASURED if share is None else f"{share * 100:.3g} %"


def is_share(metric: str) -> bool:
    """Whether a metric is a share of one, which people read in percent."""
    return metric.endswith("accuracy")


def metric_title(metric: str) -> str:
    """Its name as a heading; what is not plainly words joined by `_` is told as it is, for it is a user's."""
    if not re.fullmatch(r"[a-z]+(?:_[a-z]+)*", metric):
        return metric
    first, *rest = ("MSE" if word == "mse" else word for word in metric.split("_"))
    return " ".join((first[:1].upper() + first[1:], *rest))


def of_metric(metric: str, value: float | None) -> str:
    """Its value: a share in percent with one decimal, so that steps of a tenth are seen and no more is claimed."""
    return f"{100 * value:.1f} %" if value is not None and is_share(metric) else number(value)


def reach_of_metric(metric: str, low: float | None, high: float | None) -> str:
    """From the lowest to the highest."""
    if low is None or high is None or not is_share(metric):
        return f"{number(low)} … {number(high)}"
    return f"{100 * low:.1f} … {100 * high:.1f}\u202f%"


def count(quantity: int, singular: str, plural: str | None = None) -> str:
    """`1 node`, `2 nodes`."""
    return f"{number(quantity)} {singular if quantity == 1 else plural or singular + 's'}"


def listed(names: Sequence[object], most: int) -> str:
    """`0, 1, 2 and 4 more`."""
    more = len(names) - most
    return ", ".join(map(str, names[:most])) + (f" and {more} more" if more > 0 else "")


def listed_as(what: str, names: Sequence[object], most: int) -> str:
    """`node 3`, `nodes 1, 2 and 4 more`."""
    return f"{what}{'' if len(names) == 1 else 's'} {listed(names, most)}"


def ranges(numbers: Iterable[int], to: str) -> str:
    """`0..3, 7`: whole numbers in order, with neighbours as one."""
    runs: list[list[int]] = []
    for each in sorted(numbers):
        if runs and runs[-1][-1] == each - 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ", ".join(f"{run[0]}{to}{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
