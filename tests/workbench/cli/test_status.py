"""`status`, `env`, `kubeconfig` and `kubectl` for stacks of every kind, around stand-ins for engine and cluster."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from support import aks, eks
from support.eks_state import exported
from support.scripted_engine import ScriptedEngine
from workbench import stacks
from workbench.cli.app import app
from workbench.engine.kubectl import Api
from workbench.stacks import CONFIG_KEY
from workbench.system.errors import UserError

CONFIG = "apiVersion: v1\nkind: Config\n"
KINDS: dict[str, Callable[[], dict[str, Any]]] = {"eks": eks.document, "aks": aks.document}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """Return an engine for the stack `test`, and put a kubectl on PATH that lists one node."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:/usr/bin:/bin")
    found = ScriptedEngine(tmp_path)
    monkeypatch.setattr("workbench.cli.access.ensure", lambda *_, **__: found.toolchain)
    (tmp_path / "tools").mkdir()
    node = {
        "kind": "Node",
        "metadata": {"labels": {"igz-clusters.io/pool": "gpu"}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    (tmp_path / "items.json").write_text(json.dumps({"items": [node]}))
    answers(tmp_path, f"cat {tmp_path / 'items.json'}")
    choose(tmp_path, "eks")
    return found


def answers(folder: Path, script: str) -> None:
    """Let kubectl run a script."""
    (folder / "tools" / "kubectl").write_text(f'#!/bin/sh\necho "$KUBECONFIG $*" >> {folder}/asked\n{script}\n')
    (folder / "tools" / "kubectl").chmod(0o755)


def choose(folder: Path, kind: str) -> None:
    (folder / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: KINDS[kind]()}}))


def up() -> dict[str, Any]:
    """Return the state of the stack with the outputs of its last `up`."""
    state = exported()
    (stack,) = (each for each in state["resources"] if each["type"] == "pulumi:pulumi:Stack")
    group = {
        "pool": "gpu",
        "role": "gpu",
        "lifecycle": "on-demand",
        "min": 0,
        "max": 2,
        "instanceTypes": ["g5.12xlarge"],
    }
    stack["outputs"] = {"kubeconfig": CONFIG, "pools": {"gpu": {**group, "labels": {}, "taints": []}}}
    return state


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def row_of(done: Result, group: str) -> list[str]:
    """Return the bounds and counts of a group in the first table."""
    return next(line.split()[3:7] for line in done.stdout.splitlines() if line.startswith(f"{group} "))


def test_what_the_file_says_what_was_applied_and_what_is_live_stand_apart(engine: ScriptedEngine) -> None:
    engine.has(up())
    done = run("status", "test")
    assert done.exit_code == 0, done.output
    assert row_of(done, "gpu") == ["0..4", "0..2", "1", "1"]
    found = json.loads(run("status", "test", "--json").stdout)
    assert (found["condition"], found["kind"]) == ("up", "eks")


@pytest.mark.parametrize("kind", KINDS)
def test_a_stack_that_is_not_up_is_said_to_be_so(engine: ScriptedEngine, tmp_path: Path, kind: str) -> None:
    choose(tmp_path, kind)
    engine.has({})
    done = run("status", "test")
    assert done.exit_code == 3
    assert done.stdout.splitlines()[:2] == [f"test (dev, {kind}): not created", "`igz-clusters up test` creates it."]
    assert "igz-workload" not in done.stdout
    refused = run("kubectl", "test", "get", "nodes").exception
    assert isinstance(refused, UserError)
    assert str(refused) == "The cluster of 'test': not created.\n`igz-clusters up test` creates it."


@pytest.mark.parametrize(
    "answer", ["no stack named 'test' found", "no stack selected; please use `pulumi stack select`"]
)
def test_a_stack_that_the_backend_does_not_have_is_not_created(engine: ScriptedEngine, answer: str) -> None:
    engine.toolchain.pulumi.write_text(f'#!/bin/sh\necho "error: {answer.replace("`", "")}" >&2\nexit 1\n')
    done = run("status", "test")
    assert done.exit_code == 3
    assert "Run `pulumi stack init test`. Then `igz-clusters up test` creates it." in done.stdout


def test_a_cluster_that_does_not_answer_is_shown_with_what_is_recorded(engine: ScriptedEngine, tmp_path: Path) -> None:
    engine.has(up())
    answers(tmp_path, "echo 'dial tcp: i/o timeout' >&2; exit 1")
    done = run("status", "test")
    assert done.exit_code == 3
    assert "test (dev, eks): does not answer" in done.stdout
    assert "i/o timeout" in done.stdout
    assert row_of(done, "gpu") == ["0..4", "0..2", "?", "?"]


def test_watching_prints_again_only_after_a_change(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.has(up())
    looks = iter(range(3))

    def pause(_: float) -> None:
        if next(looks) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("workbench.cli.status.time", SimpleNamespace(sleep=pause))
    done = run("status", "test", "--json", "--watch")
    assert done.exit_code == 130
    assert len(done.stdout.splitlines()) == 1


def test_kubeconfig_is_a_file_of_the_users_alone(engine: ScriptedEngine) -> None:
    engine.has(up())
    file = Path(run("kubeconfig", "test").stdout.strip())
    assert file.read_text() == CONFIG
    assert file.stat().st_mode & 0o077 == 0


def test_env_puts_both_programs_on_path_before_anybody_is_logged_in(engine: ScriptedEngine, tmp_path: Path) -> None:
    engine.toolchain.pulumi.write_text("#!/bin/sh\necho 'error: not logged in' >&2\nexit 1\n")
    done = run("env", "test")
    assert done.exit_code == 0, done.output
    assert "note: no KUBECONFIG: `pulumi stack export` failed" in done.stderr
    exports = "".join(f"{line}\n" for line in done.stdout.splitlines())
    shell = subprocess.run(
        ["sh", "-euc", f"{exports}\ncommand -v pulumi; command -v kubectl; echo $PULUMI_STACK"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout.splitlines() == [str(tmp_path / "pulumi"), str(tmp_path / "tools" / "kubectl"), "test"]
    assert "KUBECONFIG" not in done.stdout


def test_env_names_the_cluster_once_there_is_one(engine: ScriptedEngine) -> None:
    engine.has(up())
    lines = run("env", "test").stdout.splitlines()
    assert f"export KUBECONFIG={run('kubeconfig', 'test').stdout.strip()}" in lines


def test_env_attaches_the_packs_in_a_cloud_but_leaves_updates_to_up(engine: ScriptedEngine) -> None:
    engine.has(up())
    exports = dict(line.removeprefix("export ").split("=", 1) for line in run("env", "test").stdout.splitlines())
    assert exports["PULUMI_OPTION_POLICY_PACK"]
    assert exports["IGZ_CLUSTERS_POLICY_GUARD"] == "''"


def test_the_kubeconfig_of_a_context_selects_it_and_copies_no_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.cli.access import Access  # noqa: PLC0415
    from workbench.engine.pool_status import Condition  # noqa: PLC0415

    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    api = Api(Path("kubectl"), None, {"KUBECONFIG": "/a:/b"}, "on-prem")
    chosen, *others = Access(Condition.UP, api=api).kubeconfig.split(":")
    assert others == ["/a", "/b"]
    assert Path(chosen).read_text() == "apiVersion: v1\ncurrent-context: on-prem\nkind: Config\n"


def test_a_damaged_state_does_not_keep_a_local_cluster_from_being_looked_at(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 1, "max": 1}, "instanceTypes": ["m6i.2xlarge"]}}
    choices = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": pools}
    (tmp_path / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: choices}}))
    file = tmp_path / "data" / "state" / ".pulumi" / "stacks" / "igz-clusters" / "test.json"
    file.parent.mkdir(parents=True)
    (tmp_path / "data").chmod(0o700)
    file.write_text("")
    done = run("status", "test", "--json")
    assert done.exit_code == 3, done.output
    assert json.loads(done.stdout)["condition"] == "stopped"
    note = "note: the state is damaged: the file is empty. `igz-clusters recover test` restores"
    assert note in done.stderr
    for command in ("kubectl", "kubeconfig"):
        done = run(command, "test")
        assert (str(done.exception).splitlines()[0], note in done.stderr) == ("The cluster of 'test': stopped.", True)
