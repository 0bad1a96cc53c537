"""What a cloud fixes when it creates a cluster: every change is refused while the cluster exists, and nothing else."""

from typing import Any

import pytest

from components.contract.choices import ContractModel
from infra.config.tree import tree
from support.eks import CLUSTER, EXISTING, KEY, NODE_GROUP, config
from support.eks_state import STACK, exported
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.eks.fixed_choices import SUBNET, VPC
from workbench.engine.clouds.find import CLOUDS, cloud_of
from workbench.engine.cluster_components import cluster_of, components_of_state

GIVEN = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
OTHER = "arn:aws:kms:eu-west-1:111122223333:key/99999999-2222-3333-4444-555555555555"
OWN = "the stack's own key"
FIXED = "Fixed when the cluster is created."
TWO_ZONES = {**EXISTING, "nodeSubnetIds": {zone: EXISTING["nodeSubnetIds"][zone] for zone in "ab"}}
MOVED = {**EXISTING, "nodeSubnetIds": {**EXISTING["nodeSubnetIds"], "a": "subnet-0aaaaaaaaaaaaaaab"}}


ZONES = {"pools.data.size": {"min": 6, "max": 6}}
"""Data nodes that two zones can share as well as three."""


def refused(before: dict[str, Any], after: dict[str, Any], state: dict[str, Any] | None = None) -> list[Blocker]:
    """Return why a stack that was brought up with one set of choices refuses another."""
    return [*cloud_of(STACK, config(after)).fixed_blockers(state or exported(before))]


@pytest.mark.parametrize(
    ("before", "after", "key", "what"),
    [
        ({}, {"secretsKeyArn": GIVEN}, "secretsKeyArn", f"{GIVEN}, but the cluster has {OWN}"),
        ({"secretsKeyArn": GIVEN}, {}, "secretsKeyArn", f"{OWN}, but the cluster has {GIVEN}"),
        (
            {"secretsKeyArn": GIVEN},
            {"secretsKeyArn": OTHER},
            "secretsKeyArn",
            f"{OTHER}, but the cluster has {GIVEN}",
        ),
        ({}, {"zones": ["a", "b"]}, "zones", "a, b, but the cluster has a, b, c"),
        ({"zones": ["a", "b"]}, {}, "zones", "a, b, c, but the cluster has a, b"),
        (
            {"network": EXISTING},
            {"network": TWO_ZONES, "zones": ["a", "b"]},
            "zones",
            "a, b, but the cluster has a, b, c",
        ),
        (
            {},
            {"network": EXISTING},
            "network",
            "vpc-0123456789abcdef0, but the cluster has the stack's own VPC 10.20.0.0/16",
        ),
        (
            {},
            {"network.cidr": "10.30.0.0/16"},
            "network",
            "the stack's own VPC 10.30.0.0/16, but the cluster has the stack's own VPC 10.20.0.0/16",
        ),
        (
            {"network": EXISTING},
            {},
            "network",
            "the stack's own VPC 10.20.0.0/16, but the cluster has vpc-0123456789abcdef0",
        ),
    ],
)
def test_a_choice_that_eks_fixed_at_creation_is_refused_on_a_living_cluster(
    before: dict[str, Any], after: dict[str, Any], key: str, what: str
) -> None:
    state = exported(_of_the_cluster(before))
    if before.get("network") == EXISTING:
        _vpc_config(state)["vpcId"] = EXISTING["vpcId"]
    found = refused({}, _of_the_cluster(after), state)
    assert [(each.where, each.what) for each in found] == [(f"cluster.{key}", what)]


PREFIXES = {"prefixDelegation": True}
CNI = {"addonVersions": {"vpc-cni": "v1.22.4-eksbuild.1"}}
PODS = {**PREFIXES, **CNI, "podCidr": "100.64.0.0/16"}


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ({**PREFIXES, **CNI}, PODS, "100.64.0.0/16, but the cluster has no range of pods"),
        (PODS, {**PREFIXES, **CNI}, "no range of pods, but the cluster has 100.64.0.0/16"),
        (
            PODS,
            {**PODS, "podCidr": "100.65.0.0/16"},
            "100.65.0.0/16, but the cluster has 100.64.0.0/16",
        ),
    ],
)
def test_pods_keep_their_range_for_nodes_keep_their_subnets(
    before: dict[str, Any], after: dict[str, Any], what: str
) -> None:
    (found,) = refused(_of_the_cluster(before), _of_the_cluster(after))
    assert (found.where, found.what) == ("cluster.podCidr", what)
    assert found.allowed.startswith("nodes keep the subnets")


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ({}, PREFIXES, "addresses in prefixes, but the cluster has single addresses"),
        (PREFIXES, {}, "single addresses, but the cluster has addresses in prefixes"),
    ],
)
def test_groups_keep_the_number_of_pods_for_which_they_were_made(
    before: dict[str, Any], after: dict[str, Any], what: str
) -> None:
    (found,) = refused(_of_the_cluster(before), _of_the_cluster(after))
    assert (found.where, found.what) == ("cluster.prefixDelegation", what)
    state = exported(_of_the_cluster(before))
    state["resources"] = [each for each in state["resources"] if each["type"] != NODE_GROUP]
    assert refused({}, _of_the_cluster(after), state) == []


def test_the_refusal_of_another_key_says_to_keep_the_cluster_s_key() -> None:
    (found,) = refused({}, {"cluster.secretsKeyArn": GIVEN})
    assert found.step.startswith("Set it back, or remove it for the stack's own key. Do not unprotect")


def test_the_arn_of_the_stack_s_own_key_is_another_choice_for_the_engine_would_delete_the_key() -> None:
    state = exported()
    (key,) = (each for each in state["resources"] if each["type"] == KEY)
    (cluster,) = (each for each in state["resources"] if each["type"] == CLUSTER)
    key["outputs"]["arn"] = cluster["outputs"]["encryptionConfig"]["provider"]["keyArn"] = GIVEN
    (found,) = refused({}, {"cluster.secretsKeyArn": GIVEN}, state)
    assert found.what == f"{GIVEN}, but the cluster has {OWN}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({}, {"zones": ["c", "b", "a"]}),
        ({"secretsKeyArn": GIVEN}, {"secretsKeyArn": GIVEN}),
        ({"network": EXISTING}, {"network": EXISTING}),
        ({"network": EXISTING}, {"network": MOVED}),
        (PREFIXES, PREFIXES),
        (PODS, PODS),
    ],
)
def test_everything_else_may_change(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert refused(_of_the_cluster(before), _of_the_cluster(after)) == []


@pytest.mark.parametrize(("type_", "key"), [(SUBNET, "availabilityZone"), (SUBNET, "vpcId"), (VPC, "cidrBlock")])
def test_what_the_state_does_not_say_is_no_other_choice(type_: str, key: str) -> None:
    state = exported()
    for each in state["resources"]:
        if each["type"] == type_:
            del each["inputs"][key]
    assert refused({}, {}, state) == []


def test_without_a_cluster_everything_may_change() -> None:
    state = exported()
    state["resources"] = [each for each in state["resources"] if each["type"] != CLUSTER]
    changes = {"cluster.secretsKeyArn": GIVEN, "cluster.network": EXISTING}
    assert refused({}, changes, state) == []
    assert refused({}, changes, {"resources": []}) == []


def test_after_a_failed_replacement_of_the_cluster_everything_may_change() -> None:
    state = exported()
    for each in state["resources"]:
        each["pendingReplacement"] = each["type"] == CLUSTER
    assert refused({}, {"cluster.secretsKeyArn": GIVEN, "cluster.network": EXISTING}, state) == []
    assert cluster_of(components_of_state(state)) is None, "there is none to empty or to compare with"


FAST: dict[str, Any] = {"purpose": "scratch", "type": "lustre", "sizeGib": 4800, "zone": "a"}
LUSTRE: dict[str, Any] = {"storage": {"fast": FAST}}


def test_a_smaller_lustre_file_system_is_refused_before_the_provider_makes_an_empty_one() -> None:
    (found,) = refused(LUSTRE, {**LUSTRE, "storage.fast.sizeGib": 2400})
    assert str(found) == (
        "- storage.fast.sizeGib: 2400, but the file system has 4800; FSx lets a file system grow and never shrink.\n"
        "  Set it back to 4800. For 2400, add a storage of another name and copy the data there."
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LUSTRE, {**LUSTRE, "storage.fast.sizeGib": 7200}),
        (LUSTRE, {**LUSTRE, "storage.fast-lustre-fast": {**FAST, "sizeGib": 1200}}),
        (LUSTRE, {}),
        ({}, LUSTRE),
    ],
)
def test_lustre_may_grow_come_and_go(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert refused(before, after) == []


@pytest.mark.parametrize("model", CLOUDS, ids=lambda model: model.__name__)
def test_the_description_of_a_fixed_choice_says_so_and_that_of_no_other(model: type[ContractModel]) -> None:
    said = {f"cluster.{key.name}" for key in tree(model).walk() if FIXED in key.node.said.get("description", "")}
    assert said == {choice.key for choice in CLOUDS[model].cloud.fixed}


def _of_the_cluster(changes: dict[str, Any]) -> dict[str, Any]:
    return {**ZONES, **{f"cluster.{key}": value for key, value in changes.items()}}


def _vpc_config(state: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in state["resources"] if each["type"] == CLUSTER)["outputs"]["vpcConfig"]
    return found
