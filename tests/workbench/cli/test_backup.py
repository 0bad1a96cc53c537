"""`backup list` and `backup restore` around a stand-in for the cloud."""

import errno
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from support import aks, eks, existing
from workbench import stacks
from workbench.cli.app import app
from workbench.passport.evidence_files import restore_claim
from workbench.passport.model import Result as PassportResult
from workbench.recovery.cloud.recovery_point import RecoveryPoint
from workbench.recovery.cloud.restore_job import RestoreJob
from workbench.stacks import CONFIG_KEY
from workbench.system.errors import NoVerdictError, UserError
from workbench.system.paths import APP

NIGHT = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=20)
ROLE = "arn:aws:iam::111122223333:role/restore"
VOLUME = RecoveryPoint("snap-1", "vol-1", NIGHT, None, "COMPLETED", "vault")
WHOLE = RecoveryPoint("point-1", "research", NIGHT, NIGHT + timedelta(days=35), "COMPLETED", "vault", (VOLUME,))
PARTIAL = replace(WHOLE, id="point-2", made=NIGHT + timedelta(hours=1), state="PARTIAL", volumes=())

LATER = NIGHT + timedelta(hours=3)
RESTORE = RestoreJob("job-1", "vol-1", NIGHT, LATER, "COMPLETED", is_restored=True)


@dataclass
class Cloud:
    """Answers as an account does, and remembers what was to be restored."""

    points: list[RecoveryPoint] = field(default_factory=lambda: [WHOLE])
    jobs: list[RestoreJob] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None
    namespaces_max: int = 5
    restores_by_role: bool = True
    restores_partial: bool = False
    problem: str = ""

    def backup_problem(self) -> str:
        return self.problem

    def restore_jobs(self) -> list[RestoreJob]:
        return self.jobs

    def recovery_points(self) -> list[RecoveryPoint]:
        if self.error:
            raise self.error
        return self.points

    def restore_command(self, point: RecoveryPoint, role: str, *, namespaces: Sequence[str], zone: str) -> str:
        self.asked = {"point": point.id, "role": role, "namespaces": namespaces, "zone": zone}
        return f"aws backup start-restore-job --recovery-point-arn {point.id}"


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    found = Cloud()
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr("workbench.cli.backup.open_account", lambda *_: found)
    records(monkeypatch, {"backup": {"restoreRoleArn": ROLE}})
    choose(tmp_path, eks.document({"cluster.backup": {}}))
    return found


def records(patch: pytest.MonkeyPatch, cluster: dict[str, Any]) -> None:
    """Let the state say this about the cluster."""
    state = {"resources": [{"type": "pulumi:pulumi:Stack", "outputs": {"cluster": cluster}}]}
    patch.setattr("workbench.cli.backup.access", lambda *_, **__: SimpleNamespace(deployment=state))


def choose(folder: Path, document: dict[str, Any]) -> None:
    (folder / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document}}))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["backup", *arguments])


def refusal(*arguments: str) -> UserError:
    error = run(*arguments).exception
    assert isinstance(error, UserError), error
    return error


def test_backups_are_listed_with_their_volumes(cloud: Cloud) -> None:
    done = run("list", "test")
    assert done.exit_code == 0, done.output
    head, point, volume = done.stdout.splitlines()
    assert head == f"{NIGHT:%Y-%m-%d %H:%M} UTC  research  COMPLETED  kept until {NIGHT + timedelta(days=35):%Y-%m-%d}"
    assert (point, volume) == ("  point-1", "  vol-1: snap-1")


def test_restores_are_listed_below_the_backups(cloud: Cloud) -> None:
    cloud.jobs = [RESTORE, replace(RESTORE, id="job-2", ended=None, state="RUNNING", is_restored=False)]
    begun = f"{RESTORE.begun:%Y-%m-%d %H:%M} UTC  restore of vol-1"
    assert run("list", "test").stdout.splitlines()[3:] == [
        f"{begun}  COMPLETED",
        "  job-1",
        f"{begun}  RUNNING",
        "  job-2",
    ]


def test_scripts_get_them_as_json(cloud: Cloud) -> None:
    cloud.jobs = [RESTORE]
    told = json.loads(run("list", "test", "--json").stdout)
    assert told["problem"] == ""
    (backup,) = told["backups"]
    assert (backup["id"], backup["until"]) == ("point-1", (NIGHT + timedelta(days=35)).isoformat())
    assert backup["volumes"][0]["until"] is None
    (restored,) = told["restores"]
    assert (restored["of"], restored["state"], restored["isRestored"]) == ("vol-1", "COMPLETED", True)
    assert restored["ended"] == LATER.isoformat()


def test_the_json_is_evidence_for_a_passport(cloud: Cloud, tmp_path: Path) -> None:
    cloud.jobs, file = [RESTORE], tmp_path / "backups.json"
    file.write_text(run("list", "test", "--json").stdout)
    claim = restore_claim(file, stacks.find("test"), version(APP))
    assert (claim.result, claim.evidence[0].at) == (PassportResult.PASSED, LATER)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "There is no complete backup yet; they begin at 02:00 UTC."),
        ([PARTIAL], "There is no complete backup yet; they begin at 02:00 UTC."),
        ([PARTIAL, replace(WHOLE, made=NIGHT - timedelta(days=2))], "The newest complete backup is of"),
    ],
)
def test_a_cluster_without_a_young_whole_backup_is_a_problem(
    cloud: Cloud, points: list[RecoveryPoint], said: str
) -> None:
    cloud.points = points
    done = run("list", "test")
    assert done.exit_code == 1
    assert said in done.stderr
    assert done.stdout.count("point-") == len(points)


def test_a_cloud_that_makes_no_backups_is_a_problem_though_the_last_one_is_young(cloud: Cloud) -> None:
    cloud.problem = "Azure makes no backups of the cluster."
    done = run("list", "test")
    assert (done.exit_code, done.stderr) == (1, "Azure makes no backups of the cluster.\n")


def test_backups_that_nothing_asks_for_any_more_are_listed(cloud: Cloud, tmp_path: Path) -> None:
    choose(tmp_path, eks.document())
    done = run("list", "test")
    assert (done.exit_code, "point-1" in done.stdout) == (1, True)
    assert "asks for no backups: add `backup: {}`" in done.stderr


@pytest.mark.parametrize(
    "error", [UserError("AWS cannot be asked.", "Log in."), OSError(errno.ENOSPC, "No space left on device")]
)
def test_a_cloud_that_cannot_be_asked_is_no_verdict(cloud: Cloud, error: Exception) -> None:
    cloud.error = error
    assert isinstance(refusal("list", "test"), NoVerdictError)


def test_a_kind_of_cluster_without_backups_is_refused(cloud: Cloud, tmp_path: Path) -> None:
    choose(tmp_path, existing.document())
    for words in (("list", "test"), ("restore", "test", "point-1")):
        assert refusal(*words).message.startswith("'test' is a cluster of kind 'existing', of which")


def test_a_cloud_that_restores_by_its_own_identities_needs_no_role(cloud: Cloud, tmp_path: Path) -> None:
    choose(tmp_path, aks.document({"cluster.backup": {}}))
    cloud.restores_by_role, cloud.namespaces_max = False, 800
    six = [word for name in "abcdef" for word in ("--namespace", name)]
    assert run("restore", "test", "point-1", *six).exit_code == 0
    assert (cloud.asked["role"], cloud.asked["namespaces"]) == ("", list("abcdef"))


def test_a_partial_backup_is_restored_where_the_cloud_does_that_and_said_to_be_one(cloud: Cloud) -> None:
    cloud.restores_partial, cloud.points = True, [PARTIAL]
    done = run("restore", "test", "point-2")
    assert (done.exit_code, done.stderr) == (0, "note: the backup is PARTIAL: it lacks volumes or objects.\n")
    cloud.points = [replace(PARTIAL, state="FAILED")]
    assert "the backup is FAILED" in refusal("restore", "test", "point-2").message


def test_a_restore_is_printed_and_not_started(cloud: Cloud) -> None:
    done = run("restore", "test", "point-1", "--namespace", "mlrun", "--namespace", "jobs")
    assert done.stdout == "aws backup start-restore-job --recovery-point-arn point-1\n"
    assert cloud.asked == {"point": "point-1", "role": ROLE, "namespaces": ["mlrun", "jobs"], "zone": ""}
    assert run("restore", "test", "snap-1", "--zone", "b").exit_code == 0
    assert cloud.asked == {"point": "snap-1", "role": ROLE, "namespaces": [], "zone": "b"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["point-9"], ["'test' has no backup point-9."]),
        (["point-2"], ["the backup is PARTIAL; only a COMPLETED one can be restored"]),
        (
            ["point-2", "--namespace", "a", "--namespace", "a", "--zone", "b"],
            ["the backup is PARTIAL", "--namespace: names a namespace twice", "--zone: is for a volume"],
        ),
        (["point-1", *(word for name in "abcdef" for word in ("--namespace", name))], ["given 6, at most 5"]),
        (
            ["snap-1", "--namespace", "mlrun", "--zone", "x"],
            [
                "--namespace: is for the backup of a cluster",
                "--zone: 'x' is not a zone of the cluster; allowed: a, b, c",
            ],
        ),
    ],
)
def test_what_the_cloud_would_refuse_is_refused_all_at_once(cloud: Cloud, words: list[str], said: list[str]) -> None:
    cloud.points = [PARTIAL, WHOLE]
    message = refusal("restore", "test", *words).message
    assert [line for line, wanted in zip(message.splitlines(), said, strict=True) if wanted not in line] == []
    assert cloud.asked == {}


def test_a_restore_needs_the_role_that_an_up_recorded(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    records(monkeypatch, {})
    refused = refusal("restore", "test", "point-1")
    assert refused.message == "The state of 'test' records no role for restores."
    assert "igz-clusters up test" in refused.hint
