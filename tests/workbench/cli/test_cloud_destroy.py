"""`destroy` in a cloud around stand-ins for the engine and kubectl: order, consent, patience, and what is left."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from support.cloud_commands import WHAT_AN_INTERRUPT_LEFT, choose
from support.eks import document
from support.eks_state import STACK, exported
from support.scripted_engine import DONE, PLANNED, ScriptedEngine, said
from workbench import stacks
from workbench.cli import emptying
from workbench.cli.app import app
from workbench.cli.cloud_run import CloudRun
from workbench.engine import in_cluster
from workbench.engine.clouds.blocker import Blocker
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.stacks import CONFIG_KEY
from workbench.system.errors import UserError

NO_DATA: dict[str, Any] = {"pools.data": None}
FRONT = {
    "kind": "Service",
    "metadata": {"name": "front", "namespace": "mlrun", "finalizers": ["service.kubernetes.io/load-balancer-cleanup"]},
    "spec": {"type": "LoadBalancer"},
}
CLAIM = {"kind": "PersistentVolumeClaim", "metadata": {"name": "models", "namespace": "mlrun"}, "spec": {}}
IN_USE = "deleting EC2 Subnet (subnet-1): api error DependencyViolation: The subnet 'subnet-1' has dependencies"

_KUBECTL = """#!{python}
import json, pathlib, sys
folder, asked = pathlib.Path({folder!r}), sys.argv[1:]
assert pathlib.Path(asked[0].removeprefix("--kubeconfig=")).stat().st_mode & 0o777 == 0o600
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps(["kubectl", *asked[2:]]) + "\\n")
if (folder / "unreachable").exists():
    sys.exit("Unable to connect to the server: dial tcp: i/o timeout")
left = folder / "objects"
items = json.loads(left.read_text())
if asked[2] == "delete" and not (folder / "stuck").exists():
    items = [each for each in items if (each["kind"].lower(), each["metadata"]["name"]) != tuple(asked[3:5])]
    left.write_text(json.dumps(items))
print(json.dumps({{"items": items}}))
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("PULUMI_K8S_DELETE_UNREACHABLE", raising=False)
    found = ScriptedEngine(tmp_path)
    monkeypatch.setattr("workbench.cli.cloud_run.ensure", lambda *_, **__: found.toolchain)
    monkeypatch.setattr(emptying, "PAUSE", 0.0)
    monkeypatch.setattr("workbench.cli.cloud_run.sleep", lambda _: None)
    monkeypatch.setattr(CloudRun, "ask", lambda *_: {})
    monkeypatch.setattr(CloudRun, "left", lambda _: [])
    monkeypatch.setattr(CloudRun, "foreign_resources", lambda *_: [])
    program = tmp_path / "kubectl"
    program.write_text(_KUBECTL.format(python=sys.executable, folder=str(tmp_path)))
    program.chmod(stat.S_IRWXU)
    monkeypatch.setattr(in_cluster, "kubectl", lambda: program)
    (tmp_path / f"Pulumi.{STACK}.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document(NO_DATA)}}))
    found.has(exported(NO_DATA))
    stands(tmp_path)
    return found


def stands(folder: Path, *objects: dict[str, Any]) -> None:
    """Let ``objects`` stand in the cluster."""
    (folder / "objects").write_text(json.dumps(objects))


def run(*options: str) -> Result:
    return CliRunner().invoke(app, ["destroy", STACK, *options])


def refusal(*options: str) -> UserError:
    error = run(*options).exception
    assert isinstance(error, UserError), error
    return error


def kubectl_calls(engine: ScriptedEngine) -> list[str]:
    return [" ".join(call[1:4]) for call in engine.calls if call[0] == "kubectl"]


def test_the_cluster_is_looked_into_after_the_guard_and_before_the_engine(engine: ScriptedEngine) -> None:
    done = run("--yes")
    assert done.exit_code == 0, done.output
    order = [call[0] if "--preview-only" not in call else "plan" for call in engine.calls]
    assert order == ["stack", "refresh", "stack", "plan", "kubectl", "destroy"]
    (plan,) = [call for call in engine.calls if "--preview-only" in call]
    assert plan == ["destroy", "--preview-only", "--skip-preview=false", "--refresh=false"]
    assert engine.calls[-1] == ["destroy", "--yes"]


def test_load_balancers_of_users_are_named_removed_and_waited_for(engine: ScriptedEngine, tmp_path: Path) -> None:
    stands(tmp_path, FRONT)
    done = run("--yes")
    assert done.exit_code == 0, done.output
    assert "- service mlrun/front (load balancer" in done.stderr
    assert [call.split()[0] for call in kubectl_calls(engine)] == ["get", "delete", "get"]
    assert engine.calls[-1][0] == "destroy"


def test_nothing_of_users_is_removed_without_a_yes(engine: ScriptedEngine, tmp_path: Path) -> None:
    stands(tmp_path, FRONT)
    assert "Cannot prompt without a terminal; nothing deleted" in refusal().message
    assert [call.split()[0] for call in kubectl_calls(engine)] == ["get"]
    assert "destroy" not in engine.commands


def test_what_stays_with_backups_is_told_apart_from_what_is_left(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, subnet = (
        CloudResource(f"aws:{type_}", type_.lower(), "", "", "look", f"delete {type_}", kept=kept)
        for type_, kept in (("Vault", "is empty"), ("Subnet", ""))
    )
    monkeypatch.setattr(CloudRun, "left", lambda _: [vault])
    told = run("--yes").stderr
    assert (
        f"Kept with the backups of '{STACK}', and how to delete each:\n- Vault vault: is empty\n  delete Vault" in told
    )
    assert f"No other resource with the tags of '{STACK}' is left." in told
    monkeypatch.setattr(CloudRun, "left", lambda _: [vault, subnet])
    assert (
        f"Resources left with the tags of '{STACK}', and how to delete each:\n- Subnet subnet\n" in run("--yes").stderr
    )


def test_yes_alone_loses_no_data(engine: ScriptedEngine, tmp_path: Path) -> None:
    stands(tmp_path, FRONT, CLAIM)
    refused = refusal("--yes")
    assert "- persistentvolumeclaim mlrun/models" in refused.message
    assert "--delete-claims" in refused.hint
    assert [call.split()[0] for call in kubectl_calls(engine)] == ["get"]
    assert run("--yes", "--delete-claims").exit_code == 0
    assert json.loads((tmp_path / "objects").read_text()) == []


def test_the_driver_of_a_volume_stays_until_the_volume_is_gone(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim is gone at once, and the volume in AWS only after the storage driver deleted it."""
    spec = {"persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": "mlrun", "name": "models"}}
    stands(tmp_path, CLAIM, {"kind": "PersistentVolume", "metadata": {"name": "pv-1"}, "spec": spec})
    monkeypatch.setattr(emptying, "PATIENCE", 0.0)
    refused = refusal("--yes", "--delete-claims")
    assert "- persistentvolume pv-1" in refused.message
    assert "persistentvolumeclaim" not in refused.message
    assert "destroy" not in engine.commands


def test_what_does_not_go_ends_with_what_holds_it(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands(tmp_path, FRONT)
    (tmp_path / "stuck").touch()
    monkeypatch.setattr(emptying, "PATIENCE", 0.0)
    refused = refusal("--yes")
    assert "held by service.kubernetes.io/load-balancer-cleanup" in refused.message
    assert "destroy" not in engine.commands


def test_a_cluster_that_does_not_answer_is_not_destroyed(engine: ScriptedEngine, tmp_path: Path) -> None:
    (tmp_path / "unreachable").touch()
    refused = refusal("--yes")
    assert "i/o timeout Nothing was deleted." in refused.message
    assert "PULUMI_K8S_DELETE_UNREACHABLE=true" in refused.hint
    assert "destroy" not in engine.commands


def test_a_cluster_that_somebody_gave_up_is_destroyed_unseen(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unreachable").touch()
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    done = run("--yes")
    assert done.exit_code == 0, done.output
    assert "the cluster counts as lost" in done.stderr


def test_what_is_protected_is_refused_before_anything_is_deleted(engine: ScriptedEngine, tmp_path: Path) -> None:
    engine.has(exported({"environment": "prod"}))
    stands(tmp_path, FRONT)
    refused = refusal("--yes")
    assert refused.message.count("pulumi state unprotect") > 2
    assert kubectl_calls(engine) == []


def test_what_would_be_deleted_with_it_and_belongs_to_others_is_refused_before_anything_is_deleted(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands(tmp_path, FRONT)
    foreign = Blocker("storage", "is not ours", "it would be deleted too", "Move it.")
    monkeypatch.setattr(CloudRun, "foreign_resources", lambda *_: [foreign])
    refused = refusal("--yes", "--delete-claims")
    assert refused.message == (
        "'test' cannot be destroyed yet:\n- storage: is not ours; it would be deleted too.\n  Move it."
    )
    assert kubectl_calls(engine) == []
    assert "destroy" not in engine.commands


def test_what_is_still_in_use_is_tried_again_a_few_times(engine: ScriptedEngine) -> None:
    for number in (0, 1):
        engine.answers("destroy", [said(IN_USE), *DONE], code=255, number=number)
    done = run("--yes")
    assert done.exit_code == 0, done.output
    assert [call for call in engine.calls if call[0] == "destroy" and "--preview-only" not in call] == [
        ["destroy", "--yes"],
        ["destroy", "--yes", "--skip-preview"],
        ["destroy", "--yes", "--skip-preview"],
    ]


@pytest.mark.parametrize(("message", "attempts"), [(IN_USE, 4), ("AccessDenied: no", 1)])
def test_the_tries_end(engine: ScriptedEngine, message: str, attempts: int) -> None:
    engine.answers("destroy", [said(message), *DONE], code=255)
    assert run("--yes").exit_code == 1
    assert engine.commands.count("destroy") == attempts


def test_credentials_that_run_out_end_with_the_next_step(engine: ScriptedEngine) -> None:
    engine.answers("destroy", [said("api error ExpiredTokenException: expired"), *DONE], code=255)
    assert "`igz-clusters recover test`" in refusal("--yes").hint


def test_whoever_says_no_to_the_plan_ends_there(engine: ScriptedEngine) -> None:
    engine.answers("destroy", PLANNED, code=1)
    assert run().exit_code == 1
    assert engine.commands.count("destroy") == 1


def test_a_stack_without_a_cluster_needs_no_way_into_one(engine: ScriptedEngine) -> None:
    engine.has({"resources": [each for each in exported(NO_DATA)["resources"] if "eks" not in each["type"]]})
    assert run("--yes").exit_code == 0
    assert kubectl_calls(engine) == []


@pytest.mark.parametrize("code", [0, 255])
def test_what_is_left_in_the_cloud_is_listed_with_the_way_to_delete_it(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    engine.answers("destroy", DONE, code=code)
    volume = CloudResource("aws:ebs/volume:Volume", "vol-1", "", "", "look", "aws ec2 delete-volume --volume-id vol-1")
    monkeypatch.setattr(CloudRun, "left", lambda _: [volume])
    done = run("--yes")
    assert done.exit_code == bool(code)
    assert "- Volume vol-1\n  aws ec2 delete-volume" in done.stderr


def test_a_cloud_that_cannot_be_asked_in_the_end_is_no_failure_of_the_destroy(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(_: CloudRun) -> list[str]:
        raise UserError("No AWS credentials found.")

    monkeypatch.setattr(CloudRun, "left", cannot)
    done = run("--yes")
    assert done.exit_code == 0
    assert "Cannot check what is left: No AWS credentials found" in done.stderr


def test_a_stack_file_of_an_earlier_release_is_destroyed_once_its_refused_values_are_replaced(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    choose(tmp_path, namespaces={f"team-{number}": {} for number in range(201)})
    refused = refusal("--yes")
    assert "namespaces: has 201 entries, at most 200 are allowed" in refused.message
    assert refused.hint == (
        "`destroy` deletes what the state has and applies nothing: put any allowed values in place of these, but "
        "keep the cluster's kind, name, region and account."
    )
    choose(tmp_path, namespaces={"team-0": {}})
    engine.has({"resources": [each for each in exported(NO_DATA)["resources"] if "eks" not in each["type"]]})
    assert run("--yes").exit_code == 0
    (destroyed,) = (call for call in engine.calls if call[0] == "destroy" and "--preview-only" not in call)
    assert destroyed == ["destroy", "--yes"], "no --run-program: the program with the file's settings does not run"


@pytest.mark.usefixtures("engine")
def test_recover_says_that_a_refused_stack_file_keeps_it_from_the_cloud(tmp_path: Path) -> None:
    choose(tmp_path, namespaces={f"team-{number}": {} for number in range(201)})
    done = CliRunner().invoke(app, ["recover", STACK, "--yes"])
    assert done.exit_code == 0, done.output
    assert "namespaces: has 201 entries" in done.stderr
    assert "Until the file is valid, only processes, locks and files on this machine are repaired." in done.stderr


def test_a_local_stack_has_no_claims_in_a_cloud() -> None:
    done = CliRunner().invoke(app, ["destroy", "local", "--delete-claims"])
    assert done.exit_code == 2
    assert "--delete-claims" in done.stderr


@WHAT_AN_INTERRUPT_LEFT
def test_after_an_interrupt_the_next_command_is_the_one_that_works(
    engine: ScriptedEngine, left: list[dict[str, Any]], advice: str
) -> None:
    engine.has(exported(NO_DATA), exported(NO_DATA), exported(NO_DATA) | {"pending_operations": left})
    engine.answers("destroy", DONE, code=8)
    done = run("--yes")
    assert done.exit_code == 130
    assert advice in done.stderr
    assert ("Stopped." in done.stderr) is not bool(left)
