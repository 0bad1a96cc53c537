"""The same pools on every kind of cluster: the nodes say the same, and pods find them by the same words."""

import base64
import json
from collections.abc import Mapping

import pytest

from components.contract.clusters import spot_taint
from components.contract.environments import ClusterKind, PlatformProfile
from components.contract.labels import OWN_DOMAIN, LabelKey
from components.contract.mlrun import MlrunVariable
from components.contract.taints import AKS_SPOT_TAINT, ARM_TAINT, Taint
from support.policies import Wire, sent
from support.siblings import CONFIG_MAP, KINDS, POOLS, TYPES, build


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
