"""Clusters as `verify` sees them: what each kind of stack demands, and a snapshot in which nothing deviates."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import yaml

from components.contract.autoscaler import NAMESPACE, STATUS
from components.contract.groups import NodeGroup
from components.contract.labels import AnnotationKey
from components.contract.lifecycle import Lifecycle
from components.contract.mlrun import OVERRIDE_CONFIG_MAP
from components.contract.pools import PoolRole
from infra.config import CONFIG_KEY, StackConfig, parse
from infra.config.effective import SETTINGS_DIGEST
from infra.program import run
from support import aks, eks, existing
from support.recorder import Recorder, record
from workbench import stacks
from workbench.engine.live_objects import LiveObject, ObjectKey, key_of
from workbench.report.events import STACK_TYPE
from workbench.system.paths import PROJECT_ROOT
from workbench.verification.contract import Contract
from workbench.verification.deviation import Verification
from workbench.verification.snapshot import Snapshot
from workbench.verification.verify import verify

TAKEN: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
CHANGED: Final = "2026-11-20T08:00:00Z"
STARTED: Final = "2026-11-21T08:00:00Z"
REPORTED: Final = "2026-11-22 11:59:50.123456789 +0000 UTC"
API_POD: Final = ("Pod", "mlrun", "mlrun-api-chief-1")
OVERRIDE: Final = ("ConfigMap", "mlrun", OVERRIDE_CONFIG_MAP)
NUCLIO: Final = ("ConfigMap", "mlrun", "nuclio-platform-config")
REPORT: Final = ("ConfigMap", NAMESPACE, STATUS)
OPEN: Final = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{}]}
"""Spec of a network policy that opens a namespace."""

UNTAINTED: Final = {"profile": "iguazio", "servers": "pulumi", "namespaces": {"mlrun": {"coreServices": True}}}
"""Changes of a stack after which its spot nodes on EKS have no taint."""

Objects = dict[ObjectKey, dict[str, Any]]


def local_config() -> StackConfig:
    """Return the repository's own local stack."""
    return parse(yaml.safe_load(stacks.stack_files(PROJECT_ROOT)["local"].read_text())["config"][CONFIG_KEY])


CONFIGS: Final[dict[str, Callable[[], StackConfig]]] = {
    "eks": eks.config,
    "eks-untainted": lambda: eks.config(UNTAINTED),
    "aks": aks.config,
    "local": local_config,
    "existing": existing.config,
}


@dataclass(frozen=True)
class Site:
    """A stack's demands, and objects in which nothing deviates."""

    contract: Contract
    objects: Objects

    def verified(self, plant: Callable[[Objects], object] = lambda _: None) -> Verification:
        """Verify the cluster after ``plant`` changed its objects."""
        objects = deepcopy(self.objects)
        plant(objects)
        return verify(self.contract, Snapshot({key: LiveObject(each) for key, each in objects.items()}, taken=TAKEN))


@cache
def site(kind: str) -> Site:
    """Return a clean cluster of a kind; ``verified`` copies it."""
    config = CONFIGS[kind]()
    recorder = record(
        lambda: run(
            config,
            kubeconfig="/nowhere" if config.cluster.kind == "local" else None,
            sighting=existing.sighting_of(config),
        )
    )
    contract = Contract("test", config, _deployment(recorder), mutates=config.cluster.kind != "existing")
    objects = {key: deepcopy(dict(manifest)) for key, manifest in contract.declared.items()}
    for key, each in objects.items():
        _live(key, each)
    made = [node for group in config.groups for node in nodes(contract, group)]
    made += [_api(), _nuclio(contract), autoscaler_report(contract)] if config.namespaces else []
    for each in made:
        objects[key_of(each)] = _merged(objects.get(key_of(each), {}), each)
    return Site(contract, objects)


def _merged(declared: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """Return what other owners made, with the fields that the stack declares."""
    ours, theirs = declared.get("metadata", {}), made["metadata"]
    labels = {**theirs.get("labels", {}), **ours.get("labels", {})}
    return {**made, **declared, "metadata": {**theirs, **ours, "labels": labels}}


def nodes(contract: Contract, group: NodeGroup) -> list[dict[str, Any]]:
    """Return the nodes of a group, at least one, as its provider makes them."""
    kind = contract.config.cluster.kind
    clouds = {own: name for name, own in contract.groups_in_the_cloud.items()}
    labels, annotations = dict(group.labels), {}
    if kind == "eks":
        labels["eks.amazonaws.com/nodegroup"] = clouds[group.name]
        labels["eks.amazonaws.com/capacityType"] = {"spot": "SPOT"}.get(group.lifecycle, "ON_DEMAND")
    elif kind == "aks":
        inside = group.role is PoolRole.INITIAL  # in the cluster's own list, by its own name
        labels["kubernetes.azure.com/agentpool"] = group.name if inside else clouds[group.name]
        if group.lifecycle is Lifecycle.SPOT:
            labels["kubernetes.azure.com/scalesetpriority"] = "spot"
    elif kind == "existing":
        labels |= contract.config.cluster.nodes[group.pool].selector  # type: ignore[union-attr] of this kind
    elif group.is_elastic:
        annotations[AnnotationKey.GROUP.value] = group.name
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"{group.name}-{index}", "labels": dict(labels), "annotations": dict(annotations)},
            "spec": {"taints": [taint.to_kubernetes() for taint in group.taints]},
            "status": {"allocatable": {group.gpu_resource: str(group.instances[0].gpus)} if group.gpu_resource else {}},
        }
        for index in range(max(group.size.min, 1))
    ]


def manifest(kind: str, name: str, namespace: str = "", **content: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **content.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **content}


def _deployment(recorder: Recorder) -> dict[str, Any]:
    resources: list[dict[str, Any]] = [
        {
            "urn": f"urn:pulumi:test::igz-clusters::{each.type}::{each.name}",
            "type": each.type,
            "id": each.name,
            "inputs": each.inputs,
            "outputs": {
                **each.inputs,
                **({"nodeGroupName": f"{each.name}-0a1b2c3"} if each.type == eks.NODE_GROUP else {}),
            },
        }
        for each in recorder.resources
    ]
    outputs = {name: recorder.exports[name] for name in ("pools", SETTINGS_DIGEST)}
    return {"resources": [{"urn": "stack", "type": STACK_TYPE, "outputs": outputs}, *resources]}


def _live(key: ObjectKey, content: dict[str, Any]) -> None:
    """Add what the API server and controllers add."""
    content["metadata"] = {**content["metadata"], "uid": f"uid of {key}"}
    if key[0] == "Deployment":
        content["status"] = {"conditions": [{"type": "Available", "status": "True"}]}
    if key == OVERRIDE:
        fields = [{"manager": "igz-clusters", "time": CHANGED, "fieldsV1": {"f:data": {}}}]
        content["metadata"] |= {"creationTimestamp": CHANGED, "managedFields": fields}


def _api() -> dict[str, Any]:
    """Return a pod of MLRun's API, as the chart of MLRun CE makes it."""
    sources = [{"configMapRef": {"name": name}} for name in ("mlrun-common-env", OVERRIDE_CONFIG_MAP)]
    return manifest(
        *("Pod", API_POD[2], "mlrun"),
        metadata={"ownerReferences": [{"kind": "ReplicaSet", "name": "mlrun-api-chief-5d9c"}]},
        spec={"containers": [{"name": "mlrun-api", "envFrom": sources, "env": []}, {"name": "log-collector"}]},
        status={
            "phase": "Running",
            "containerStatuses": [{"name": "mlrun-api", "state": {"running": {"startedAt": STARTED}}}],
        },
    )


def _nuclio(contract: Contract) -> dict[str, Any]:
    text = yaml.safe_dump({"kind": "local", "kube": contract.nuclio("mlrun")})
    return manifest("ConfigMap", NUCLIO[2], "mlrun", data={"platform.yaml": text})


def autoscaler_report(contract: Contract, reported: str = REPORTED) -> dict[str, Any]:
    """Return the report of the autoscaler, which calls a group by its cloud's name for it."""
    clouds = {own: name for name, own in contract.groups_in_the_cloud.items()}
    groups = [
        {
            "name": f"eks-{clouds[each.name]}-42c5" if each.name in clouds else each.name,
            "health": {"status": "Healthy", "minSize": each.size.min, "maxSize": each.size.max},
        }
        for each in contract.config.groups
        if each.is_elastic
    ]
    status = {"time": reported, "autoscalerStatus": "Running", "nodeGroups": groups}
    return manifest("ConfigMap", STATUS, NAMESPACE, data={"status": yaml.safe_dump(status)})


Plant = Callable[[Objects], object]
"""Changes the objects of a cluster."""


def put(*path: Any, key: tuple[str, str, str], value: Any) -> Plant:
    """Return what sets a field; None removes it."""

    def plant(objects: Objects) -> None:
        here: Any = objects[key]
        for part in path[:-1]:
            here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
        if value is None:
            del here[path[-1]]
        else:
            here[path[-1]] = value

    return plant
