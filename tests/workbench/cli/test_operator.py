"""`igz-clusters operator`: what it prints and writes, and its exit codes."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from infra.config import CONFIG_KEY
from support.acceptance import LOCAL
from support.eks import DOCUMENT
from workbench import stacks
from workbench.cli.app import app
from workbench.system.errors import NoVerdictError, UserError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CHOICES = """\
repository: https://github.com/acme/clusters
image: registry.example.com/igz-clusters:0.2.0
secretEnvironment: {PULUMI_ACCESS_TOKEN: {secret: pulumi, key: token}}
"""
GIT = ("git", "-c", "user.name=test", "-c", "user.email=test@example.com")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    for name, choices in (("acme-dev", DOCUMENT), ("local", LOCAL)):
        (tmp_path / f"Pulumi.{name}.yaml").write_text(json.dumps({"config": {CONFIG_KEY: choices}}))
    (tmp_path / "operator.yaml").write_text(CHOICES)
    (tmp_path / "Pulumi.yaml").write_text("name: igz-clusters\nruntime: python\n")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["operator", *arguments])


def commit(place: Path) -> str:
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "Start"]):
        subprocess.run([*GIT, *command], cwd=place, check=True)
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=place, check=True, capture_output=True, text=True)
    return found.stdout.strip()


def test_it_prints_all_objects_for_the_current_commit(place: Path) -> None:
    current = commit(place)
    done = run("manifests")
    assert done.exit_code == 0, done.output
    found = list(yaml.safe_load_all(done.stdout))
    assert [each["kind"] for each in found] == ["Namespace", "ServiceAccount", "ClusterRoleBinding", "Stack"]
    assert found[-1]["spec"]["commit"] == current
    assert "note: local is left out: it is a local stack, which needs no operator." in done.stderr


def test_it_writes_only_what_differs(place: Path) -> None:
    out = place / "out"
    first = run("manifests", "--commit", COMMIT, "--output", str(out))
    assert first.stderr.count("wrote ") == 2
    assert f"{out} is up to date." in run("manifests", "--commit", COMMIT, "--output", str(out)).stderr
    assert run("check", str(out)).exit_code == 0


def test_settings_of_waves_that_the_operator_does_not_follow_are_named(place: Path) -> None:
    for chosen in ("waves: [{name: all, stacks: ['*'], bake: 30m}]", "atOnce: 1\nwaves: [{name: all, stacks: ['*']}]"):
        (place / "fleet.yaml").write_text(chosen)
        said = " ".join(run("manifests", "--commit", COMMIT).stderr.split())
        assert "`atOnce`, `failures`, `bake` and `verify` of fleet.yaml apply to `fleet up` only" in said


@pytest.mark.parametrize("given", ["main", COMMIT[:12], COMMIT.upper()])
def test_a_commit_must_be_whole(given: str) -> None:
    refused = run("manifests", "--commit", given).exception
    assert isinstance(refused, UserError)
    assert f"--commit: must be a whole commit: 40 digits, 0 to 9 and a to f (given: '{given}')" in str(refused)


def test_stack_files_must_be_committed(place: Path) -> None:
    assert "Pulumi.acme-dev.yaml is in no Git commit" in str(run("manifests").exception)
    commit(place)
    (place / "Pulumi.acme-dev.yaml").write_text((place / "Pulumi.acme-dev.yaml").read_text() + "\n")
    said = str(run("manifests").exception)
    assert said.startswith("Pulumi.acme-dev.yaml has changes that are not committed.\nThe operator reads commits")


def test_the_commit_has_the_project_file_that_the_agent_reads(place: Path) -> None:
    project = place / "Pulumi.yaml"
    lines = project.read_text()
    project.unlink()
    commit(place)
    project.write_text(lines)
    assert "Pulumi.yaml has changes that are not committed" in str(run("manifests").exception)
    second = commit(place)
    assert list(yaml.safe_load_all(run("manifests").stdout))[-1]["spec"]["commit"] == second


def test_a_shallow_clone_does_not_know_which_commit_changed_a_stack(
    place: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(place)
    clone = tmp_path_factory.mktemp("shallow") / "clone"
    subprocess.run([*GIT, "clone", "--quiet", "--depth", "1", place.as_uri(), str(clone)], check=True)
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(clone))
    assert "This shallow clone does not show" in str(run("manifests").exception)
    assert run("manifests", "--commit", COMMIT).exit_code == 0


def test_check_names_stacks_that_changed_since(place: Path) -> None:
    commit(place)
    out = place / "operator"
    run("manifests", "--output", str(out))
    assert "note: " not in run("check", str(out)).stderr
    (place / "notes.md").write_text("another file\n")
    run("manifests", "--commit", commit(place), "--output", str(out))
    assert "note: " not in run("check", str(out)).stderr, "a newer commit has the same files"
    (place / "Pulumi.acme-dev.yaml").write_text((place / "Pulumi.acme-dev.yaml").read_text() + "\n")
    commit(place)
    done = run("check", str(out))
    assert (done.exit_code, "note: acme-dev: the commit in its object lacks a change" in done.stderr) == (0, True)


def test_a_stack_keeps_its_commit_until_its_files_change(place: Path) -> None:
    first, out = commit(place), place / "operator"
    assert run("manifests", "--output", str(out)).exit_code == 0
    (place / "Pulumi.local.yaml").write_text((place / "Pulumi.local.yaml").read_text() + "\n")
    assert run("manifests", "--output", str(out)).stderr.endswith("operator is up to date.\n"), "not committed yet"
    commit(place)
    assert run("manifests", "--output", str(out)).stderr.endswith("operator is up to date.\n")
    (place / "policies").mkdir()
    (place / "policies" / "overrides.yaml").write_text("approvals: []\n")
    assert "policies/overrides.yaml has changes that are not committed" in str(run("manifests").exception)
    second = commit(place)
    assert run("manifests", "--output", str(out)).stderr.count("wrote ") == 1
    found = yaml.safe_load((out / "acme-dev.yaml").read_text())
    assert (found["spec"]["commit"], second != first) == (second, True)


def test_differences_are_a_result_and_errors_are_not(place: Path) -> None:
    out = place / "out"
    run("manifests", "--commit", COMMIT, "--output", str(out))
    file = out / "acme-dev.yaml"
    file.write_text(file.read_text().replace("restricted", "baseline"))
    found = run("check", str(out))
    profile = "spec.workspaceTemplate.spec.securityProfile"
    line = f"acme-dev.yaml: Stack acme-dev: {profile}: is 'baseline', must be 'restricted'"
    assert (found.exit_code, found.stdout) == (1, f"{line}\n")
    as_json = run("check", str(out), "--json")
    assert (as_json.exit_code, json.loads(as_json.stdout)) == (1, {"folder": str(out), "differences": [line]})
    (place / "operator.yaml").write_text("image: x\n")
    assert isinstance(run("check", str(out)).exception, NoVerdictError)
