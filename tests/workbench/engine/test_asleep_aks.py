"""A cluster on AKS that is stopped: by its hours, or by hand."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.aks import CLUSTER, CLUSTER_ID, config, document
from support.aks_state import STACK, exported, urn
from workbench import stacks
from workbench.cli import status as status_command
from workbench.cli.access import Access
from workbench.engine import asleep
from workbench.engine.asleep import sleep_blocker, sleep_in, sleep_of
from workbench.engine.clouds.aks.conditions import AksCondition, conditions
from workbench.engine.clouds.find import cloud_of
from workbench.engine.cluster_components import components_of_state
from workbench.engine.kubectl import Api
from workbench.engine.pool_status import Condition
from workbench.report import events
from workbench.review.drift import compared
from workbench.stacks import Stack
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

HOURS = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
CHANGES: dict[str, Any] = {
    "cluster.officeHours": HOURS,
    "cluster.maintenance": {"day": "monday", "startHour": 9, "hours": 4},
    "pools.data": None,
}
NIGHT = datetime(2026, 11, 25, 22, tzinfo=UTC)
NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
STOPPED = {urn(CLUSTER, "test-cluster"): AksCondition("Succeeded", sleeps=True)}


def aks_stack(changes: dict[str, Any], folder: Path = Path()) -> Stack:
    return Stack(STACK, folder / f"Pulumi.{STACK}.yaml", {}, config(changes))


@pytest.mark.parametrize(
    ("state", "code", "sleeps"),
    [
        ("Succeeded", "Running", False),
        ("Succeeded", "Stopped", True),
        ("Stopping", "Running", True),
        ("Starting", "Stopped", True),
        ("Starting", "Running", True),
        ("Updating", "Running", False),
    ],
)
def test_aks_says_that_a_cluster_is_stopped_or_about_to_be(state: str, code: str, *, sleeps: bool) -> None:
    parts = components_of_state(exported())

    def look_up(_: str, id_: str) -> dict[str, Any]:
        if id_ != CLUSTER_ID:
            return {"properties": {"provisioningState": "Succeeded", "powerState": {"code": "Running"}}}
        return {"properties": {"provisioningState": state, "powerState": {"code": code}}}

    found = conditions(parts, CLUSTER_ID, look_up)
    assert [str(part) for part in parts if found[part.key].sleeps] == ["cluster research"] * sleeps


@pytest.mark.parametrize(
    ("changes", "at", "place", "words"),
    [
        (CHANGES, NIGHT, "cluster.officeHours", "sleeps by cluster.officeHours (monday to friday 08:00-19:00 UTC)"),
        (CHANGES, NOON, "cluster.officeHours", "open: its schedule did not run, or it was stopped by hand"),
        ({}, NIGHT, "cluster", "is stopped, and the stack file has no cluster.officeHours: it was stopped by hand"),
    ],
)
def test_a_stopped_cluster_is_not_changed_and_the_refusal_starts_it(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], at: datetime, place: str, words: str
) -> None:
    monkeypatch.setattr(asleep, "now", lambda: at)
    cloud, parts = cloud_of(STACK, config(changes)), components_of_state(exported())
    sleep = sleep_of(cloud, parts, STOPPED)
    assert sleep
    text = str(sleep_blocker(cloud, parts, sleep))
    assert f"{place}: " in text
    assert words in text
    assert "`az aks start --resource-group research --name research`" in text


def test_only_clusters_with_hours_cost_a_query() -> None:
    def never(_: Any) -> Any:
        raise AssertionError("the cloud was asked")

    assert sleep_in(cloud_of(STACK, config()), exported(), never) is None
    assert sleep_in(cloud_of(STACK, config(CHANGES)), {}, never) is None


@pytest.mark.parametrize(
    ("changes", "conditions", "condition"),
    [
        (CHANGES, STOPPED, Condition.ASLEEP),
        (CHANGES, {}, Condition.UNREACHABLE),
        ({}, STOPPED, Condition.UNREACHABLE),
    ],
)
def test_a_status_tells_a_stopped_cluster_from_one_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], conditions: Any, condition: Condition
) -> None:
    def refused(*_: str) -> str:
        raise UserError("The cluster does not answer: connection refused")

    monkeypatch.setattr(asleep, "now", lambda: NIGHT)
    monkeypatch.setattr(Api, "run", refused)
    account = SimpleNamespace(conditions=lambda _: conditions)
    monkeypatch.setattr("workbench.recovery.cloud.open_account", lambda *_: account)
    entered = Access(Condition.UP, "", exported(), Api(Path("kubectl"), None, {}))
    found = status_command.status_of(aks_stack(changes), entered=entered)
    assert found.condition is condition
    assert ("sleeps by" in found.note) == (condition is Condition.ASLEEP)


def test_without_credentials_a_silent_cluster_is_one_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise UserError("No Azure credentials found")

    monkeypatch.setattr(Api, "run", refused)
    monkeypatch.setattr("workbench.recovery.cloud.open_account", refused)
    entered = Access(Condition.UP, "", exported(), Api(Path("kubectl"), None, {}))
    assert status_command.status_of(aks_stack(CHANGES), entered=entered).condition is Condition.UNREACHABLE


@pytest.mark.parametrize(
    ("conditions", "skips", "note"),
    [(STOPPED, "true", "Objects in it are not compared."), ({}, "false", "")],
)
def test_drift_leaves_out_what_is_in_a_stopped_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conditions: Any, skips: str, note: str
) -> None:
    monkeypatch.setattr(asleep, "now", lambda: NIGHT)
    account = SimpleNamespace(conditions=lambda _: conditions)
    monkeypatch.setattr("workbench.recovery.cloud.open_account", lambda *_: account)
    (tmp_path / "state").write_text(json.dumps({"deployment": exported(CHANGES)}))
    program = tmp_path / "pulumi"
    program.write_text(
        f"""#!/bin/sh
cd {tmp_path}
case "$*" in
*export*) cat state ;;
*refresh*) echo "$PULUMI_K8S_SKIP_UPDATE_UNREACHABLE" >asked
  for last; do :; done; echo '{{"sequence":0,"timestamp":0,"preludeEvent":{{"config":{{}}}}}}' >"$last" ;;
esac
"""
    )
    program.chmod(0o700)
    (tmp_path / f"Pulumi.{STACK}.yaml").write_text(json.dumps({"config": {stacks.CONFIG_KEY: document(CHANGES)}}))
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    result = compared(stacks.find(STACK), Toolchain({"pulumi": program}))
    assert (tmp_path / "asked").read_text().strip() == skips
    said = events.read(result.events).config.get(events.NOT_COMPARED, "")
    assert said.endswith(note)
    assert bool(said) == bool(note)
