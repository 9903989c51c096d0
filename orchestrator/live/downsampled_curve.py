"""A curve in bounded memory, however long the run."""

from typing import Generic, TypeVar

Point = TypeVar("Point")


class DownsampledCurve(Generic[Point]):
    """A curve in bounded memory: when it is full, every other point goes; the first and the newest always stay."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._every = 1
        self._count = 0
        self._kept: list[Point] = []
        self._newest: list[Point] = []

    def add(self, point: Point) -> None:
        if self._count % self._every == 0:
            self._kept.append(point)
            self._newest = []
            if len(self._kept) >= self._most:
                self._newest = [] if len(self._kept) % 2 else [point]
                self._kept = self._kept[::2]
                self._every *= 2
        else:
            self._newest = [point]
        self._count += 1

    def points(self) -> list[Point]:
        """At most `most` of them, in order."""
        return self._kept + self._newest
