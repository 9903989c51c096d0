"""Exceptions that nobody foresaw: one line with the file and line of the plugin, or of our code, and a traceback."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from contract.plugins import VARIABLE, PluginError, load_plugins
from contract.unexpected_errors import in_one_line, naming_plugins, reason_of
from pame import algorithms
from pame.errors import ParameterError
from tests.contract.harness import forgetting_plugins

TEXT = """
import json
import numpy as np
from pame.exchange import reveal

class Mine:
    kind = "mine-{number}"

ALGORITHMS = [Mine]

def divide():
    return 1 / 0  # line 12

def ask_a_library():
    return json.loads("[")  # line 15

def ask_ours():
    return reveal(np.zeros(3), "nonsense")  # line 18
"""

Write = Callable[[str], ModuleType]


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Loads a plugin of this text; it is forgotten afterwards."""

    def write(text: str) -> ModuleType:
        file = tmp_path / "my_plugin.py"
        file.write_text(text)
        monkeypatch.setenv(VARIABLE, str(file))
        return load_plugins()[0]

    with forgetting_plugins(algorithms.SPECS):
        yield write


def caught(work: Callable[[], object]) -> Exception:
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_the_line_of_a_plugin_is_named(plugin: Write) -> None:
    error = caught(plugin(TEXT.format(number=1)).divide)
    assert in_one_line(error) == "ZeroDivisionError: division by zero (my_plugin.py, line 12)"


def test_of_a_library_the_line_that_called_it_is_named(plugin: Write) -> None:
    said = in_one_line(caught(plugin(TEXT.format(number=2)).ask_a_library))
    assert said.startswith("JSONDecodeError: ")
    assert said.endswith("(my_plugin.py, line 15)")


def test_of_our_code_both_places_are_named(plugin: Write) -> None:
    said = in_one_line(caught(plugin(TEXT.format(number=3)).ask_ours))
    place, _, caller = said.rpartition(", called from ")
    assert "(pame/exchange.py, line " in place
    assert caller == "my_plugin.py, line 18)"


def test_words_of_many_lines_are_one_line_of_bounded_length() -> None:
    said = in_one_line(ValueError("first\nsecond\x1b[31m\t third " + 1000 * "x"))
    assert said.startswith("ValueError: first second [31m third xxx")
    assert len(said) < 330
    assert in_one_line(KeyError()) == "KeyError"


def test_a_plugins_exception_becomes_a_mistake_and_ours_stays_what_it_is(plugin: Write) -> None:
    module = plugin(TEXT.format(number=4))
    with (
        pytest.raises(PluginError, match=r"a plugin failed: ZeroDivisionError.*my_plugin.py, line 12"),
        naming_plugins(),
    ):
        module.divide()
    with pytest.raises(ZeroDivisionError), naming_plugins():
        np.int64(1 // 0)
    with pytest.raises(ParameterError, match="as it is"), naming_plugins():
        raise ParameterError("as it is")


def test_a_reason_is_logged_with_a_traceback_unless_it_is_a_users_mistake(
    plugin: Write, caplog: pytest.LogCaptureFixture
) -> None:
    error = caught(plugin(TEXT.format(number=5)).divide)
    reason = reason_of(error, 3)
    assert reason == "node 3 failed: ZeroDivisionError: division by zero (my_plugin.py, line 12)"
    assert reason_of(ParameterError("give less"), 3) == "give less"
    unforeseen, mistake = caplog.records
    assert (unforeseen.levelname, vars(unforeseen)["fields"]) == ("ERROR", {"reason": reason})
    assert unforeseen.exc_info is not None
    assert unforeseen.exc_info[1] is error
    assert (mistake.levelname, vars(mistake)["fields"], mistake.exc_info) == ("ERROR", {"reason": "give less"}, None)


@pytest.mark.parametrize("text", ["", "x = 1\n", "ALGORITHMS = []\nFAULTS = ()\n"])
def test_a_plugin_that_offers_nothing_says_what_to_add(plugin: Write, text: str) -> None:
    with pytest.raises(PluginError, match=r"my_plugin.py offers nothing: .*`ALGORITHMS = \[MyAlgorithm\]`"):
        plugin(text)


def test_a_plugin_of_faults_alone_is_one_for_a_node_too(plugin: Write) -> None:
    assert plugin("class Dark:\n    kind = 'dark'\nFAULTS = [Dark]\n").FAULTS


def test_an_offer_that_is_no_list_is_refused(plugin: Write) -> None:
    with pytest.raises(PluginError, match=r"ALGORITHMS is no list of classes: write `ALGORITHMS = \[MyClass\]`"):
        plugin("class Mine:\n    kind = 'mine'\nALGORITHMS = Mine\n")


def test_a_plugin_that_cannot_be_loaded_names_the_line(plugin: Write) -> None:
    with pytest.raises(PluginError, match=r"cannot be loaded: ZeroDivisionError: division by zero \(line 2\)"):
        plugin("x = 0\ny = 1 / x\n")
