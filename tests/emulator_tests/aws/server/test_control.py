import pytest

from emulators.aws.client import Emulator
from emulators.core.client import EmulatorError


def test_a_route_that_is_not_there_names_those_that_are(aws: Emulator) -> None:
    with pytest.raises(EmulatorError, match="GET nothing is no route; there are GET /_emulator/calls"):
        aws._ask("GET", "nothing")


def test_the_routes_of_tests_are_no_calls(aws: Emulator) -> None:
    before = len(aws.calls())
    aws.inventory()
    assert len(aws.calls()) == before


def test_a_group_that_is_not_there_does_not_move(aws: Emulator) -> None:
    with pytest.raises(EmulatorError, match="there is no Auto Scaling group eks-gone"):
        aws.move("eks-gone", 3)


def test_a_network_interface_needs_a_subnet_and_groups_that_exist(aws: Emulator) -> None:
    with pytest.raises(EmulatorError, match="no subnet-gone and no sg-gone"):
        aws.leave_network_interface("subnet-gone", ["sg-gone"])


@pytest.mark.parametrize("body", [b'[{"action": "explode"}]', b"no JSON", b'[{"action": "lost", "oparation": "x"}]'])
def test_a_rule_that_cannot_be_is_refused_and_those_before_it_hold(aws: Emulator, body: bytes) -> None:
    with pytest.raises(EmulatorError):
        aws._ask("PUT", "faults", body)
