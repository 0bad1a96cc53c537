"""Objects for people's roles."""

import json
from functools import cache
from typing import Any

import pytest

from components.contract.people import People
from components.scheduling.people import NODES_POLICY, PeopleAccess, PeopleAccessArgs
from infra.program import run
from support import aks  # noqa: F401 answers what the program asks Azure
from support.existing import sighting_of
from support.people import CORE, PEOPLE
from support.policies import Wire, sent
from support.recorder import Recorder, record
from workbench.stacks import find

RBAC = "kubernetes:rbac.authorization.k8s.io/v1"
POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"


def made(people: People) -> Recorder:
    arguments = PeopleAccessArgs(people=people, core_namespaces=(CORE,))
    return record(lambda: PeopleAccess("people", arguments) and None)


def names(recorder: Recorder, kind: str) -> set[str]:
    return {each["metadata"]["name"] for each in recorder.of_type(f"{RBAC}:{kind}").values()}


def test_only_roles_that_are_bound_are_made() -> None:
    recorder = made(People.model_validate({"dataScientists": {CORE: {"users": ["jane"]}}}))
    expected = {"igz-clusters:namespace-reader", "igz-clusters:node-reader"}
    assert names(recorder, "ClusterRole") == expected
    assert names(recorder, "ClusterRoleBinding") | names(recorder, "RoleBinding") == expected
    assert recorder.of_type(POLICY) == {}


def test_the_policy_of_nodes_names_exactly_the_it_administrators() -> None:
    [policy] = made(PEOPLE).of_type(POLICY).values()
    [condition] = policy["spec"]["matchConditions"]
    assert policy["metadata"]["name"] == NODES_POLICY
    assert json.dumps(["it-admin"]) in condition["expression"]
    assert json.dumps(["it-admin@example.com"]) in condition["expression"]


STACKS = ("local", "dev", "aks-dev", "existing")


@cache
def built(name: str, *, has_people: bool) -> Recorder:
    """Return what a shipped stack declares, with people or without."""
    config = find(name).config.model_copy(update={"people": PEOPLE if has_people else People()})
    return record(lambda: run(config, kubeconfig="/nowhere", sighting=sighting_of(config)))


def objects(recorder: Recorder) -> dict[tuple[str, str], Any]:
    return {(each.type, each.name): each.inputs for each in recorder.resources if each.type.startswith("kubernetes:")}


@pytest.mark.parametrize("name", STACKS)
def test_every_kind_of_cluster_gets_the_same_roles_and_is_otherwise_unchanged(name: str) -> None:
    found, without = (objects(built(name, has_people=each)) for each in (True, False))
    assert found == {**without, **objects(made(PEOPLE))}


@pytest.mark.parametrize("name", STACKS)
def test_all_rules_accept_the_roles(name: str) -> None:
    wire = Wire(stack={"environment": "prod", "profile": find(name).config.profile.value})
    with_people, without = (wire.judge_stack(sent(built(name, has_people=each))) for each in (True, False))
    assert with_people.outcome == without.outcome, with_people.messages


def test_a_stack_without_people_has_nothing_of_theirs() -> None:
    found = [each.type for each in built("local", has_people=False).resources]
    assert "igz-clusters:scheduling:PeopleAccess" not in found
