"""The same pools on every kind of cluster: the nodes say the same, and pods find them by the same words."""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from components.contract.clusters import spot_taint
from components.contract.eks.spelling import SPELLING
from components.contract.environments import ClusterKind, PlatformProfile
from components.contract.labels import OWN_DOMAIN, LabelKey
from components.contract.mlrun import MlrunVariable
from components.contract.taints import AKS_SPOT_TAINT, ARM_TAINT, Taint, TaintEffect
from infra.config import parse
from infra.program import run
from support import aks, eks, existing
from support.policies import Wire, sent
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


def build(kind: ClusterKind, environment: str = "dev", **more: Any) -> Recorder:
    choices = KINDS[kind]
    document = {
        "schemaVersion": 1,
        "environment": environment,
        "cluster": dict(choices.cluster),
        "pools": {name: {**pool, "instanceTypes": TYPES[choices.cloud][name]} for name, pool in POOLS.items()},
        **more,
    }
    config = parse(document)
    sighting = existing.sighting_of(config)
    return record(lambda: run(config, kubeconfig="/nowhere/kubeconfig", sighting=sighting))


def own(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that the contract or the stack file asks for."""
    kept = (LabelKey.LIFECYCLE, f"{OWN_DOMAIN}/", "example.com/")
    return {key: value for key, value in labels.items() if key.startswith(kept) and key != LabelKey.GPU_MODEL}


def test_every_kind_of_cluster_is_compared() -> None:
    assert set(KINDS) == set(ClusterKind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_nodes_of_a_pool_carry_the_same_labels_everywhere(kind: ClusterKind) -> None:
    found = {name: own(nodes.labels) for name, nodes in KINDS[kind].nodes(build(kind)).items()}
    user = {LabelKey.USER_WORKLOADS.value: "true"}
    assert found == {
        name: {
            LabelKey.POOL.value: name,
            LabelKey.ROLE.value: pool["role"],
            LabelKey.LIFECYCLE.value: "preemptible" if name == "spot" else "non-preemptible",
            **pool.get("labels", {}),
            **(user if pool["role"] in ("workload", "jupyter", "gpu") else {}),
        }
        for name, pool in POOLS.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_nodes_of_a_pool_carry_the_taints_of_the_contract(kind: ClusterKind) -> None:
    taint = spot_taint(kind, PlatformProfile.MLRUN_CE)
    assert taint is not None
    found = {name: nodes.taints for name, nodes in KINDS[kind].nodes(build(kind)).items()}
    assert found == {
        **dict.fromkeys(POOLS, frozenset()),
        "spot": {taint},
        "gpu": {Taint("nvidia.com/gpu", "present")},
    }
    assert (taint == AKS_SPOT_TAINT) == (kind is ClusterKind.AKS)


@pytest.mark.parametrize("kind", KINDS)
def test_mlrun_is_told_the_toleration_that_answers_the_taint_of_the_spot_nodes(kind: ClusterKind) -> None:
    recorder = build(kind, namespaces={"mlrun": {"coreServices": True}})
    (told,) = (m["data"] for n, m in recorder.of_type(CONFIG_MAP).items() if n.endswith("override-env"))
    tolerations = json.loads(base64.b64decode(told[MlrunVariable.SPOT_TOLERATIONS]))
    (taint,) = KINDS[kind].nodes(recorder)["spot"].taints
    assert tolerations == [taint.toleration()]


CREATED = {
    ClusterKind.EKS: ("aws:eks/cluster:Cluster", "test-cluster"),
    ClusterKind.AKS: ("azure-native:containerservice:ManagedCluster", "test-cluster"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_everything_inside_a_cluster_that_the_stack_creates_is_replaced_with_it(kind: ClusterKind) -> None:
    recorder = build(kind, namespaces={"mlrun": {"coreServices": True}})
    found = {key: options for key, options in recorder.options.items() if key[0].startswith("kubernetes:")}
    assert found
    expected = ((CREATED[kind],), True) if kind in CREATED else ((), None)
    assert {key: (each.replaced_with, each.delete_before_replace) for key, each in found.items()} == dict.fromkeys(
        found, expected
    )


def test_a_pod_identity_is_made_from_its_cluster_and_so_replaced_with_it() -> None:
    recorder = build(ClusterKind.EKS)
    (association,) = (each for key, each in recorder.options.items() if key[0].endswith(":PodIdentityAssociation"))
    assert association.made_from["clusterName"] == (CREATED[ClusterKind.EKS],)


@pytest.mark.parametrize("kind", [kind for kind, choices in KINDS.items() if choices.cloud == "aws"])
def test_arm_nodes_beside_amd64_nodes_are_closed_to_pods_that_do_not_ask_for_them(kind: ClusterKind) -> None:
    """Azure's types in the facts are all amd64."""
    arm = {"role": "workload", "size": {"min": 0, "max": 4}, "instanceTypes": ["m7g.2xlarge"]}
    cluster = dict(KINDS[kind].cluster)
    if "nodes" in cluster:
        cluster["nodes"] = {**cluster["nodes"], "arm": {"selector": {"rack": "arm"}, "taint": True}}
    pools = {name: {**pool, "instanceTypes": TYPES["aws"][name]} for name, pool in POOLS.items()}
    recorder = build(kind, cluster=cluster, pools={**pools, "arm": arm})
    found = {name: nodes.taints for name, nodes in KINDS[kind].nodes(recorder).items()}
    assert found["arm"] == {ARM_TAINT}
    assert {name for name, taints in found.items() if ARM_TAINT in taints} == {"arm"}
    # Work that must run on spot nodes is not led to ARM ones by the same toleration.
    parameters = recorder.of_type("kubernetes:igz-clusters.io/v1:PolicyParameters")["igz-clusters"]["spec"]
    assert ARM_TAINT.key not in parameters["spotTaintKeys"]
    report = Wire(stack={"environment": "dev", "profile": "mlrun-ce"}).judge_stack(sent(recorder))
    assert report.violated == [], report.messages


@pytest.mark.parametrize("environment", ["dev", "prod"])
@pytest.mark.parametrize("kind", KINDS)
def test_both_packs_pass(kind: ClusterKind, environment: str) -> None:
    recorder = build(kind, environment)
    report = Wire(stack={"environment": environment, "profile": "mlrun-ce"}).judge_stack(sent(recorder))
    assert report.violated == [], report.messages
    assert report.unjudged == []
