"""Edits of the sample's inputs, and what the engine must say about each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Props = dict[str, Any]

CLUSTER, GROUP = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"
TEMPLATE, ADDON = "aws:ec2/launchTemplate:LaunchTemplate", "aws:eks/addon:Addon"


@dataclass(frozen=True)
class Edit:
    """A change of one resource's inputs and the verdicts that follow, by ``Type::name``; the rest stays as it is."""

    apply: Callable[[str, str, Props], None]
    verdicts: dict[str, str] = field(default_factory=dict)
    refused: str = ""
    """Part of the engine's message, where the edit must not even be planned."""


def of(type_: str, name: str, change: Callable[[Props], object]) -> Callable[[str, str, Props], None]:
    def apply(token: str, logical: str, props: Props) -> None:
        if (token, logical) == (type_, name):
            change(props)

    return apply


def inside(key: str, **values: Any) -> Callable[[Props], object]:
    return lambda props: props[key].update(values)


def put(**values: Any) -> Callable[[Props], object]:
    return lambda props: props.update(values)


def drop(key: str) -> Callable[[Props], object]:
    return lambda props: props.pop(key)


SPOT_REPLACED = {"NodeGroup::spot": "replace", "Tag::spot": "replace"}
"""The tag sits on the group's own Auto Scaling group."""

PROTECTED = "protect"

EDITS: dict[str, Edit] = {
    "none": Edit(lambda *_: None),
    "version-of-the-cluster": Edit(of(CLUSTER, "cluster", put(version="1.34")), {"Cluster::cluster": "update"}),
    "log-types": Edit(
        of(CLUSTER, "cluster", put(enabledClusterLogTypes=["audit", "api", "scheduler"])),
        {"Cluster::cluster": "update"},
    ),
    "log-types-in-another-order": Edit(of(CLUSTER, "cluster", put(enabledClusterLogTypes=["audit", "api"]))),
    "public-endpoint": Edit(
        of(CLUSTER, "cluster", inside("vpcConfig", endpointPublicAccess=True, publicAccessCidrs=["192.0.2.0/24"])),
        {"Cluster::cluster": "update"},
    ),
    "name-of-the-cluster": Edit(of(CLUSTER, "cluster", put(name="other")), refused=PROTECTED),
    "no-encryption": Edit(of(CLUSTER, "cluster", drop("encryptionConfig")), refused=PROTECTED),
    "creator-admin": Edit(
        of(CLUSTER, "cluster", inside("accessConfig", bootstrapClusterCreatorAdminPermissions=True)),
        refused=PROTECTED,
    ),
    "size-of-the-initial-group": Edit(
        of(GROUP, "initial", inside("scalingConfig", minSize=3, maxSize=3, desiredSize=3)),
        {"NodeGroup::initial": "update"},
    ),
    "desired-size-of-an-elastic-group": Edit(of(GROUP, "spot", inside("scalingConfig", desiredSize=7))),
    "maximum-of-an-elastic-group": Edit(
        of(GROUP, "spot", inside("scalingConfig", maxSize=20)), {"NodeGroup::spot": "update"}
    ),
    "labels": Edit(of(GROUP, "spot", inside("labels", team="a")), {"NodeGroup::spot": "update"}),
    "taints": Edit(of(GROUP, "spot", drop("taints")), {"NodeGroup::spot": "update"}),
    "instance-types": Edit(of(GROUP, "spot", put(instanceTypes=["m6i.2xlarge"])), SPOT_REPLACED),
    "capacity-type": Edit(of(GROUP, "spot", put(capacityType="ON_DEMAND")), SPOT_REPLACED),
    "instance-types-of-the-data-group": Edit(of(GROUP, "data", put(instanceTypes=["i4i.2xlarge"])), refused=PROTECTED),
    "disk-of-the-nodes": Edit(
        of(TEMPLATE, "spot", lambda props: props["blockDeviceMappings"][0]["ebs"].update(volumeSize=200)),
        {"LaunchTemplate::spot": "update", "NodeGroup::spot": "update"},
    ),
    "version-of-an-add-on": Edit(
        of(ADDON, "coredns", put(addonVersion="v1.12.1-eksbuild.2")), {"Addon::coredns": "update"}
    ),
    "zone-of-a-subnet": Edit(
        of("aws:ec2/subnet:Subnet", "private-b", put(availabilityZone="eu-west-1c")), refused=PROTECTED
    ),
}


def batches() -> list[list[str]]:
    """Return the edits that may be planned, in as few previews as do not mix their verdicts."""
    found: list[tuple[set[str], list[str]]] = []
    for name, edit in EDITS.items():
        # An edit that changes nothing stands alone, or another one's verdict would hide its own.
        touched = set(edit.verdicts) or {"anything"}
        for resources, names in found:
            if not edit.refused and "anything" not in touched | resources and resources.isdisjoint(touched):
                resources.update(touched)
                names.append(name)
                break
        else:
            if not edit.refused:
                found.append((touched, [name]))
    return [names for _, names in found]
