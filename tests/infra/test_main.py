"""The engine's entry point: what it asks of its environment, by kind of cluster."""

import json
import runpy
from typing import Any

import pulumi
import pytest

from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE
from support.eks import NODE_GROUP, document
from support.recorder import Recorder, record
from workbench.stacks import CONFIG_KEY, find
from workbench.system.paths import PROJECT_ROOT

VARIABLE = "IGZ_CLUSTERS_LOCAL_KUBECONFIG"


def start(choices: dict[str, Any]) -> Recorder:
    pulumi.runtime.set_all_config({CONFIG_KEY: json.dumps(choices)})
    try:
        return record(lambda: runpy.run_path(str(PROJECT_ROOT / "infra" / "__main__.py"), run_name="__main__") and None)
    finally:
        pulumi.runtime.set_all_config({})


def local() -> dict[str, Any]:
    choices: dict[str, Any] = find("local").document["config"][CONFIG_KEY]
    return choices


def test_an_eks_stack_needs_nothing_of_a_local_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert start(document()).of_type(NODE_GROUP)


def test_a_local_stack_says_which_variable_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(SystemExit, match=f"{VARIABLE} is not set"):
        start(local())


def test_a_local_stack_works_on_the_cluster_that_the_variable_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/somewhere/kubeconfig")
    (provider,) = start(local()).of_type("pulumi:providers:kubernetes").values()
    assert provider["kubeconfig"] == "/somewhere/kubeconfig"


def test_an_update_to_which_nobody_attached_the_policies_ends_before_the_first_resource(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(GUARD_VARIABLE, raising=False)
    with pytest.raises(SystemExit, match=r"policyGuard of this stack is 'required', .* Use `igz-clusters up test`\.$"):
        start(document({"policyGuard": "required"}))


@pytest.mark.parametrize("guard", ["warn", "off"])
def test_other_guards_stop_no_update(monkeypatch: pytest.MonkeyPatch, guard: str) -> None:
    monkeypatch.delenv(GUARD_VARIABLE, raising=False)
    assert start(document({"policyGuard": guard})).of_type(NODE_GROUP)


def test_the_mark_of_the_command_line_lets_an_update_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GUARD_VARIABLE, ATTACHED)
    assert start(document({"policyGuard": "required"})).of_type(NODE_GROUP)


def test_a_guarded_stack_on_this_machine_is_told_of_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GUARD_VARIABLE, raising=False)
    monkeypatch.setenv(VARIABLE, "/somewhere/kubeconfig")
    with pytest.raises(SystemExit, match=r'`igz-clusters up test`, or run `eval "\$\(igz-clusters env test\)"` first'):
        start({**local(), "policyGuard": "required"})


def test_a_mistake_ends_the_program_before_the_first_resource() -> None:
    with pytest.raises(SystemExit, match=r"error: cluster\.region: unknown AWS region"):
        start(document({"cluster.region": "eu-wset-1"}))
