"""`igz-clusters verify`: output and exit codes, around stand-ins for the cluster."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from support import eks
from support.verification import TAKEN, Objects, Site, site
from workbench import stacks
from workbench.cli.access import Access
from workbench.cli.app import app
from workbench.engine.kubectl import Api
from workbench.engine.live_objects import LiveObject
from workbench.engine.pool_status import Condition
from workbench.stacks import CONFIG_KEY
from workbench.system.errors import NoVerdictError, UserError
from workbench.verification.snapshot import Snapshot


@pytest.fixture(autouse=True)
def _stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: eks.document()}}))


def holds(monkeypatch: pytest.MonkeyPatch, clean: Site, objects: Objects) -> None:
    """Let the cluster of the stack hold objects."""
    up = Access(Condition.UP, deployment=clean.contract.deployment, api=Api(Path("kubectl"), None, {}))
    monkeypatch.setattr("workbench.cli.verify.access", lambda *_, **__: up)
    snapshot = Snapshot({key: LiveObject(each) for key, each in objects.items()}, taken=TAKEN)
    monkeypatch.setattr("workbench.cli.verify.take", lambda *_: snapshot)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["verify", "test", *arguments])


def without(*key: str) -> Objects:
    return {each: content for each, content in site("eks").objects.items() if each != key}


def test_a_clean_cluster_ends_with_0_and_says_what_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    holds(monkeypatch, site("eks"), site("eks").objects)
    done = run()
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("test: no deviations\n")
    assert "ok" in next(line for line in done.stdout.splitlines() if line.startswith("mlrun-settings "))


def test_a_deviation_ends_with_1_and_says_where_it_is_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    holds(monkeypatch, site("eks"), without("NetworkPolicy", "mlrun", "allow-dns"))
    done = run()
    assert done.exit_code == 1
    assert done.stdout.endswith(
        "\nobjects: NetworkPolicy mlrun/allow-dns\n"
        "  does not exist; expected an object of the stack\n"
        "  Run `igz-clusters up test`.\n"
    )


def test_what_is_not_installed_is_no_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    holds(monkeypatch, site("eks"), without("Pod", "mlrun", "mlrun-api-chief-1"))
    done = run()
    assert done.exit_code == 0
    assert "MLRun is not installed" in done.stdout


def test_json_is_for_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    holds(monkeypatch, site("eks"), without("NetworkPolicy", "mlrun", "allow-dns"))
    found: dict[str, Any] = json.loads(run("--json").stdout)
    (objects,) = (each for each in found["checks"] if each["id"] == "objects")
    assert (found["result"], objects["deviations"]) == (
        "deviations",
        [
            {
                "where": "NetworkPolicy mlrun/allow-dns",
                "problem": "does not exist",
                "expected": "an object of the stack",
                "action": "Run `igz-clusters up test`.",
            }
        ],
    )


def test_changes_of_the_stack_file_that_are_not_applied_are_noted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    changed = eks.document({"pools.workload.size.max": 11})
    (tmp_path / "Pulumi.test.yaml").write_text(json.dumps({"config": {CONFIG_KEY: changed}}))
    holds(monkeypatch, site("eks"), site("eks").objects)
    assert "note: `up` has not applied all changes of the stack file" in run().stdout


def test_a_cluster_that_cannot_be_read_is_no_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Access:
        raise UserError("The cluster does not answer: timeout.", "Look at the network.")

    monkeypatch.setattr("workbench.cli.verify.access", refuse)
    assert isinstance(run().exception, NoVerdictError)
    absent = Access(Condition.ABSENT, "`igz-clusters up test` creates it.")
    monkeypatch.setattr("workbench.cli.verify.access", lambda *_, **__: absent)
    refused = run().exception
    assert isinstance(refused, NoVerdictError)
    assert refused.exit_code == 3
    assert str(refused) == "The cluster of 'test': not created.\n`igz-clusters up test` creates it."
