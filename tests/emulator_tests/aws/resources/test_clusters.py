"""What the provider does to clusters and to who may enter them."""

from typing import Any

import pytest

from emulators.aws.client import Emulator
from support.aws import exists
from support.aws_resources import CLUSTER, KEY, Stack
from workbench.offline.provider import Existing

ENTRY, ASSOCIATION = "aws:eks/accessEntry:AccessEntry", "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


def encryption(stack: Stack, name: str) -> dict[str, Any]:
    return {"resources": ["secrets"], "provider": {"keyArn": stack.make(KEY, name).outputs["arn"]}}


def sent(aws: Emulator, after: int) -> list[str]:
    """Return the calls after this one that changed something."""
    return [call.operation for call in aws.calls(after) if ":Describe" not in call.operation]


def test_another_key_is_an_update_that_sends_nothing(stack: Stack, aws: Emulator) -> None:
    _, subnets = stack.network()
    first, second = (encryption(stack, name) for name in "12")
    cluster = stack.cluster(subnets, encryptionConfig=first)
    wanted = {**cluster.inputs, "encryptionConfig": second}
    planned = stack.provider.compare(cluster.type_, cluster.inputs, wanted, filled=frozenset())
    assert planned.kinds
    assert not planned.replaces
    start = aws.calls()[-1].number
    cluster = stack.change(cluster, encryptionConfig=second)
    assert sent(aws, start) == []
    assert cluster.outputs["encryptionConfig"] == first


def test_a_first_key_is_sent_and_none_at_all_replaces_the_cluster(stack: Stack, aws: Emulator) -> None:
    _, subnets = stack.network()
    cluster = stack.cluster(subnets)
    start = aws.calls()[-1].number
    cluster = stack.change(cluster, encryptionConfig=encryption(stack, "1"))
    assert "eks:AssociateEncryptionConfig" in sent(aws, start)
    without = {name: value for name, value in cluster.inputs.items() if name != "encryptionConfig"}
    assert stack.provider.compare(cluster.type_, cluster.inputs, without, filled=frozenset()).replaces


@pytest.mark.parametrize("cidr", ["192.168.0.0/20", None])
def test_other_addresses_of_services_replace_a_cluster_and_none_leave_it(stack: Stack, cidr: str | None) -> None:
    old = {"name": "dev", "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16"}}
    new = {"name": "dev", "kubernetesNetworkConfig": {"serviceIpv4Cidr": cidr} if cidr else {}}
    assert bool(stack.provider.compare(CLUSTER, old, new, filled=frozenset()).replaces) is bool(cidr)


@pytest.fixture
def entry(stack: Stack) -> Existing:
    _, subnets = stack.network()
    principal = stack.role("ec2.amazonaws.com").outputs["arn"]
    return stack.make(
        ENTRY, clusterName=stack.cluster(subnets).id, principalArn=principal, kubernetesGroups=["a"], userName="me"
    )


def association(stack: Stack, entry: Existing, namespace: str) -> Existing:
    whom = {name: entry.inputs[name] for name in ("clusterName", "principalArn")}
    return stack.make(ASSOCIATION, **whom, policyArn=VIEW, accessScope={"type": "namespace", "namespaces": [namespace]})


def test_groups_that_are_left_out_stay_and_an_empty_list_clears_them(stack: Stack, entry: Existing) -> None:
    entry = stack.change(entry, "kubernetesGroups", userName="you")
    assert (entry.outputs["kubernetesGroups"], entry.outputs["userName"]) == (["a"], "you")
    entry = stack.change(entry, "userName", kubernetesGroups=["b"])
    assert (entry.outputs["kubernetesGroups"], entry.outputs["userName"]) == (["b"], "you")
    entry = stack.change(entry, kubernetesGroups=[])
    assert (entry.outputs["kubernetesGroups"], entry.outputs["userName"]) == ([], "you")


def test_another_scope_replaces_an_association_under_the_same_id(stack: Stack, entry: Existing) -> None:
    made = association(stack, entry, "a")
    assert made.id == f"{entry.inputs['clusterName']}#{entry.inputs['principalArn']}#{VIEW}"
    wanted = {**made.inputs, "accessScope": {"type": "cluster"}}
    assert stack.provider.compare(made.type_, made.inputs, wanted, filled=frozenset()).replaces


def test_a_new_association_before_the_old_one_goes_leaves_no_access(
    stack: Stack, entry: Existing, aws: Emulator
) -> None:
    old, new = (association(stack, entry, namespace) for namespace in "ab")
    assert old.id == new.id
    assert new.outputs["accessScope"]["namespaces"] == ["b"]
    stack.delete(old)
    assert not exists(aws, ASSOCIATION, new.id)
