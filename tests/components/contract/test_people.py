"""Roles of people and pipelines: who gets which, and what each may do."""

from pathlib import Path
from typing import Any

import pytest

from components.contract.labels import OWN_DOMAIN
from components.contract.people import People, bindings
from components.contract.people_rights import ROLES, PeopleRole
from infra.config import StackConfig, parse
from infra.program import run
from support import aks  # noqa: F401 answers what the program asks Azure
from support.api import collection
from support.existing import sighting_of
from support.people import CORE, MAY, MUST_NOT, PEOPLE, Action
from support.recorder import record
from support.stack_cases import bases
from workbench.stacks import find, stack_files

PAGE = Path(__file__).parents[3] / "docs" / "people.md"
MARK = {"apiGroups": [OWN_DOMAIN], "resources": ["coreservices"], "verbs": ["use"]}


def rules_of(role: PeopleRole) -> list[dict[str, Any]]:
    if role is PeopleRole.CORE_SERVICES:  # made by the admission guard
        return [MARK]
    return [rule for right in ROLES[role] for rule in right.rules()]


def allowed(who: str, action: Action) -> bool:
    resource = f"{action.resource}/{action.part}" if action.part else action.resource
    return any(
        action.verb in rule["verbs"] and resource in rule["resources"] and action.group in rule["apiGroups"]
        for binding in bindings(PEOPLE, (CORE,))
        if ("Group", who) in binding.subjects and binding.namespace in ("", action.where)
        for rule in rules_of(binding.role)
    )


@pytest.mark.parametrize("role", MAY)
def test_each_role_may_do_its_list_and_nothing_that_is_forbidden(role: str) -> None:
    assert [str(action) for action in MAY[role] if not allowed(role, action)] == []
    assert [str(action) for action in MUST_NOT[role] if allowed(role, action)] == []


def test_no_role_has_a_wildcard_a_secret_or_a_right_about_rights() -> None:
    rules = [(role, rule) for role in ROLES for rule in rules_of(role)]
    words = {word for _, rule in rules for part in rule.values() for word in part}
    assert (
        words & {"*", "secrets", "impersonate", "bind", "escalate", "pods/exec", "pods/attach", "deletecollection"}
        == set()
    )
    changed = {
        (group, resource)
        for _, rule in rules
        if {"create", "patch", "update", "delete"} & set(rule["verbs"])
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert not {group for group, _ in changed} & {"rbac.authorization.k8s.io", "admissionregistration.k8s.io"}
    guarded = {"serviceaccounts", "resourcequotas", "limitranges", "namespaces", "networkpolicies", "persistentvolumes"}
    assert not {resource for _, resource in changed} & guarded


def kinds(role: PeopleRole, verb: str) -> set[tuple[str, str]]:
    found = (rule for rule in rules_of(role) if verb in rule["verbs"])
    return {(rule["apiGroups"][0], resource) for rule in found for resource in rule["resources"]}


def test_who_reads_the_cluster_reads_every_kind_that_others_read() -> None:
    readers = (PeopleRole.NAMESPACE_READER, PeopleRole.NODE_READER, PeopleRole.VERIFIER)
    others = {kind for role in readers for kind in kinds(role, "list")}
    assert others < kinds(PeopleRole.CLUSTER_READER, "list")


@pytest.mark.parametrize("reader", [PeopleRole.CLUSTER_READER, PeopleRole.NAMESPACE_READER])
def test_who_applies_or_runs_a_kind_can_read_it(reader: PeopleRole) -> None:
    """`kubectl apply` reads an object before it changes it."""
    changed = {(group, kind) for role in (PeopleRole.DELIVERY, PeopleRole.JOBS) for group, kind in kinds(role, "patch")}
    assert {(group, kind) for group, kind in changed if "/" not in kind} <= kinds(reader, "list")


@pytest.mark.parametrize("name", sorted(stack_files()))
def test_a_pipeline_that_verifies_can_read_every_object_of_a_stack(name: str) -> None:
    assert _declared(find(name).config) <= kinds(PeopleRole.VERIFIER, "get")


def test_a_pipeline_that_verifies_can_read_the_volumes_of_shared_storage() -> None:
    found = _declared(parse(bases()["eks-storage"]))
    assert {("", "persistentvolumes"), ("", "persistentvolumeclaims")} <= found
    assert found <= kinds(PeopleRole.VERIFIER, "get")


def _declared(config: StackConfig) -> set[tuple[str, str]]:
    """Return the kinds of the objects in the cluster that a stack declares."""
    recorder = record(lambda: run(config, kubeconfig="/nowhere", sighting=sighting_of(config)))
    return {_kind_of(each.inputs) for each in recorder.resources if each.type.startswith("kubernetes:")}


def _kind_of(manifest: dict[str, Any]) -> tuple[str, str]:
    group = manifest["apiVersion"].rpartition("/")[0]
    return group, collection({**manifest, "metadata": {}}).rpartition("/")[2]


def test_a_stack_without_people_has_no_binding() -> None:
    assert list(bindings(People(), (CORE,))) == []


def test_the_order_of_a_stack_file_changes_no_binding() -> None:
    def bound(*groups: str) -> list[Any]:
        return list(bindings(People.model_validate({"dataScientists": {"jobs": {"groups": groups}}}), ()))

    assert bound("a", "b") == bound("b", "a")


def test_a_group_in_two_roles_of_one_namespace_is_bound_once_to_each_role() -> None:
    both = {"dataScientists": {"jobs": {"groups": ["x"]}}, "ci": {"applies": {"jobs": {"groups": ["x"]}}}}
    found = [(each.role, each.namespace) for each in bindings(People.model_validate(both), ())]
    assert len(found) == len(set(found))


@pytest.mark.parametrize(("groups", "noted"), [(("readers",), False), (("raeders",), True)])
def test_a_group_that_no_access_entry_of_eks_has_is_noted(groups: tuple[str, ...], noted: bool) -> None:
    choices = bases()["eks"]
    entry = {"roleArn": "arn:aws:iam::111122223333:role/x", "level": "view", "groups": ["readers"]}
    choices["cluster"]["access"]["entries"] = {"ops": entry}
    choices["people"] = {"itAdmins": {"groups": list(groups)}}
    paths = [each.path for each in parse(choices).notes]
    assert (("people", "itAdmins", "groups", 0) in paths) is noted


def test_the_page_lists_every_right_with_its_reason() -> None:
    rows = [
        f"| `{role.partition(':')[2]}` | {right.reason} | {', '.join(right.verbs)} | {_named(right.resources)} |"
        for role, rights in ROLES.items()
        for right in rights
    ]
    text = PAGE.read_text()
    assert [row for row in rows if row not in text] == []
    assert text.partition("## All rights")[2].count("\n| `") == len(rows)


def _named(resources: Any) -> str:
    return "; ".join(f"{group or 'core'}: {', '.join(names)}" for group, names in resources.items())
