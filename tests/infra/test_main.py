"""The engine's entry point: what it asks of its environment, by kind of cluster."""

import json
import runpy
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE
from components.stack_files.settings_of_the_run import stack_choices
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


BASE = """\
schemaVersion: 1
layers:
  - settings:
      cluster: { region: eu-west-1 }
      pools:
        another: { role: workload, size: { min: 0, max: 1 }, instanceTypes: [m6i.2xlarge] }
"""


def test_program_and_packs_read_the_base_beside_the_stack_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Base.acme.yaml").write_text(BASE)
    monkeypatch.setenv("PULUMI_OPTION_CONFIG_FILE", str(tmp_path / "Pulumi.dev.yaml"))
    own = document({"pools.another": None, "cluster.region": None})
    whole = {**own, "cluster": {**own["cluster"], "region": "eu-west-1"}}
    whole["pools"] = {**own["pools"], "another": {**own["pools"]["workload"], "size": {"min": 0, "max": 1}}}
    refined = {**own, "base": "acme", "pools": {**own["pools"], "another": {"instanceTypes": ["m6i.xlarge"]}}}
    whole["pools"]["another"] |= {"role": "workload", "instanceTypes": ["m6i.xlarge"]}
    found, expected = (start(each).of_type(NODE_GROUP) for each in (refined, whole))
    assert found == expected
    pulumi.runtime.set_all_config({CONFIG_KEY: json.dumps(refined)})
    try:
        assert stack_choices() == {**whole, "pools": stack_choices()["pools"]}
        assert stack_choices()["pools"].keys() == whole["pools"].keys()
    finally:
        pulumi.runtime.set_all_config({})


def test_a_mistake_in_the_base_ends_the_program_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_OPTION_CONFIG_FILE", str(tmp_path / "Pulumi.dev.yaml"))
    own = {**document({"cluster.region": None}), "base": "acme"}
    with pytest.raises(SystemExit, match=r"^error: base: there is no Base\.acme\.yaml beside the stack file$"):
        start(own)
    (tmp_path / "Base.acme.yaml").write_text(BASE.replace("west", "wset"))
    with pytest.raises(SystemExit, match=r"^error: Base\.acme\.yaml:4: cluster\.region: unknown AWS region"):
        start(own)
    (tmp_path / "Base.acme.yaml").write_text(BASE.replace("pools", "polls"))
    with pytest.raises(SystemExit, match=r"^error: Base\.acme\.yaml:5: layers\[0\]\.settings\.polls: unknown key"):
        start(own)


def test_packs_take_the_strictest_settings_if_the_base_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_OPTION_CONFIG_FILE", str(tmp_path / "Pulumi.dev.yaml"))
    pulumi.runtime.set_all_config({CONFIG_KEY: json.dumps({"base": "acme", "environment": "dev"})})
    try:
        assert stack_choices() == {}
    finally:
        pulumi.runtime.set_all_config({})
