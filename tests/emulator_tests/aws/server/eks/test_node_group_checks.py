import pytest

from emulators.aws.server.autoscaling import Size
from emulators.aws.server.eks import node_group_checks as checks
from emulators.aws.server.eks.account import LaunchTemplate
from emulators.aws.server.errors import AwsError

LIVE = Size(2, 10, 7)


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ({}, LIVE),
        ({"maxSize": 8}, Size(2, 8, 7)),
        ({"minSize": 7}, Size(7, 10, 7)),
        ({"minSize": 0, "desiredSize": 0}, Size(0, 10, 0)),
    ],
)
def test_what_is_not_given_of_a_size_stays(given: dict[str, int], size: Size) -> None:
    assert checks.size(given, LIVE) == size


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"minSize": 8}, "Minimum capacity 8 can't be greater than desired size 7"),
        ({"maxSize": 6}, "desiredSize 7 can't be greater than maxSize 6"),
        ({"maxSize": 451}, "exceeds the 450 nodes"),
    ],
)
def test_a_size_that_contradicts_itself_is_refused(given: dict[str, int], words: str) -> None:
    with pytest.raises(AwsError, match=words):
        checks.size(given, LIVE)


@pytest.mark.parametrize(
    "key", ["kubernetes.io/role", "node.kubernetes.io/lifecycle", "k8s.io/x", "eks.amazonaws.com/x"]
)
def test_labels_of_kubernetes_and_eks_are_refused(key: str) -> None:
    with pytest.raises(AwsError, match="reserved prefixes"):
        checks.check_labels({key: "x"})


@pytest.mark.parametrize("key", ["k8s.amazonaws.com/accelerator", "app.iguazio.com/lifecycle", "role"])
def test_other_labels_are_accepted(key: str) -> None:
    checks.check_labels({key: "x"})


def test_a_taint_is_one_by_key_and_effect() -> None:
    taint = {"key": "spot", "value": "a", "effect": "NO_SCHEDULE"}
    checks.check_taints([taint, {**taint, "effect": "NO_EXECUTE"}])
    with pytest.raises(AwsError, match="Duplicate taints: spot:NO_SCHEDULE"):
        checks.check_taints([taint, {**taint, "value": "b"}])
    with pytest.raises(AwsError, match="51 taints"):
        checks.check_taints([{**taint, "key": str(number)} for number in range(51)])


def test_an_update_drains_a_number_or_a_percentage() -> None:
    assert checks.update_config({}) == {"maxUnavailable": 1}
    assert checks.update_config({"maxUnavailablePercentage": 33}) == {"maxUnavailablePercentage": 33}
    with pytest.raises(AwsError, match="either"):
        checks.update_config({"maxUnavailable": 1, "maxUnavailablePercentage": 33})
    with pytest.raises(AwsError, match="at most 100"):
        checks.update_config({"maxUnavailable": 101})


def test_repair_has_limits_of_one_kind() -> None:
    checks.check_repair(
        {"enabled": True, "maxUnhealthyNodeThresholdCount": 1, "maxParallelNodesRepairedPercentage": 10}
    )
    with pytest.raises(AwsError, match="maxParallelNodesRepaired is"):
        checks.check_repair({"maxParallelNodesRepairedCount": 1, "maxParallelNodesRepairedPercentage": 10})


@pytest.mark.parametrize(
    ("data", "given", "words"),
    [
        ({"IamInstanceProfile": {"Name": "x"}}, {}, "should not specify IamInstanceProfile"),
        ({"NetworkInterfaces": [{"SubnetId": "subnet-1"}]}, {}, "should not specify SubnetId"),
        ({"InstanceType": "m6i.large"}, {"instanceTypes": ["m6i.large"]}, "Instance types are specified in"),
        ({}, {"diskSize": 20}, "diskSize cannot be specified"),
    ],
)
def test_a_template_says_nothing_that_is_ekss_or_the_groups(
    data: dict[str, object], given: dict[str, object], words: str
) -> None:
    with pytest.raises(AwsError, match=words):
        checks.check_template(LaunchTemplate("lt-1", "t", "1", data), given)


BLOCK = {
    "InstanceMarketOptions": {"MarketType": "capacity-block"},
    "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}},
    "InstanceType": "p5.48xlarge",
}


@pytest.mark.parametrize("lacking", BLOCK)
def test_a_group_of_a_block_names_all_that_leads_to_it(lacking: str) -> None:
    checks.check_capacity({"capacityType": "CAPACITY_BLOCK"}, BLOCK, ["a"])
    template = {name: value for name, value in BLOCK.items() if name != lacking}
    with pytest.raises(AwsError, match="in the launch template"):
        checks.check_capacity({"capacityType": "CAPACITY_BLOCK"}, template, ["a"])


def test_a_group_of_a_block_is_in_one_zone_and_updated_without_nodes() -> None:
    with pytest.raises(AwsError, match="subnets of the zone"):
        checks.check_capacity({"capacityType": "CAPACITY_BLOCK"}, BLOCK, ["a", "b"])
    checks.check_empty(Size(0, 2, 0))
    with pytest.raises(AwsError, match="desired size of 0"):
        checks.check_empty(Size(0, 2, 1))


def test_only_a_group_of_a_block_has_market_options() -> None:
    with pytest.raises(AwsError, match="should not specify InstanceMarketOptions"):
        checks.check_capacity({"capacityType": "SPOT"}, BLOCK, ["a"])
    checks.check_capacity({}, {"InstanceType": "m6i.large"}, ["a", "b"])


@pytest.mark.parametrize(
    ("interfaces", "machine", "words"),
    [
        ([{"InterfaceType": "efa-only"}], "p5.48xlarge", "cannot be the primary"),
        ([{"InterfaceType": "efa"}], "m6i.large", "m6i.large has no efa network interface on network card 0"),
        ([{"InterfaceType": "efa"}], "p6-b300.48xlarge", "no efa network interface on network card 0"),
        ([{"NetworkCardIndex": 4, "InterfaceType": "efa-only"}], "p4d.24xlarge", "on network card 4"),
        (
            [{"InterfaceType": "efa"}, {"DeviceIndex": 1, "InterfaceType": "efa-only"}],
            "c7i.48xlarge",
            "has 1 Elastic Fabric Adapters at most, given 2",
        ),
        ([{"InterfaceType": "efa"}, {"InterfaceType": "interface"}], "p4d.24xlarge", "same network card index"),
        (
            [{"NetworkCardIndex": 1, "DeviceIndex": 2, "InterfaceType": "efa-only"}],
            "p5.48xlarge",
            "device index exceeds",
        ),
        (
            [{"AssociatePublicIpAddress": True}, {"NetworkCardIndex": 1, "InterfaceType": "efa-only"}],
            "p4d.24xlarge",
            "cannot have a public address",
        ),
    ],
)
def test_a_machine_has_only_the_adapters_that_ec2_knows(
    interfaces: list[dict[str, object]], machine: str, words: str
) -> None:
    with pytest.raises(AwsError, match=words):
        checks.check_interfaces({"NetworkInterfaces": interfaces}, [machine], "vpc-1")
    checks.check_interfaces({}, [machine], "vpc-1")


@pytest.mark.parametrize("name", ["-a", "a" * 64, "a.b", ""])
def test_a_strange_name_is_refused(name: str) -> None:
    with pytest.raises(AwsError, match="must match"):
        checks.check_name(name)


def test_a_group_has_twenty_types_at_most() -> None:
    with pytest.raises(AwsError, match="21 instance types"):
        checks.check_types(["m6i.large"] * 21, "AL2023_x86_64_STANDARD")
