"""`igz-clusters check`: configuration and rules at once, without the engine."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from infra.config import CONFIG_KEY
from support.edits import edited
from support.stack_files import VALID
from workbench import stacks
from workbench.cli.app import app
from workbench.engine import check
from workbench.offline import declared
from workbench.offline.aws.provider import OfflineAws
from workbench.offline.provider import Checked, Problem
from workbench.system.paths import PROJECT_ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "note")
    return tmp_path


def write(folder: Path, name: str, **changes: Any) -> None:
    document = yaml.safe_load((PROJECT_ROOT / f"Pulumi.{name}.yaml").read_text())
    changes = {path.replace("__", "."): value for path, value in changes.items()}
    document["config"][CONFIG_KEY] = edited(document["config"][CONFIG_KEY], changes)
    (folder / f"Pulumi.{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["check", *arguments])


def test_a_missing_key_and_a_wrong_bound_are_shown_at_once_and_once_each(folder: Path) -> None:
    write(folder, "prod", cluster__tags=None, policies__largestPool=35)
    result = run("prod")
    assert result.exit_code == 1
    shown = [line for line in result.stdout.splitlines() if line.startswith("violated: ")]
    assert [line.split()[1] for line in shown] == ["HT-01", "NG-11"]
    assert result.stdout.count("lacks the tags") == 1
    assert "more: prod-" in result.stdout
    assert result.stdout.count("Fix: ") == 2
    assert "prod: 2 violations, no notes (134 rules, 222 resources)" in result.stdout


def test_headroom_early_images_and_warm_pools_break_no_rule_in_prod(folder: Path) -> None:
    write(
        folder,
        "prod",
        pools__workload__headroom={"pods": 2, "cpu": "3", "memory": "12Gi"},
        pools__spot__headroom={"pods": 2, "cpu": "3", "memory": "12Gi"},
        pools__workload__prepullImages=["nvcr.io/nvidia/pytorch:25.06-py3"],
        pools__workload__warmPool={"nodes": 2},
    )
    result = run("prod")
    assert "prod: no violations, no notes (134 rules, 229 resources)" in result.stdout, result.stdout


def test_without_a_name_all_stacks_are_checked_and_a_wrong_file_stops_no_other(folder: Path) -> None:
    (folder / "Pulumi.bad.yaml").write_text(VALID.replace("environment: dev", "environment: prd"))
    write(folder, "local")
    result = run()
    assert result.exit_code == 1
    bad, local, rest = result.stdout.splitlines()
    assert bad.startswith("Pulumi.bad.yaml:4: environment: unknown value")
    assert local == "local: no violations, no notes (134 rules, 71 resources)"
    assert rest.startswith("  Not judged: the live stack")


def test_stacks_that_pass_end_with_zero_and_say_what_was_not_judged(folder: Path) -> None:
    write(folder, "dev")
    result = run("dev")
    assert result.exit_code == 0
    assert "values that are known only once other resources exist; the live stack" in result.stdout


@pytest.mark.parametrize("command", [["check"], ["check", "--json"], ["config", "check"]], ids=" ".join)
def test_a_folder_without_stacks_does_not_pass(folder: Path, command: list[str]) -> None:
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert str(result.exception).startswith(f"There is no stack in {folder}.")


def test_a_stack_that_is_not_there_is_answered(folder: Path) -> None:
    write(folder, "dev")
    result = run("nope")
    assert result.exit_code == 1
    assert "'nope'" in str(result.exception)


def test_all_stacks_that_are_not_there_are_answered_at_once(folder: Path) -> None:
    write(folder, "dev")
    result = run("dev", "nope", "de", "nope")
    assert result.exit_code == 1
    missing, hint = str(result.exception).splitlines()
    assert missing == f"Stacks 'nope', 'de' not found in {folder}."
    assert hint == "Did you mean 'dev'? Known stacks: dev."


def test_an_error_in_the_overrides_of_all_stacks_is_shown_once(folder: Path) -> None:
    write(folder, "dev")
    write(folder, "local")
    (folder / "policies").mkdir()
    (folder / "policies" / "overrides.yaml").write_text("remediate: [XX-01]\n")
    result = run()
    assert result.exit_code == 1
    assert result.stdout.count("overrides.yaml:1: ") == 1
    found = json.loads(run("--json").stdout)
    assert len(found["problems"]) == 1
    assert found["stacks"] == [{"stack": name, "passed": False} for name in ("dev", "local")]


def test_json_has_every_part(folder: Path) -> None:
    write(folder, "prod", policies__largestPool=35)
    (folder / "Pulumi.bad.yaml").write_text(VALID.replace("environment: dev", "environment: prd"))
    result = run("--json")
    whole = json.loads(result.stdout)
    bad, prod = whole["stacks"]
    [problem] = whole["problems"]
    assert problem["file"].endswith("Pulumi.bad.yaml")
    assert (problem["line"], bad) == (4, {"stack": "bad", "passed": False})
    assert (prod["stack"], prod["passed"], prod["refused"]) == ("prod", False, [])
    [found] = prod["findings"]
    assert (found["rule"], found["status"], found["waiver"]) == ("NG-11", "violated", "")
    assert found["resources"] == [urn for urn in found["resources"] if urn.endswith("::prod-spot")]
    assert prod["notJudged"]


def test_an_input_that_the_clouds_model_refuses_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: OfflineAws, type_: str, *_: object, **__: object) -> Checked:
        return Checked((Problem("kmsKeyId", "is no key"),) if type_ == "aws:eks/cluster:Cluster" else ())

    write(folder, "dev")
    monkeypatch.setattr(OfflineAws, "check", refuse)
    result = run("dev")
    assert result.exit_code == 1
    assert "refused: dev-cluster: kmsKeyId: is no key" in result.stdout


def test_a_call_of_a_cloud_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(_: object) -> None:
        import pulumi_aws as aws  # noqa: PLC0415

        aws.get_caller_identity()

    monkeypatch.setattr(declared, "_program", program)
    with pytest.raises(Exception, match="aws:index/getCallerIdentity:getCallerIdentity, which needs a cloud"):
        check.check(stacks.find("dev"))


def test_a_run_leaves_nothing_to_the_next(folder: Path) -> None:
    write(folder, "dev")
    write(folder, "local")
    both = run("dev", "local", "dev").stdout.splitlines()
    assert both[:2] == both[-2:]
