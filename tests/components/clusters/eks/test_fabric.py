"""Groups with a fast network between their nodes, and groups whose machines are close to each other."""

from typing import Any

import pytest
from moto.ec2.models.instance_types import INSTANCE_TYPES as EC2_TYPES

from components.contract.eks.fabric import PLAIN_FIRST_CARD
from components.contract.fabric import fabric_of
from components.contract.instances import INSTANCE_TYPES, Provider, Variant
from support.eks import LAUNCH_TEMPLATE, NODE_GROUP, TAG, build
from support.recorder import Recorder

PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
RESOURCES = "k8s.io/cluster-autoscaler/node-template/resources/"

FAST: dict[str, Any] = {
    "role": "gpu",
    "size": {"min": 0, "max": 2},
    "instanceTypes": ["p4d.24xlarge"],
    "zone": "b",
    "fabric": True,
}
CLOSE: dict[str, Any] = {
    "role": "workload",
    "size": {"min": 0, "max": 2},
    "instanceTypes": ["c7i.24xlarge"],
    "zone": "b",
    "closeTogether": True,
}


def made(pool: dict[str, Any]) -> tuple[Recorder, dict[str, Any], dict[str, Any]]:
    """Return what the stack with a pool more declares, the pool's group and its template."""
    recorder = build({"pools.train": pool})
    return recorder, recorder.of_type(NODE_GROUP)["test-train"], recorder.of_type(LAUNCH_TEMPLATE)["test-train"]


def interfaces(machine: str) -> list[tuple[int, int, str]]:
    _, _, template = made({**FAST, "instanceTypes": [machine]})
    return [
        (each["networkCardIndex"], each["deviceIndex"], each["interfaceType"]) for each in template["networkInterfaces"]
    ]


def test_the_primary_interface_alone_has_addresses() -> None:
    assert interfaces("p4d.24xlarge") == [(0, 0, "efa"), *((card, 0, "efa-only") for card in (1, 2, 3))]


def test_a_first_card_without_an_adapter_stays_plain() -> None:
    assert interfaces("p6-b300.48xlarge") == [
        (0, 0, "interface"),
        *((card, 0, "efa-only") for card in range(1, 17)),
    ]


def test_interfaces_are_in_the_clusters_group_and_name_no_subnet() -> None:
    recorder, group, template = made(FAST)
    for each in template["networkInterfaces"]:
        assert set(each) == {
            *("networkCardIndex", "deviceIndex", "interfaceType", "securityGroups", "deleteOnTermination"),
            "associatePublicIpAddress",
        }
        assert each["associatePublicIpAddress"] == "false"
    made_from = recorder.options[LAUNCH_TEMPLATE, "test-train"].made_from["networkInterfaces"]
    assert made_from == (("aws:eks/cluster:Cluster", "test-cluster"),)
    assert len(group["subnetIds"]) == 1


def test_every_card_with_an_adapter_is_one_that_ec2_knows() -> None:
    fast = [each for each in INSTANCE_TYPES.values() if each.provider is Provider.AWS and each.fabric]
    assert len(fast) > 100
    for each in fast:
        cards = EC2_TYPES[each.name]["NetworkInfo"]["NetworkCards"]
        able = [card["NetworkCardIndex"] for card in cards if "efa-only" in card["InterfaceTypes"]]
        first = 1 if each.family in PLAIN_FIRST_CARD else 0
        assert able[: each.fabric] == list(range(first, first + each.fabric)), each.name


def test_ec2_places_no_burstable_and_no_flex_machines_close_together() -> None:
    never = {Variant.BURSTABLE, Variant.FLEX}
    for each in INSTANCE_TYPES.values():
        if each.provider is Provider.AWS:
            strategies = EC2_TYPES[each.name]["PlacementGroupInfo"]["SupportedStrategies"]
            assert ("cluster" in strategies) is not bool(each.variants & never), each.name


def test_the_autoscaler_knows_what_an_empty_group_offers() -> None:
    recorder, group, _ = made(FAST)
    _, plain, _ = made({**FAST, "fabric": False})
    tags = {each["tag"]["key"]: each["tag"]["value"] for name, each in recorder.of_type(TAG).items() if "train" in name}
    found = {key.removeprefix(RESOURCES): value for key, value in tags.items() if key.startswith(RESOURCES)}
    assert (found["vpc.amazonaws.com/efa"], found["nvidia.com/gpu"], found["hugepages-2Mi"]) == ("4", "8", "21122Mi")
    # 1,152 GiB, less what the kubelet and the huge pages keep
    assert int(found["memory"].removesuffix("Mi")) < 1152 * 1024 - 21122
    assert group["labels"]["igz-clusters.io/fabric"] == "efa"
    assert "igz-clusters.io/fabric" not in plain["labels"]


@pytest.mark.parametrize(
    ("machine", "mib"),
    [("g5.8xlarge", 7042), ("p4d.24xlarge", 21122), ("p5.48xlarge", 42242)],
)
def test_huge_pages_are_those_that_nodes_of_as_many_vcpus_were_seen_to_have(machine: str, mib: int) -> None:
    assert fabric_of(INSTANCE_TYPES[machine]).huge_pages_mib == mib


def test_aws_s_plug_in_runs_on_these_nodes() -> None:
    recorder, _, _ = made(FAST)
    efa = recorder.of_type(DAEMON_SET)["test-own-efa-plugin"]["spec"]["template"]["spec"]
    assert efa["nodeSelector"] == {"igz-clusters.io/fabric": "efa"}
    assert [each["key"] for each in efa["tolerations"]] == ["nvidia.com/gpu"]
    assert efa["containers"][0]["image"].startswith("602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/")


def test_a_placement_group_is_there_before_its_machines_and_after_them() -> None:
    recorder, group, template = made(CLOSE)
    assert recorder.of_type(PLACEMENT_GROUP)["test-train-b"]["strategy"] == "cluster"
    made_from = recorder.options[LAUNCH_TEMPLATE, "test-train"].made_from["placement"]
    assert made_from == ((PLACEMENT_GROUP, "test-train-b"),)
    # By itself, not by way of the template: the one in the state may already point to another placement group.
    (direct,) = [urn for urn in recorder.options[NODE_GROUP, "test-train"].dependencies if PLACEMENT_GROUP in urn]
    assert direct.endswith("::test-train-b")
    assert "networkInterfaces" not in template
    assert len(group["subnetIds"]) == 1


def test_an_update_needs_no_place_beside_the_old_machines() -> None:
    _, close, _ = made(CLOSE)
    _, plain, _ = made({**CLOSE, "closeTogether": False})
    assert close["updateConfig"]["updateStrategy"] == "MINIMAL"
    assert "updateStrategy" not in plain["updateConfig"]


def test_another_zone_is_another_placement_group() -> None:
    recorder, _, _ = made({**CLOSE, "zone": "c"})
    assert set(recorder.of_type(PLACEMENT_GROUP)) == {"test-train-c"}


def test_other_groups_say_nothing_of_either() -> None:
    recorder = build()
    assert not recorder.of_type(PLACEMENT_GROUP)
    assert not [name for name in recorder.of_type(DAEMON_SET) if "efa" in name]
    for template in recorder.of_type(LAUNCH_TEMPLATE).values():
        assert not {"networkInterfaces", "placement"} & set(template)


def test_a_block_with_a_fast_network_is_another_group_than_one_without() -> None:
    block = {**FAST, "lifecycle": "reserved", "reservation": {"id": "cr-0a91582543292e10a", "block": True}}
    names = [
        {name for name in build({"pools.train": pool}).of_type(NODE_GROUP) if "train" in name}
        for pool in (block, {**block, "fabric": False})
    ]
    assert names[0] != names[1]
