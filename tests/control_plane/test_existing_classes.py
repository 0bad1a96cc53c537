"""The platform's installer made the user classes, with values of its own, before the stack comes to the cluster."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.ownership import FIELD_MANAGER
from components.contract.priorities import UserPriority
from support.api import Api
from support.cluster import changes, pod
from support.site import STACK, Site, managed, site

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

NAMESPACE = "default-tenant"
VALUES = {UserPriority.LOW: 10, UserPriority.MEDIUM: 50, UserPriority.HIGH: 90}
"""Theirs; ours are 100, 200 and 300."""


@pytest.fixture
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("platform")) as found:
        for tier, value in VALUES.items():
            found.own(priority_class(tier, value))
        platform = {"profile": "iguazio", "servers": "provazio", "pools.gpu": None, "cluster.nodes.gpu": None}
        found.choose({**platform, "namespaces": {NAMESPACE: {"coreServices": True}}})
        yield found


def priority_class(tier: UserPriority, value: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": tier.value},
        "value": value,
        "preemptionPolicy": "Never",
        "description": "made by the platform's installer",
    }


def test_classes_of_the_platform_keep_their_values_and_others_are_refused_before_anything_is_made(
    theirs: Site,
) -> None:
    low, medium, high = VALUES
    # A high class below the medium one: the values of a class never change, so its owner makes it anew.
    theirs.kubectl("delete", "priorityclass", high)
    theirs.own(priority_class(high, 20))
    before = theirs.snapshot()
    printed = theirs.refused("up", STACK, "--yes")
    assert (
        f"PriorityClass {low}, {medium}, {high} of another owner: found {low} 10, {medium} 50, {high} 20; "
        f"required 0 <= {low} < {medium} < {high} < 1000000."
    ) in printed
    assert "Nothing was changed." in printed
    assert theirs.snapshot() == before
    assert theirs.kubectl("get", "validatingadmissionpolicies", "-o", "name") == ""

    theirs.kubectl("delete", "priorityclass", high)
    theirs.own(priority_class(high, VALUES[high]))
    before = theirs.snapshot()
    printed = theirs.done("up", STACK, "--yes")
    for tier, value in VALUES.items():
        assert (
            f"note: PriorityClass {tier} already exists with value {value}, ours would be {tier.priority}; "
            "it is kept, even after `destroy`."
        ) in printed
        live = theirs.get("priorityclass", tier)
        assert live["metadata"]["uid"] == before["PriorityClass", tier]["metadata"]["uid"]
        assert (live["value"], live["description"]) == (value, "made by the platform's installer")
        assert "f:value" not in managed(live, FIELD_MANAGER)

    (outputs,) = [each["outputs"] for each in theirs.deployment()["resources"] if each["type"] == "pulumi:pulumi:Stack"]
    assert outputs["priorityClasses"] == VALUES

    made = pod("job", namespace=NAMESPACE, nodeSelector={"igz-clusters.io/role": "workload"})
    made["spec"]["priorityClassName"] = low
    answer = Api(theirs.cluster.kubeconfig()).create(made, dryRun="All")
    assert answer.accepted, answer.message
    assert answer.body["spec"]["priority"] == VALUES[low]

    assert re.fullmatch(r"\d+ unchanged", changes(theirs.done("up", STACK, "--yes")))

    theirs.done("destroy", STACK, "--yes")
    assert theirs.snapshot() == before
    for tier in VALUES:
        assert FIELD_MANAGER not in {
            each["manager"] for each in theirs.get("priorityclass", tier)["metadata"]["managedFields"]
        }
