"""Weather for links in tests: one spec, no jitter, and a cut that ends when the test says."""

from dataclasses import dataclass, field

from pame.links import LinkSpec


@dataclass
class StillConditions:
    spec: LinkSpec = field(default_factory=LinkSpec)
    held_s: float = 0.0
    by_kernel: bool = False

    def link(self, receiver: int) -> LinkSpec:
        return self.spec

    def jitter(self, receiver: int, k: int) -> float:
        return 0.5

    def is_emulated(self, receiver: int) -> bool:
        return not self.by_kernel

    def held_for(self, receiver: int) -> float:
        return self.held_s

    def is_cut(self, receiver: int) -> bool:
        return self.held_s > 0
