"""Size and speed of partial messages on the wire: `python -m benchmarks.codec`.

Sizes are means over real messages, against the entropy floor log2 C(n, s) + 64 s bits, the paper's 63 s + n bits, and
other ways to send the indices. Times are medians, and ratios to a plain copy of the dense vector, in two orders:
`in a row` repeats each action while its data are in the cache, `in turn` alternates draw, encode, decode and copy, so
that each finds the cache used by the others. Encoding is drawing the support, gathering the values and building the
bytes; decoding includes drawing the support.
"""

from dataclasses import dataclass
from statistics import fmean, median
from timeit import timeit

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.printing import print_goals, table_of
from pame.codec import Draw, SupportCoding, decode, encode, sizes
from pame.exchange import PartialMessage, Vector, reveal
from pame.randomness import Key, Purpose, normals
from pame.theory import entropy_floor_bits, paper_bits, support_entropy_bits

DIMENSIONS = (10**4, 10**5, 10**6)
SHARES = (0.01, 0.1, 0.2)
SEED = 1
MESSAGES = 20
RUNS = {10**4: 301, 10**5: 201, 10**6: 101}
CODINGS = (SupportCoding.SEED, SupportCoding.GAPS, SupportCoding.BITMAP)


@dataclass(frozen=True, slots=True)
class Sized:
    """The mean bytes of messages of one shape: of the support by coding, and of everything else."""

    n: int
    share: float
    s: int
    support: dict[SupportCoding, float]
    elias_gamma: float
    rest: float

    def alone(self, support_bytes: float) -> float:
        """Support bytes over log2 C(n, s)."""
        return 8 * support_bytes / support_entropy_bits(self.n, self.s)

    def whole(self, support_bytes: float) -> float:
        """The bytes of a message with such a support over log2 C(n, s) + 64 s."""
        return 8 * (self.rest + support_bytes) / entropy_floor_bits(self.n, self.s)


@dataclass(frozen=True, slots=True)
class Seconds:
    """Median times of the four actions."""

    draw: float
    encode: float
    decode: float
    copy: float


@dataclass(frozen=True, slots=True)
class Timed:
    """One coding at one shape, in both orders."""

    n: int
    share: float
    coding: SupportCoding
    in_a_row: Seconds
    in_turn: Seconds


def main() -> None:
    console = Console(width=120)
    measured = [sized(n, share) for n in DIMENSIONS for share in SHARES]
    console.print(support_table(measured), message_table(measured))
    times = [timed(n, share, coding) for n in DIMENSIONS for share in SHARES for coding in CODINGS[:2]]
    console.print(time_table(times))
    print_goals(console, reaches(measured, times))


def model(n: int) -> Vector:
    return normals(Key(SEED, Purpose.TRUTH), n)


def sized(n: int, share: float) -> Sized:
    """The mean sizes of messages at different iterations."""
    s, vector = round(share * n), model(n)
    draws = [Draw(SEED, sender=2, iteration=k) for k in range(MESSAGES)]
    messages = [reveal(vector, draw.support(n, s)) for draw in draws]
    support, rest = {}, 0.0
    for coding in CODINGS:
        pairs = zip(messages, draws, strict=True)
        counted = [sizes(encode(message, coding=coding, draw=draw), n) for message, draw in pairs]
        support[coding] = fmean(c.support for c in counted)
        rest = fmean(c.total - c.support for c in counted)
    return Sized(n, share, s, support, fmean(elias_gamma_bytes(message) for message in messages), rest)


def elias_gamma_bytes(message: PartialMessage) -> float:
    """The gaps in Elias gamma code: 2 floor(log2 d) + 1 bits for a distance d >= 1."""
    distances = np.diff(message.support, prepend=-1)
    _, exponents = np.frexp(distances.astype(np.float64))  # d = f 2^e with f in [1/2, 1)
    return float((2 * (exponents - 1) + 1).sum()) / 8


def timed(n: int, share: float, coding: SupportCoding) -> Timed:
    s, vector, draw = round(share * n), model(n), Draw(SEED, sender=2, iteration=3)

    def send() -> bytes:
        return encode(reveal(vector, draw.support(n, s)), coding=coding, draw=draw)

    data, runs = send(), range(RUNS[n])
    actions = (lambda: draw.support(n, s), send, lambda: decode(data, n, draw), vector.copy)
    row = [median(timeit(action, number=1) for _ in runs) for action in actions]
    rounds = [[timeit(action, number=1) for action in actions] for _ in runs]
    turn = [median(column) for column in zip(*rounds, strict=True)]
    return Timed(n, share, coding, Seconds(*row), Seconds(*turn))


def support_table(measured: list[Sized]) -> Table:
    columns = ("n", "s/n", "entropy, bytes", "seed, bytes", "seed", "gaps", "bitmap", "Elias gamma", "32-bit indices")
    table = table_of("Support alone: bytes over the entropy log2 C(n, s)", columns)
    for m in measured:
        ratios = [m.alone(size) for size in (*m.support.values(), m.elias_gamma, 4 * m.s)]
        entropy, seed = f"{support_entropy_bits(m.n, m.s) / 8:,.0f}", f"{m.support[SupportCoding.SEED]:.0f}"
        table.add_row(f"{m.n:,}", f"{m.share}", entropy, seed, *(f"{r:.4f}" for r in ratios))
    return table


def message_table(measured: list[Sized]) -> Table:
    columns = ("n", "s/n", "floor, bytes", "seed", "gaps", "bitmap", "Elias gamma", "32-bit indices", "paper 63 s + n")
    table = table_of("Whole message (float64, no stars): bytes over the floor log2 C(n, s) + 64 s", columns)
    for m in measured:
        floor = entropy_floor_bits(m.n, m.s)
        ratios = [m.whole(size) for size in (*m.support.values(), m.elias_gamma, 4 * m.s)]
        ratios.append(paper_bits(m.n, m.s) / floor)
        table.add_row(f"{m.n:,}", f"{m.share}", f"{floor / 8:,.0f}", *(f"{r:.4f}" for r in ratios))
    return table


def time_table(times: list[Timed]) -> Table:
    """Milliseconds in a row, and copies of the dense vector in both orders."""
    columns = ("n", "s/n", "coding", "copy", *3 * ("draw", "encode", "decode"))
    title = "Time: milliseconds in a row; then in copies of the dense vector, in a row and in turn"
    table = table_of(title, columns)
    for t in times:
        row = t.in_a_row
        cells = [f"{1e3 * x:.3f}" for x in (row.copy, row.draw, row.encode, row.decode)]
        cells += [f"{x / o.copy:.1f}x" for o in (row, t.in_turn) for x in (o.draw, o.encode, o.decode)]
        table.add_row(f"{t.n:,}", f"{t.share}", t.coding.name.lower(), *cells)
    return table


def reaches(measured: list[Sized], times: list[Timed]) -> list[tuple[str, bool]]:
    results = []
    for shares, limit, where in ((SHARES[:2], 1.02, "s/n <= 0.1"), (SHARES[2:], 1.05, "s/n = 0.2")):
        among = [(m, m.support[SupportCoding.GAPS]) for m in measured if m.share in shares]
        alone, whole = max(m.alone(size) for m, size in among), max(m.whole(size) for m, size in among)
        for worst, what in ((alone, "support alone"), (whole, "whole message")):
            results.append((f"gaps within {limit} of the floor at {where}, {what}: {worst:.4f}", worst <= limit))
    seeded = [(m.rest + m.support[SupportCoding.SEED]) / (8 * m.s) for m in measured if m.n == 10**6]
    results.append((f"seed within 1.001 of the values alone at n = 10^6: {max(seeded):.6f}", max(seeded) <= 1.001))
    (t,) = (t for t in times if t.n == 10**6 and t.share == 0.1 and t.coding is SupportCoding.SEED)
    for order, seconds in (("in a row", t.in_a_row), ("in turn", t.in_turn)):
        draw = seconds.draw / seconds.copy
        for name, copies in (("encode", seconds.encode / seconds.copy), ("decode", seconds.decode / seconds.copy)):
            goal = f"{name} within 5 dense copies (seed, n = 10^6, s/n = 0.1, drawing included), {order}"
            results.append((f"{goal}: {copies:.2f}, of which {draw:.2f} drawing", copies <= 5.0))
    return results


if __name__ == "__main__":
    main()
