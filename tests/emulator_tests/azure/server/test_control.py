import pytest

from emulators.core.client import EmulatorError
from support.aks_account import ELASTIC, Account


def test_a_pool_moves_inside_its_bounds(own: Account) -> None:
    cluster = own.cluster()
    pool = own.pool(cluster, **ELASTIC)
    with pytest.raises(EmulatorError, match="has 1 to 5 nodes, given 9"):
        own.az.move(pool, 9)
    with pytest.raises(EmulatorError, match="initial is not autoscaled"):
        own.az.move(f"{cluster}/agentPools/initial", 3)
    with pytest.raises(EmulatorError, match=r"there is no Microsoft.*/gone"):
        own.az.move(f"{cluster}/agentPools/gone", 3)


def test_an_interface_needs_a_subnet_that_is_there(own: Account) -> None:
    with pytest.raises(EmulatorError, match="there is no"):
        own.az.leave_network_interface(f"{own.subnet}-gone")


def test_the_routes_of_tests_are_no_calls(own: Account) -> None:
    before = len(own.az.calls())
    own.az.inventory()
    assert len(own.az.calls()) == before
    with pytest.raises(EmulatorError, match="GET nothing is no route; there are GET /_emulator/calls"):
        own.az._ask("GET", "nothing")
