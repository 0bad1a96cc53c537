import socket

import pytest

from workbench.local.ports import LOOPBACK, PORTS, is_free, settle
from workbench.system.errors import UserError


def test_free_ports_are_kept() -> None:
    first = settle({})
    assert settle(first) == first


def test_each_purpose_has_a_port_of_its_own_that_no_outgoing_connection_takes() -> None:
    ports = settle({})
    assert set(ports) == set(PORTS)
    assert len(set(ports.values())) == len(PORTS)
    assert all(1024 < port < 32768 for port in ports.values())


def test_a_port_that_a_stranger_took_is_replaced_and_the_others_stay() -> None:
    first = settle({})
    with socket.create_server((LOOPBACK, first["etcd"])):
        second = settle(first)
    assert {purpose for purpose in PORTS if first[purpose] != second[purpose]} == {"etcd"}


def test_a_listener_on_all_addresses_counts_as_a_stranger() -> None:
    port = settle({})["etcd"]
    with socket.create_server(("", port)):
        assert not is_free(port)
    assert is_free(port)


def test_having_no_free_port_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.local.ports.is_free", lambda _: False)
    with pytest.raises(UserError, match="No free port"):
        settle({})
