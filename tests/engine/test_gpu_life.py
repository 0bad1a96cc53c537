"""Pools with shared GPUs and of reserved capacity on both emulators: made, changed, and killed on the way."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY
from support import aws_emulator, azure_emulator, lives
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.cloud_account import CloudAccount
from support.lives import kill

pytestmark = [pytest.mark.engine, pytest.mark.full]

SMALL = {"policyGuard": "off", **{f"pools__{pool}": None for pool in ("jupyter", "spot")}}
RESOURCES = "k8s.io/cluster-autoscaler/node-template/resources/"


def bring_up(cloud: CloudAccount, stack: str, **gpu: Any) -> list[str]:
    """Change the GPU pool, bring the stack up, and return the operations that change something, once each."""
    return sorted(set(lives.bring_up(cloud, stack, **{f"pools__gpu__{key}": value for key, value in gpu.items()})))


@pytest.fixture
def aws(tmp_path: Path) -> Iterator[Account]:
    with Account.hollow(tmp_path, "dev", is_quick=True) as made:
        made.edit("dev", **SMALL)
        yield made


@pytest.fixture
def azure(tmp_path: Path) -> Iterator[Subscription]:
    with Subscription.hollow(tmp_path, "aks-dev", is_quick=True) as made:
        made.edit("aks-dev", **SMALL)
        yield made


def hints(aws: Account) -> dict[str, str]:
    """Return the devices that the autoscaler expects of an empty node of the GPU pool."""
    name = aws.group("dev-gpu")["resources"]["autoScalingGroups"][0]["name"]
    (group,) = aws.aws.api("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])[
        "AutoScalingGroups"
    ]
    tags = {each["Key"].removeprefix(RESOURCES): each["Value"] for each in group["Tags"] if RESOURCES in each["Key"]}
    return {name: value for name, value in tags.items() if "/" in name}


def test_turns_and_slices_live_on_eks(aws: Account) -> None:
    bring_up(aws, "dev", sharing={"mode": "time-slicing", "replicas": 4})
    group = aws.group("dev-gpu")
    assert group["labels"]["igz-clusters.io/gpu-sharing"] == "time-slicing-4"
    assert "k8s.amazonaws.com/accelerator" not in group["labels"]
    assert [each["key"] for each in group["taints"]] == ["nvidia.com/gpu.shared"]
    assert hints(aws) == {"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "4"}

    # Fewer turns change the group in place.
    changed = bring_up(aws, "dev", sharing={"mode": "time-slicing", "replicas": 2})
    assert changed == ["autoscaling:CreateOrUpdateTags", "eks:UpdateNodegroupConfig"]
    assert aws.group("dev-gpu")["nodegroupName"] == group["nodegroupName"]
    assert hints(aws) == {"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "2"}

    sliced = {"instanceTypes": ["p4d.24xlarge"], "sharing": {"mode": "mig", "profile": "1g.5gb"}}
    aws.edit("dev", **{f"pools__gpu__{key}": value for key, value in sliced.items()})
    kill(aws, "dev", "eks:CreateNodegroup")
    assert hints(aws) == {"nvidia.com/gpu": "0", "nvidia.com/mig-1g.5gb": "56"}
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws

    bring_up(aws, "dev", instanceTypes=["g5.2xlarge"], sharing=None)
    assert hints(aws) == {"nvidia.com/gpu": "1"}


@pytest.mark.proofs  # slices live on EKS in the test above, and a group of AKS in the last one
def test_slices_live_on_aks(azure: Subscription) -> None:
    one = {"min": 1, "max": 1}
    bring_up(
        azure,
        "aks-dev",
        size=one,
        instanceTypes=["Standard_NC24ads_A100_v4"],
        sharing={"mode": "mig", "profile": "1g.10gb"},
    )
    (pool,) = azure.agent_pools("gpu")
    assert pool["properties"]["gpuInstanceProfile"] == "MIG1g"
    assert pool["properties"]["nodeTaints"] == ["nvidia.com/mig-1g.10gb=present:NoSchedule"]

    # AKS cannot change the slices of a pool: another one comes before this one goes.
    azure.edit("aks-dev", pools__gpu__sharing={"mode": "mig", "profile": "3g.40gb"})
    kill(azure, "aks-dev", "Microsoft.ContainerService/managedClusters/agentPools/write")
    (other,) = azure.agent_pools("gpu")
    assert other["name"] != pool["name"]
    assert other["properties"]["gpuInstanceProfile"] == "MIG3g"
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_state == in_azure

    bring_up(azure, "aks-dev", sharing={"mode": "time-slicing", "replicas": 4})
    (turns,) = azure.agent_pools("gpu")
    assert "gpuInstanceProfile" not in turns["properties"]
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), set())


def test_reservations_and_blocks_live_on_eks(aws: Account) -> None:
    reserved = {"lifecycle": "reserved", "zone": "a", "instanceTypes": ["p5.48xlarge"]}
    bring_up(aws, "dev", **reserved, reservation={"id": "cr-0a91582543292e10a"})
    plain = aws.group("dev-gpu")
    assert (plain["capacityType"], plain["instanceTypes"], len(plain["subnets"])) == ("ON_DEMAND", ["p5.48xlarge"], 1)

    # A block is another group. Killed between the two, the run is repeated.
    aws.edit("dev", pools__gpu__reservation={"id": "cr-0b91582543292e10b", "block": True})
    kill(aws, "dev", "eks:CreateNodegroup")
    block = aws.group("dev-gpu")
    assert block["capacityType"] == "CAPACITY_BLOCK"
    assert block["nodegroupName"] != plain["nodegroupName"]
    assert hints(aws) == {"nvidia.com/gpu": "8"}
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws

    # With nodes of the block, all but its size and labels stays as it is.
    aws.move("dev-gpu", 2)
    assert bring_up(aws, "dev", labels={"example.com/team": "vision"}) == [
        "autoscaling:CreateOrUpdateTags",
        "eks:UpdateNodegroupConfig",
    ]
    assert "no drift" in aws.run("drift", "dev", "--hermetic").stdout.lower()
    aws.move("dev-gpu", 0)  # as EKS does before the block ends
    assert "no drift" in aws.run("drift", "dev", "--hermetic").stdout.lower()


def placement_groups(aws: Account) -> list[str]:
    """Return the names of the placement groups that exist."""
    return aws.aws.inventory().get("aws:ec2/placementGroup:PlacementGroup", [])


def test_a_fast_network_and_a_placement_group_live_on_eks(aws: Account) -> None:
    bring_up(aws, "dev", instanceTypes=["p4d.24xlarge"], zone="a", fabric=True)
    assert hints(aws) == {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "4"}
    group = aws.group("dev-gpu")
    named = {"LaunchTemplateId": group["launchTemplate"]["id"], "Versions": [group["launchTemplate"]["version"]]}
    (version,) = aws.aws.api("ec2").describe_launch_template_versions(**named)["LaunchTemplateVersions"]
    kinds = [each["InterfaceType"] for each in version["LaunchTemplateData"]["NetworkInterfaces"]]
    assert kinds == ["efa", "efa-only", "efa-only", "efa-only"]
    assert group["labels"]["igz-clusters.io/fabric"] == "efa"

    # The placement group is made first. Killed after that, the run is repeated, and there is one of it.
    aws.edit("dev", pools__gpu__closeTogether=True)
    kill(aws, "dev", "ec2:CreatePlacementGroup")
    (near,) = placement_groups(aws)
    assert aws.group("dev-gpu")["nodegroupName"] == group["nodegroupName"]
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws

    # With a machine in zone a, one in zone b needs another placement group; the old one goes with its machines.
    aws.move("dev-gpu", 1)
    bring_up(aws, "dev", zone="b")
    (other,) = placement_groups(aws)
    assert other != near
    assert "no drift" in aws.run("drift", "dev", "--hermetic").stdout.lower()

    bring_up(aws, "dev", fabric=None, closeTogether=None)
    assert placement_groups(aws) == []
    assert hints(aws) == {"nvidia.com/gpu": "8"}


def test_a_proximity_placement_group_lives_on_aks(azure: Subscription) -> None:
    def groups() -> list[str]:
        return azure.azure.inventory().get("azure-native:compute:ProximityPlacementGroup", [])

    bring_up(azure, "aks-dev", zone="1", closeTogether=True)
    (near,) = groups()
    # The machines keep the group to their zone: another zone is another group, and the old one goes with its pool.
    bring_up(azure, "aks-dev", zone="2")
    (other,) = groups()
    assert other != near
    # Until a refresh the cluster's own list of its pools has the old one.
    assert bring_up(azure, "aks-dev") == []
    assert "no drift" in azure.run("drift", "aks-dev", "--hermetic").stdout.lower()

    bring_up(azure, "aks-dev", zone=None, closeTogether=None)
    assert groups() == []

    # A pool joins a group when it is made: killed after the group, another pool comes before the old one goes.
    (alone,) = azure.agent_pools("gpu")
    azure.edit("aks-dev", pools__gpu__zone="1", pools__gpu__closeTogether=True)
    kill(azure, "aks-dev", "Microsoft.Compute/proximityPlacementGroups/write")
    ((near,), (pool,)) = groups(), azure.agent_pools("gpu")
    assert pool["name"] != alone["name"]
    assert pool["properties"]["proximityPlacementGroupID"].lower() == near.lower()
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_state == in_azure
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), set())


def in_the_cluster(azure: Subscription) -> list[str]:
    """Return the images that DaemonSets of the state run."""
    made = [each for each in azure.state("aks-dev")["resources"] if each["type"].endswith(":DaemonSet")]
    pods = [each["inputs"]["spec"]["template"]["spec"]["containers"] for each in made]
    return [container["image"] for containers in pods for container in containers]


def test_a_reservation_group_with_metrics_lives_on_aks(azure: Subscription) -> None:
    group = "/subscriptions/{}/resourceGroups/gpus/providers/Microsoft.Compute/capacityReservationGroups/{}"
    subscription = yaml.safe_load(azure.stack_file("aks-dev").read_text())["config"][CONFIG_KEY]["cluster"]
    first, second = (group.format(subscription["subscriptionId"], name) for name in ("gpus", "more"))
    bring_up(
        azure,
        "aks-dev",
        lifecycle="reserved",
        zone="1",
        instanceTypes=["Standard_NC24ads_A100_v4"],
        reservation={"id": first},
    )
    (pool,) = azure.agent_pools("gpu")
    assert pool["properties"]["capacityReservationGroupID"] == first
    assert pool["properties"]["availabilityZones"] == ["1"]

    # AKS cannot change the group of a pool: another pool comes before this one goes.
    azure.edit("aks-dev", pools__gpu__reservation={"id": second})
    kill(azure, "aks-dev", "Microsoft.ContainerService/managedClusters/agentPools/write")
    (other,) = azure.agent_pools("gpu")
    assert (other["name"] == pool["name"], other["properties"]["capacityReservationGroupID"]) == (False, second)
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_state == in_azure

    # Metrics and another version of the plug-in are objects in the cluster, and nothing in Azure.
    assert lives.bring_up(azure, "aks-dev", cluster__gpu={"metrics": True, "devicePlugin": "v0.18.0"}) == []
    images = in_the_cluster(azure)
    assert [each for each in images if each.endswith("k8s-device-plugin:v0.18.0")]
    assert [each for each in images if "dcgm-exporter" in each]
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), set())
