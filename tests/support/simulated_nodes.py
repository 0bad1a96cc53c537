"""Nodes and volumes for clusters of the emulators: what a cloud's kubelets, autoscaler and storage driver do.

The emulators keep groups and their sizes; the API server behind them is real and has no nodes. Here each group gets as
many simulated nodes as it has, a pending pod that selects an empty group makes it grow by one, and a claim whose pod
has a node gets a volume in that node's zone.
"""

import json
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from components.contract.labels import LabelKey
from components.contract.taints import AKS_SPOT_TAINT
from support.aws_emulator import Account
from support.azure_emulator import CLUSTER, Subscription
from support.cloud_account import CloudAccount
from workbench.offline.azure.facts import resource
from workbench.system.background import repeating

CAPACITY: Final = {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "4"}
MADE: Final = "tests/simulated"
"""Label of the nodes that are made here."""

LOOKS_EVERY: Final = 4.0
"""Seconds between two polls: each takes half a second of processor time, and most of a run waits for no node."""

_ZONE: Final = "topology.kubernetes.io/zone"
_EKS_EFFECTS: Final = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


@dataclass(frozen=True)
class CloudGroup:
    """A group as the cloud has it; ``id`` is what its size is changed by."""

    name: str
    id: str
    size: int
    labels: dict[str, str]
    taints: list[dict[str, str]]


class Simulation(ABC):
    """Nodes of one account's clusters; ``step`` brings them up to date."""

    def __init__(self, account: CloudAccount) -> None:
        self.account = account

    @abstractmethod
    def groups(self) -> Sequence[CloudGroup]:
        """Return all groups of all clusters."""

    @abstractmethod
    def grow(self, group: CloudGroup) -> None:
        """Give a group one node more."""

    def step(self) -> None:
        """Do once what a cloud does all the time."""
        groups = self.groups()
        objects = json.loads(self.account.kubectl("get", "nodes,pods,pvc,pv", "-A", "-o", "json"))["items"]
        self._nodes(groups, [each for each in objects if each["kind"] == "Node" and MADE in each["metadata"]["labels"]])
        waiting = [each for each in objects if each["kind"] == "Pod" and not each["spec"].get("nodeName")]
        for pod in waiting:
            selector = pod["spec"].get("nodeSelector") or {}
            fits = [each for each in groups if LabelKey.POOL in selector and selector.items() <= each.labels.items()]
            if fits and not any(each.size for each in fits):
                self.grow(fits[0])
        self._volumes(objects)

    def _nodes(self, groups: Sequence[CloudGroup], nodes: Sequence[dict[str, Any]]) -> None:
        wanted = {f"{group.name}-{index}": group for group in groups for index in range(group.size)}
        for node in nodes:
            name, labels = node["metadata"]["name"], node["metadata"]["labels"]
            if name not in wanted:
                self.account.kubectl("delete", "node", name, "--wait=false")
            elif not wanted[name].labels.items() <= labels.items():
                # As clouds do it: a group's labels reach the nodes that it has.
                patch = json.dumps({"metadata": {"labels": wanted[name].labels}})
                self.account.kubectl("patch", "node", name, "-p", patch)
        for name in wanted.keys() - {node["metadata"]["name"] for node in nodes}:
            self._create(name, wanted[name])

    def _create(self, name: str, group: CloudGroup) -> None:
        own = {MADE: "true", "kubernetes.io/os": "linux", "kubernetes.io/hostname": name}
        metadata = {
            "name": name,
            "labels": {"kubernetes.io/arch": "amd64", _ZONE: "zone-a", **group.labels, **own},
            "annotations": {"kwok.x-k8s.io/node": "fake", "igz-clusters.io/capacity": json.dumps(CAPACITY)},
        }
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": group.taints}}
        self.account.kubectl("create", "-f", "-", stdin=json.dumps(node))

    def _volumes(self, objects: Sequence[dict[str, Any]]) -> None:
        claims = [each for each in objects if each["kind"] == "PersistentVolumeClaim"]
        volumes = {each["metadata"]["name"]: each for each in objects if each["kind"] == "PersistentVolume"}
        zones = {
            each["metadata"]["name"]: each["metadata"]["labels"].get(_ZONE, "")
            for each in objects
            if each["kind"] == "Node"
        }
        for claim in claims:
            node = (claim["metadata"].get("annotations") or {}).get("volume.kubernetes.io/selected-node")
            if node and f"pv-{claim['metadata']['uid']}" not in volumes:
                self.account.kubectl("create", "-f", "-", stdin=json.dumps(_volume(claim, zones[node])))
        for name, volume in volumes.items():
            if volume.get("status", {}).get("phase") in ("Released", "Failed"):
                self.account.kubectl("delete", "pv", name, "--wait=false")


def _volume(claim: dict[str, Any], zone: str) -> dict[str, Any]:
    metadata, spec = claim["metadata"], claim["spec"]
    terms = [{"matchExpressions": [{"key": _ZONE, "operator": "In", "values": [zone]}]}]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{metadata['uid']}"},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": spec["resources"]["requests"],
            "claimRef": {key: metadata[key] for key in ("name", "namespace", "uid")}
            | {"kind": "PersistentVolumeClaim"},
            "csi": {"driver": "tests.example.com", "volumeHandle": metadata["uid"]},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec["storageClassName"],
        },
    }


class Eks(Simulation):
    """Of the AWS emulator."""

    @override
    def groups(self) -> list[CloudGroup]:
        return [_eks_group(each) for each in self._described()]

    def _described(self) -> Iterator[dict[str, Any]]:
        eks = self._aws.aws.api("eks")
        for cluster in eks.list_clusters()["clusters"]:
            for name in eks.list_nodegroups(clusterName=cluster)["nodegroups"]:
                found = eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]
                if found["status"] not in ("CREATING", "DELETING"):
                    yield found

    @override
    def grow(self, group: CloudGroup) -> None:
        self._aws.aws.move(group.id, group.size + 1)

    @property
    def _aws(self) -> Account:
        assert isinstance(self.account, Account)
        return self.account


def _eks_group(found: dict[str, Any]) -> CloudGroup:
    name = found["nodegroupName"]
    taints = [{**each, "effect": _EKS_EFFECTS[each["effect"]]} for each in found.get("taints") or ()]
    labels = {**found["labels"], "eks.amazonaws.com/nodegroup": name}
    asg = found["resources"]["autoScalingGroups"][0]["name"]
    return CloudGroup(name, asg, found["scalingConfig"]["desiredSize"], labels, taints)


class Aks(Simulation):
    """Of the Azure emulator."""

    @override
    def groups(self) -> list[CloudGroup]:
        azure, version = self._azure.azure, resource(CLUSTER).api_version
        found = []
        for id_ in azure.inventory().get(CLUSTER, []):
            pools = azure.ask("GET", id_, version).body.get("properties", {}).get("agentPoolProfiles") or []
            found += [_aks_group(id_, each) for each in pools if each.get("provisioningState") != "Deleting"]
        return found

    @override
    def grow(self, group: CloudGroup) -> None:
        self._azure.azure.move(group.id, group.size + 1)

    @property
    def _azure(self) -> Subscription:
        assert isinstance(self.account, Subscription)
        return self.account


def _aks_group(cluster: str, found: dict[str, Any]) -> CloudGroup:
    taints = [_taint(each) for each in found.get("nodeTaints") or ()]
    spot = AKS_SPOT_TAINT.to_kubernetes()
    if found.get("scaleSetPriority") == "Spot" and spot not in taints:
        taints.append(spot)
    labels = {**(found.get("nodeLabels") or {}), "kubernetes.azure.com/agentpool": found["name"]}
    id_ = f"{cluster}/agentPools/{found['name']}"
    return CloudGroup(found["name"], id_, found.get("count", 0), labels, taints)


def _taint(text: str) -> dict[str, str]:
    key, _, rest = text.partition("=")
    value, _, effect = rest.partition(":")
    return {"key": key, "value": value, "effect": effect}


@contextmanager
def simulated(simulation: Simulation) -> Iterator[None]:
    """Bring the nodes up to date until the end; what goes wrong meanwhile is printed and tried again."""

    def go() -> None:
        try:
            simulation.step()
        except Exception:  # noqa: BLE001 - a group may be gone between two polls
            traceback.print_exc()

    with repeating(LOOKS_EVERY, go):
        yield
