"""What cannot be rendered is refused before it reaches a shell program."""

from collections.abc import Callable

import pytest

from node.shaping.desired import Desired, Shaped
from pame.errors import ParameterError
from pame.links import LinkSpec

PLAIN = LinkSpec()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Shaped(1, "10.9.0", PLAIN), "no IPv4 address"),
        (lambda: Shaped(1, "::1", PLAIN), "no IPv4 address"),
        (lambda: Shaped(1, "10.9.0.2\nqdisc del dev eth0 root", PLAIN), "no IPv4 address"),
        (lambda: Shaped(-1, "10.9.0.2", PLAIN), "0 to 4079"),
        (lambda: Shaped(4080, "10.9.0.2", PLAIN), "0 to 4079"),
        (lambda: Shaped(1, "10.9.0.2", LinkSpec(loss=1.5)), "is a share"),
        (lambda: Desired("eth1 root", (), 0), "no name of a network interface"),
        (lambda: Desired("a-name-that-is-too-long", (), 0), "no name of a network interface"),
        (lambda: Desired("eth1", (Shaped(1, "10.9.0.2", PLAIN), Shaped(1, "10.9.0.3", PLAIN)), 0), "same neighbour"),
        (lambda: Desired("eth1", (Shaped(1, "10.9.0.2", PLAIN), Shaped(2, "10.9.0.2", PLAIN)), 0), "same address"),
    ],
)
def test_a_mistake_is_refused_with_one_sentence(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ParameterError, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)
