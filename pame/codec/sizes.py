"""Where the bytes of a message go."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes by kind; `framing` is the flags byte and the varint (s, or bits); scales count as values."""

    values: int = 0
    support: int = 0
    stars: int = 0
    framing: int = 0

    @property
    def total(self) -> int:
        return self.values + self.support + self.stars + self.framing

    def __add__(self, other: "Sizes") -> "Sizes":
        return Sizes(
            self.values + other.values,
            self.support + other.support,
            self.stars + other.stars,
            self.framing + other.framing,
        )

    def __mul__(self, copies: int) -> "Sizes":
        return Sizes(self.values * copies, self.support * copies, self.stars * copies, self.framing * copies)
