"""Which address is on the data network."""

import socket

import pytest

from node.addresses import NoAddress, choose, control_address, own_addresses


def test_the_other_address_is_on_the_data_network() -> None:
    assert choose(["127.0.0.1", "10.1.0.5", "10.2.0.7"], "10.1.0.5") == "10.2.0.7"


def test_with_one_network_it_is_for_both() -> None:
    assert choose(["127.0.0.1", "10.1.0.5"], "10.1.0.5") == "10.1.0.5"
    assert choose(["127.0.0.1"], "127.0.0.1") == "127.0.0.1"


def test_several_others_need_a_word_from_the_user() -> None:
    with pytest.raises(NoAddress, match=r"10\.2\.0\.7, 10\.3\.0\.9.*--host"):
        choose(["10.1.0.5", "10.3.0.9", "10.2.0.7"], "10.1.0.5")


def test_an_orchestrator_on_loopback_is_reached_from_loopback() -> None:
    assert control_address("127.0.0.1:4750") == "127.0.0.1"
    assert control_address("localhost:4750") == "127.0.0.1"


def test_a_name_that_nobody_knows_is_one_clear_line() -> None:
    with pytest.raises(NoAddress, match=r"no way to nobody\.invalid:4750"):
        control_address("nobody.invalid:4750")


def test_own_addresses_can_all_be_listened_on() -> None:
    found = own_addresses()
    assert "127.0.0.1" in found
    for address in found:
        socket.create_server((address, 0)).close()
