"""The same pools on every kind of cluster, and how what their nodes say is read."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from components.contract.eks.spelling import SPELLING
from components.contract.environments import ClusterKind
from components.contract.labels import LabelKey
from components.contract.taints import Taint, TaintEffect
from infra.config import StackConfig, parse
from infra.program import run
from support import aks, eks, existing
from support.recorder import Recorder, record

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"

POOLS: Mapping[str, Mapping[str, Any]] = {
    "initial": {"role": "initial", "size": {"min": 3, "max": 3}},
    "workload": {"role": "workload", "size": {"min": 1, "max": 6}, "labels": {"example.com/team": "ml"}},
    "spot": {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 9}},
    "jupyter": {"role": "jupyter", "size": {"min": 0, "max": 3}},
    "gpu": {"role": "gpu", "size": {"min": 0, "max": 4}},
    "data": {"role": "data", "size": {"min": 3, "max": 3}},
}
TYPES = {
    "aws": {
        **{name: ["m6i.2xlarge"] for name in POOLS},
        "spot": ["m6i.2xlarge", "m5.2xlarge", "m5a.2xlarge"],
        "gpu": ["g5.2xlarge"],
        "data": ["i4i.2xlarge"],
    },
    "azure": {
        **{name: ["Standard_D8s_v5"] for name in POOLS},
        "gpu": ["Standard_NC4as_T4_v3"],
        "data": ["Standard_L8s_v3"],
    },
}


@dataclass(frozen=True)
class Nodes:
    """What the nodes of a pool say."""

    labels: Mapping[str, str]
    taints: frozenset[Taint]


def of_local(recorder: Recorder) -> dict[str, Nodes]:
    config_maps = recorder.of_type(CONFIG_MAP)
    templates = yaml.safe_load(config_maps["kwok-provider-templates"]["data"]["templates"])["items"]
    nodes = [*recorder.of_type("kubernetes:core/v1:Node").values(), *templates]
    return {
        node["metadata"]["labels"][LabelKey.POOL]: Nodes(
            node["metadata"]["labels"], _taints(node.get("spec", {}).get("taints", []))
        )
        for node in nodes
    }


def of_eks(recorder: Recorder) -> dict[str, Nodes]:
    effects = {word: effect for effect, word in SPELLING.effects.items()}
    return {
        group["labels"][LabelKey.POOL]: Nodes(
            group["labels"], frozenset(Taint(t["key"], t["value"], effects[t["effect"]]) for t in group["taints"])
        )
        for group in recorder.of_type(eks.NODE_GROUP).values()
    }


def of_aks(recorder: Recorder) -> dict[str, Nodes]:
    return {
        pool["nodeLabels"][LabelKey.POOL]: Nodes(
            pool["nodeLabels"], frozenset(map(_taint_of_aks, pool.get("nodeTaints", [])))
        )
        for pool in aks.pools(recorder).values()
    }


def of_existing(recorder: Recorder) -> dict[str, Nodes]:
    """Taints are in no resource of a cluster that is there: `up` adds those that the pool declares."""
    declared = {
        pool["labels"][LabelKey.POOL]: _taints(pool["taints"])
        for pool in recorder.of_type("igz-clusters:clusters:ExistingPool").values()
    }
    patches = recorder.of_type("kubernetes:core/v1:NodePatch").values()
    return {
        (pool := patch["metadata"]["labels"][LabelKey.POOL]): Nodes(patch["metadata"]["labels"], declared[pool])
        for patch in patches
    }


def _taints(entries: Iterable[Mapping[str, str]]) -> frozenset[Taint]:
    return frozenset(Taint(t["key"], t["value"], TaintEffect(t["effect"])) for t in entries)


def _taint_of_aks(text: str) -> Taint:
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    return Taint(key, value, TaintEffect(effect))


@dataclass(frozen=True)
class Kind:
    """One kind of cluster: what a stack file says of it, and how its nodes are read."""

    cluster: Mapping[str, Any]
    cloud: str
    nodes: Callable[[Recorder], dict[str, Nodes]]


KINDS = {
    ClusterKind.LOCAL: Kind({"kind": "local"}, "aws", of_local),
    ClusterKind.EKS: Kind(eks.DOCUMENT["cluster"], "aws", of_eks),
    ClusterKind.AKS: Kind(aks.DOCUMENT["cluster"], "azure", of_aks),
    ClusterKind.EXISTING: Kind(
        {
            **existing.DOCUMENT["cluster"],
            "autoscaler": True,
            # Taints on request only, and these pools must have theirs.
            "nodes": {
                name: {"selector": {"rack": name}, **({"taint": True} if name in ("spot", "gpu") else {})}
                for name in POOLS
            },
        },
        "aws",
        of_existing,
    ),
}


def config_of(kind: ClusterKind, environment: str = "dev", **more: Any) -> StackConfig:
    """Return the configuration of a stack with these pools."""
    return parse(_document(kind, environment, **more))


def _document(kind: ClusterKind, environment: str, **more: Any) -> dict[str, Any]:
    choices = KINDS[kind]
    return {
        "schemaVersion": 1,
        "environment": environment,
        "cluster": dict(choices.cluster),
        "pools": {name: {**pool, "instanceTypes": TYPES[choices.cloud][name]} for name, pool in POOLS.items()},
        **more,
    }


def build(kind: ClusterKind, environment: str = "dev", **more: Any) -> Recorder:
    """Return what a stack with these pools declares, made once for the same choices; do not change it."""
    return _built(json.dumps(_document(kind, environment, **more)))


@cache
def _built(document: str) -> Recorder:
    return declared(parse(json.loads(document)))


def declared(config: StackConfig) -> Recorder:
    """Return what a stack declares."""
    sighting = existing.sighting_of(config)
    return record(lambda: run(config, kubeconfig="/nowhere/kubeconfig", sighting=sighting))
