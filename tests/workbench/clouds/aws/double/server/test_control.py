import pytest

from workbench.clouds.aws.double.client import Double
from workbench.clouds.double.client import DoubleError


def test_a_route_that_is_not_there_names_those_that_are(aws: Double) -> None:
    with pytest.raises(DoubleError, match="GET nothing is no route; there are GET /_double/calls"):
        aws._ask("GET", "nothing")


def test_the_routes_of_tests_are_no_calls(aws: Double) -> None:
    before = len(aws.calls())
    aws.inventory()
    assert len(aws.calls()) == before


def test_a_group_that_is_not_there_does_not_move(aws: Double) -> None:
    with pytest.raises(DoubleError, match="there is no Auto Scaling group eks-gone"):
        aws.move("eks-gone", 3)


def test_a_network_interface_needs_a_subnet_and_groups_that_exist(aws: Double) -> None:
    with pytest.raises(DoubleError, match="no subnet-gone and no sg-gone"):
        aws.leave_network_interface("subnet-gone", ["sg-gone"])


@pytest.mark.parametrize("body", [b'[{"action": "explode"}]', b"no JSON", b'[{"action": "lost", "oparation": "x"}]'])
def test_a_rule_that_cannot_be_is_refused_and_those_before_it_hold(aws: Double, body: bytes) -> None:
    with pytest.raises(DoubleError):
        aws._ask("PUT", "faults", body)
