"""What a rehearsal applies of the objects that the programs of shipped stacks declare."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from infra.config import CONFIG_KEY
from support.rehearsal_stacks import stack_file
from workbench import stacks
from workbench.offline.declared import declared
from workbench.rehearsal.cluster.objects import APPLIED, LEFT_OUT, apply_objects, chosen, objects_of
from workbench.rehearsal.cluster.simulated import Api, ApiError
from workbench.system.errors import UserError

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {"group": "example.com", "names": {"kind": "Thing"}, "versions": [{"name": "v1"}]},
}
CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}}


class Server:
    """Knows a defined kind, and then serves it, only when it is asked for the second time."""

    def __init__(self, refused: str = "") -> None:
        self.calls: list[str] = []
        self._refused = refused
        self._asked = 0

    def apply(self, manifest: dict[str, Any]) -> None:
        self.calls.append(f"apply {manifest['kind']}")
        if manifest["kind"] == self._refused:
            raise ApiError(422, "no such field")

    def path_of(self, manifest: dict[str, Any]) -> str:
        self._asked += 1
        self.calls.append(f"look for {manifest['kind']}")
        if self._asked == 1:
            raise ApiError(404, "no such kind")
        return f"/{manifest['apiVersion']}/things/{manifest['metadata']['name']}"

    def get(self, path: str) -> dict[str, Any] | None:
        self.calls.append(f"get {path}")
        return {"items": []} if self.calls.count(self.calls[-1]) > 1 else None


def applied(server: Server, *objects: dict[str, Any]) -> None:
    apply_objects(cast("Api", server), objects, lambda _: None)


@pytest.mark.parametrize("name", ["local", "dev", "aks-dev", "existing"])
def test_every_kind_that_a_stack_declares_is_applied_or_left_out_for_a_reason(name: str) -> None:
    result = declared(stacks.find(name), {})
    assert not result.refused
    kinds = [each["kind"] for each in result.objects]
    assert kinds
    assert not set(kinds) - set(APPLIED) - LEFT_OUT.keys()
    json.dumps(result.objects)  # no unknown value is left


def test_the_nodes_and_the_autoscalers_groups_are_the_rehearsals_own(tmp_path: Path) -> None:
    stack = stack_file(tmp_path)
    names = {(each["kind"], each["metadata"]["name"]) for each in declared(stack, {}).objects}
    kept = {(each["kind"], each["metadata"]["name"]) for each in objects_of(stack)}
    own = {("ConfigMap", "kwok-provider-config"), ("ConfigMap", "kwok-provider-templates")}
    assert names - kept == own | {("Node", name) for name in ("initial-0", "initial-1", "notebooks-0")}


def test_placeholders_of_headroom_are_applied_and_other_deployments_are_not() -> None:
    stack = stacks.find("dev")
    document = deepcopy(stack.document)
    document["config"][CONFIG_KEY]["pools"]["workload"]["headroom"] = {"pods": 1, "cpu": "3", "memory": "8Gi"}
    objects = declared(replace(stack, document=document), {}).objects
    named = [
        (each["metadata"]["namespace"], each["metadata"]["name"]) for each in objects if each["kind"] == "Deployment"
    ]
    kept = [each for each in chosen(objects) if each["kind"] == "Deployment"]
    assert ("kube-system", "cluster-autoscaler") in named
    assert [(each["metadata"]["namespace"], each["metadata"]["name"]) for each in kept] == [
        ("igz-headroom", "workload")
    ]


def test_parameters_exist_before_policies_and_policies_before_bindings(tmp_path: Path) -> None:
    kinds = [each["kind"] for each in objects_of(stack_file(tmp_path))]
    order = [
        "CustomResourceDefinition",
        "Namespace",
        "PolicyParameters",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]
    first = [kinds.index(each) for each in order if each in kinds]
    assert first == sorted(first)
    last_policy = max(index for index, kind in enumerate(kinds) if kind.endswith("AdmissionPolicy"))
    assert last_policy < min(index for index, kind in enumerate(kinds) if kind.endswith("PolicyBinding"))


def test_objects_of_one_kind_keep_the_order_of_their_declaration() -> None:
    declared_first = [{**CLASS, "metadata": {"name": name}} for name in ("z", "a", "m")]
    assert [each["metadata"]["name"] for each in chosen([*declared_first, CRD])] == [
        "things.example.com",
        "z",
        "a",
        "m",
    ]


def test_what_a_definition_defines_is_there_before_the_next_object() -> None:
    server = Server()
    applied(server, CRD, CLASS)
    assert server.calls == [
        "apply CustomResourceDefinition",
        "look for Thing",
        "look for Thing",
        "get /example.com/v1/things",
        "look for Thing",
        "get /example.com/v1/things",
        "apply PriorityClass",
    ]


def test_a_refused_object_is_named_with_the_servers_words() -> None:
    with pytest.raises(UserError, match="refuses the PriorityClass low of the stack: no such field"):
        applied(Server("PriorityClass"), CLASS)


def test_invalid_inputs_of_a_resource_are_shown_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = stack_file(tmp_path)
    result = declared(stack, {})
    problem = type("Problem", (), {"path": "spec.x", "reason": "is too long"})()
    result.refused.append(type("Refused", (), {"urn": "urn:one", "problem": problem})())
    monkeypatch.setattr("workbench.offline.declared.declared", lambda *_: result)
    with pytest.raises(UserError, match=r"urn:one: spec\.x: is too long"):
        objects_of(stack)
