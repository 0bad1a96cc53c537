"""`igz-clusters passport`: made, shown and compared, around stand-ins for the cluster and the check."""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from infra.config.effective import SETTINGS_DIGEST
from support import existing
from support.passports import CHECKED, sight
from support.verification import Objects, site
from workbench import stacks
from workbench.cli.access import Access
from workbench.cli.app import app
from workbench.engine.kubectl import Api
from workbench.engine.pool_status import Condition
from workbench.passport import keys, origin
from workbench.stacks import CONFIG_KEY
from workbench.system.errors import NoVerdictError, UserError

QUOTA = ("ResourceQuota", "mlrun", "no-system-priority")


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a committed stack file and a key, around a clean cluster."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.delenv(keys.PASSPHRASE, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: existing.document()}}))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "Pulumi.test.yaml")
    git(tmp_path, "commit", "--quiet", "--message=stack")
    monkeypatch.setattr("workbench.cli.passport.origin_of", lambda stack: origin.origin_of(stack, tmp_path / "no"))
    installed(monkeypatch)
    monkeypatch.setattr("workbench.engine.check.check", lambda _: CHECKED)
    assert run("key", "--output", "key.pem").exit_code == 0
    holds(monkeypatch)
    return tmp_path


def installed(monkeypatch: pytest.MonkeyPatch, recorded: Mapping[str, Any] | None = {}) -> None:
    """Let this package be installed from a wheel of which pip recorded this; None: let it be a folder."""
    monkeypatch.setattr(origin, "is_from_wheel", lambda: recorded is not None)
    monkeypatch.setattr(origin, "recorded_origin", lambda _: recorded)
    monkeypatch.setattr(origin, "altered", lambda _: [])


def holds(monkeypatch: pytest.MonkeyPatch, plant: Callable[[Objects], object] = lambda _: None) -> None:
    """Let the cluster of the stack be what ``plant`` makes of a clean one."""
    up = Access(Condition.UP, deployment=site("existing").contract.deployment, api=Api(Path("kubectl"), None, {}))
    monkeypatch.setattr("workbench.cli.passport.access", lambda *_, **__: up)
    monkeypatch.setattr("workbench.cli.passport.read_cluster", lambda *_: sight("existing", plant))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["passport", *arguments])


def made(*options: str) -> Result:
    done = run("make", "test", "--key", "key.pem", *options)
    assert done.exit_code == 0, done.output
    return done


def verified(*options: str) -> Result:
    return run("verify", "test", "passport.json", "--public-key", "key.pub", *options)


def refusal(done: Result) -> str:
    assert isinstance(done.exception, UserError), done.output
    assert done.exception.exit_code == 1
    return str(done.exception)


def less_quota(objects: Objects) -> None:
    objects[QUOTA]["spec"]["hard"]["pods"] = "5"


def test_a_passport_of_a_cluster_that_stays_verifies(folder: Path) -> None:
    done = made("--page", "passport.html")
    assert done.stdout.startswith("test: ")
    assert f"commit {git(folder, 'rev-parse', 'HEAD')}; cluster " in done.stdout
    assert (folder / "passport.html").read_text().startswith("<!doctype html>")
    again = verified()
    assert (again.exit_code, again.stdout.splitlines()[0][:30]) == (0, "test: no differences since 202")


def test_a_change_ends_with_1_and_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made()
    holds(monkeypatch, less_quota)
    done = verified()
    assert done.exit_code == 1
    assert done.stdout.startswith("test: 1 difference since ")
    assert done.stdout.endswith("\nResourceQuota mlrun/no-system-priority, spec.hard.pods\n  then: 0\n  now: 5\n")
    found: dict[str, Any] = json.loads(verified("--json").stdout)
    where = "ResourceQuota mlrun/no-system-priority, spec.hard.pods"
    assert found["differences"] == [{"where": where, "then": "0", "now": "5"}]
    assert found["result"] == "differs"


def test_another_stack_file_is_a_difference(folder: Path) -> None:
    made()
    document = existing.document({"pools.workload.labels": {"team": "b"}})
    (folder / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document}}))
    done = verified()
    assert done.exit_code == 1
    assert "\nPulumi.test.yaml, settings\n  then: sha256:" in done.stdout


def test_another_base_is_a_difference_and_is_named(folder: Path) -> None:
    made()
    settings = {"base": "acme", **existing.document()}
    (folder / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: settings}}))
    layer = {"settings": {"pools": {"workload": {"labels": {"team": "b"}}}}}
    (folder / "Base.acme.yaml").write_text(json.dumps({"schemaVersion": 1, "layers": [layer]}))
    assert "\nPulumi.test.yaml with Base.acme.yaml, settings\n" in verified().stdout


def test_the_passport_of_another_stack_is_refused(folder: Path) -> None:
    made()
    (folder / "Pulumi.other.yaml").write_text((folder / "Pulumi.test.yaml").read_text())
    done = run("verify", "other", "passport.json", "--public-key", "key.pub")
    assert refusal(done) == "passport.json is the passport of 'test', not of 'other'."


def test_a_forged_passport_is_refused(folder: Path) -> None:
    made()
    file = folder / "passport.json"
    envelope = json.loads(file.read_text())
    envelope["payload"] = envelope["payload"][:-8] + "AAAA" + envelope["payload"][-4:]
    file.write_text(json.dumps(envelope))
    text = refusal(verified())
    assert text.startswith("passport.json: refused. The signature is not of this key, or the passport was changed")


def test_a_passport_of_another_key_is_refused(folder: Path) -> None:
    made()
    run("key", "--output", "other.pem")
    done = run("show", "passport.json", "--public-key", "other.pub")
    assert "The signature is not of this key" in refusal(done)


def test_a_passport_cannot_be_trusted_without_a_key_from_elsewhere(folder: Path) -> None:
    made()
    assert run("verify", "test", "passport.json").exit_code == 2
    assert run("show", "passport.json").exit_code == 2


def test_an_expired_passport_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made("--days", "1")

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override] # no instance of ours is needed
            return datetime.now(tz) + timedelta(days=1)

    monkeypatch.setattr("workbench.cli.passport.datetime", Later)
    assert "The passport expired on " in refusal(verified())


def test_an_unsigned_statement_is_no_passport(folder: Path) -> None:
    assert run("make", "test", "--unsigned").exit_code == 0
    statement = json.loads((folder / "passport.json").read_text())
    assert statement["predicateType"] == "https://igz-clusters.io/passport/v1"
    assert "It is not a signed passport" in refusal(verified())
    assert refusal(run("make", "test", "--key", "key.pem", "--unsigned")).startswith("--unsigned and --key cannot be")


def test_show_needs_no_cluster_and_no_stack_file(folder: Path) -> None:
    made()
    (folder / "Pulumi.test.yaml").unlink()
    done = run("show", "passport.json", "--public-key", "key.pub", "--page", "again.html")
    assert done.exit_code == 0, done.output
    assert (folder / "again.html").exists()
    shown = json.loads(run("show", "passport.json", "--public-key", "key.pub", "--json").stdout)
    assert shown["stack"]["name"] == "test"


def test_a_failed_claim_is_shown_and_the_passport_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holds(monkeypatch, lambda objects: objects.pop(("NetworkPolicy", "mlrun", "default-deny")))
    done = made()
    assert "failed: contract/network-isolation: User namespaces deny network traffic by default\n" in done.stdout


def test_changes_that_are_not_committed_are_refused_or_said(folder: Path) -> None:
    file = folder / "Pulumi.test.yaml"
    file.write_text(f"{file.read_text()}\n")
    text = refusal(run("make", "test", "--key", "key.pem"))
    assert text.startswith(
        "Pulumi.test.yaml has changes that are not committed.\nCommit it, install the package again, or add --allow"
    )
    assert "plus uncommitted or altered files" in made("--allow-dirty").stdout


def test_a_passport_with_uncommitted_changes_says_so_when_it_verifies(folder: Path) -> None:
    file = folder / "Pulumi.test.yaml"
    file.write_text(f"{file.read_text()}\n")
    made("--allow-dirty")
    assert "note: the passport was made of uncommitted or altered files" in verified().stderr
    assert json.loads(verified("--json").stdout)["isClean"] is False


@pytest.mark.parametrize("key", ["", ".", "/"])
def test_a_key_that_is_no_file_is_refused(key: str, folder: Path) -> None:
    assert "does not name a file" in refusal(run("make", "test", "--key", key))


def test_an_installed_package_that_was_edited_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, {})
    monkeypatch.setattr(origin, "git", lambda *_: None)
    monkeypatch.setattr(origin, "altered", lambda _: ["policies/a.py"])
    assert "policies/a.py of this package is not as it was installed." in refusal(
        run("make", "test", "--key", "key.pem")
    )


def test_deleted_overrides_are_a_change_that_is_not_committed(folder: Path) -> None:
    overrides = folder / "policies" / "overrides.yaml"
    overrides.parent.mkdir()
    overrides.write_text("waivers: []\n")
    git(folder, "add", "policies")
    git(folder, "commit", "--quiet", "--message=overrides")
    made()
    for gone in (overrides.unlink, overrides.parent.rmdir):
        gone()
        text = refusal(run("make", "test", "--key", "key.pem"))
        assert text.startswith("policies/overrides.yaml has changes that are not committed.\n")


def test_another_link_as_the_stack_file_is_a_change_that_is_not_committed(folder: Path) -> None:
    file = folder / "Pulumi.test.yaml"
    for name in ("a.yaml", "b.yaml"):
        (folder / name).write_text(file.read_text())
    file.unlink()
    file.symlink_to("a.yaml")
    git(folder, "add", "a.yaml", "b.yaml", "Pulumi.test.yaml")
    git(folder, "commit", "--quiet", "--message=links")
    made()
    file.unlink()
    file.symlink_to("b.yaml")
    text = refusal(run("make", "test", "--key", "key.pem"))
    assert text.startswith("Pulumi.test.yaml has changes that are not committed.\n")
    git(folder, "commit", "--quiet", "--all", "--message=another")
    (folder / "b.yaml").write_text(f"{file.read_text()}\n")
    assert refusal(run("make", "test", "--key", "key.pem")).startswith("b.yaml has changes that are not committed.\n")


def test_a_stack_file_that_no_commit_holds_is_refused(folder: Path) -> None:
    (folder / ".gitignore").write_text("Pulumi.mine.yaml\n")
    (folder / "Pulumi.mine.yaml").write_text((folder / "Pulumi.test.yaml").read_text())
    assert "Pulumi.mine.yaml has changes that are not committed." in refusal(run("make", "mine"))
    subprocess.run(["rm", "-rf", str(folder / ".git")], check=True)
    assert "Pulumi.test.yaml is in no Git commit." in refusal(run("make", "test"))


@pytest.mark.parametrize(
    ("key", "value"), [("pools.workload.labels", {"team": "b"}), ("policies", {"admission": "warn"})]
)
def test_a_stack_file_that_is_not_applied_is_refused(folder: Path, key: str, value: object) -> None:
    document = existing.document({key: value})
    (folder / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document}}))
    said = refusal(run("make", "test", "--key", "key.pem", "--allow-dirty"))
    assert said.startswith("`up` last ran with other settings of 'test': Pulumi.test.yaml was changed since, or a ")


def test_a_base_that_is_not_applied_is_refused_and_named(folder: Path) -> None:
    (folder / "Base.acme.yaml").write_text("schemaVersion: 1\nlayers: [{settings: {policies: {admission: warn}}}]\n")
    document = existing.document({"base": "acme"})
    (folder / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document}}))
    said = refusal(run("make", "test", "--key", "key.pem", "--allow-dirty"))
    assert ": Pulumi.test.yaml or Base.acme.yaml was changed since, or a release of this package with" in said


def test_an_up_of_a_release_that_recorded_no_settings_is_not_taken_for_one_with_these(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = sight("existing")
    [above, *rest] = seen.contract.deployment["resources"]
    outputs = {name: value for name, value in above["outputs"].items() if name != SETTINGS_DIGEST}
    deployment = {"resources": [{**above, "outputs": outputs}, *rest]}
    earlier = replace(seen, contract=replace(seen.contract, deployment=deployment))
    monkeypatch.setattr("workbench.cli.passport.read_cluster", lambda *_: earlier)
    assert "did not record its settings" in refusal(run("make", "test", "--key", "key.pem"))


def test_without_a_key_nothing_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.passport.access", lambda *_, **__: pytest.fail("the cluster was read"))
    assert "igz-clusters passport key" in refusal(run("make", "test"))


def test_a_cluster_that_cannot_be_read_has_no_verdict(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made()

    def refuse(*_: object, **__: object) -> Access:
        raise UserError("The cluster does not answer: timeout.")

    monkeypatch.setattr("workbench.cli.passport.access", refuse)
    assert isinstance(verified().exception, NoVerdictError)
    assert isinstance(run("make", "test", "--key", "key.pem").exception, NoVerdictError)


def test_a_cluster_that_sleeps_has_no_verdict(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asleep = SimpleNamespace(condition=Condition.ASLEEP, note="It wakes at 08:00.")
    monkeypatch.setattr("workbench.cli.passport.cloud_of", lambda *_: SimpleNamespace(hours=True))
    monkeypatch.setattr("workbench.cli.passport.status_of", lambda *_, **__: asleep)
    refused = run("make", "test", "--key", "key.pem").exception
    assert isinstance(refused, NoVerdictError)
    assert str(refused) == "The cluster of 'test' is asleep.\nIt wakes at 08:00."


def test_texts_of_others_do_not_reach_the_terminal_as_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made()

    def hostile(objects: Objects) -> None:
        objects[QUOTA]["spec"]["hard"]["pods"] = "\x1b[31m5"

    holds(monkeypatch, hostile)
    assert "\x1b" not in (said := verified().stdout)
    assert "now: \\x1b[31m5" in said


def test_a_file_that_cannot_be_written_is_named(folder: Path) -> None:
    done = run("make", "test", "--key", "key.pem", "--output", "no/passport.json")
    assert refusal(done).startswith("--output: no/passport.json cannot be written: No such file or directory.")


@pytest.mark.parametrize("option", ["--output", "--page"])
def test_a_folder_is_no_file_to_write(option: str, folder: Path) -> None:
    assert run("make", "test", "--key", "key.pem", option, ".").exit_code == 2
    assert run("key", "--output", ".").exit_code == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--output", "key.pem"),
        ("--output", "key.pub"),
        ("--page", "key.pem"),
        ("--page", "passport.json"),
        *[("--page", "e.json", evidence, "e.json") for evidence in ("--rehearsal", "--acceptance", "--backups")],
    ],
)
def test_no_file_of_a_new_passport_is_written_over(options: tuple[str, ...], folder: Path) -> None:
    before = [(folder / name).read_text() for name in ("key.pem", "key.pub")]
    assert f"{folder / options[1]} would be overwritten" in refusal(run("make", "test", "--key", "key.pem", *options))
    assert [(folder / name).read_text() for name in ("key.pem", "key.pub")] == before


@pytest.mark.parametrize("page", ["passport.json", "key.pub", "link"])
def test_a_page_is_not_written_over_the_passport_that_is_shown_or_its_key(page: str, folder: Path) -> None:
    made()
    (folder / "link").symlink_to("passport.json")
    done = run("show", "passport.json", "--public-key", "key.pub", "--page", page)
    assert "would be overwritten" in refusal(done)
    assert verified().exit_code == 0


def test_key_prints_the_public_key_alone(folder: Path) -> None:
    done = run("key", "--output", "second.pem")
    assert done.stdout == (folder / "second.pub").read_text()
    assert "PRIVATE" not in done.stdout


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        (None, "This package is in no Git commit."),
        ({"dir_info": {}}, "This package was installed from a folder, so its commit is not known."),
    ],
)
def test_a_package_that_may_be_edited_is_not_clean(
    folder: Path, monkeypatch: pytest.MonkeyPatch, recorded: Mapping[str, Any] | None, said: str
) -> None:
    installed(monkeypatch, recorded)
    assert said in refusal(run("make", "test"))


def test_the_commit_that_a_package_was_installed_from_is_in_the_passport(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, {"url": "https://example.com/x", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}})
    assert origin.origin_of(stacks.find("test"), folder / "no").package == "a" * 40
