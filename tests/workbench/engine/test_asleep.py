"""A cluster that sleeps outside its office hours is distinguished from one that failed, and is not changed."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.contract.hours import OfficeHours
from support.cloud_commands import choose, refusal, run, scripted
from support.eks import NODE_GROUP, config
from support.eks_state import STACK, exported, urn
from support.scripted_engine import PLANNED, ScriptedEngine, step
from workbench.cli.access import Access
from workbench.cli.cloud_run import CloudRun
from workbench.cli.status import status_of
from workbench.engine import asleep, pool_status
from workbench.engine.clouds.eks.conditions import EksCondition, conditions
from workbench.engine.cluster_components import components_of_state
from workbench.engine.kubectl import Api
from workbench.engine.pool_status import Condition, Live, Status, rested
from workbench.stacks import Stack
from workbench.system.errors import UserError

HOURS = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
CHANGES: dict[str, Any] = {"cluster.officeHours": HOURS, "pools.data": None}
NIGHT = datetime(2026, 11, 25, 22, tzinfo=UTC)
NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
EARLY = datetime(2026, 11, 25, 8, 15, tzinfo=UTC)
EMPTY = {urn(NODE_GROUP, "test-initial"): EksCondition("ACTIVE", sleeps=True)}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    found = scripted(tmp_path, monkeypatch)
    choose(tmp_path, cluster__officeHours=HOURS, pools__data=None)
    found.has(exported(CHANGES))
    return found


def sleeps(monkeypatch: pytest.MonkeyPatch, moment: datetime = NIGHT) -> None:
    monkeypatch.setattr(CloudRun, "ask", lambda *_: EMPTY)
    monkeypatch.setattr(asleep, "now", lambda: moment)


@pytest.mark.parametrize("command", ["up", "destroy"])
def test_a_sleeping_cluster_is_not_changed_and_the_refusal_wakes_it(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    sleeps(monkeypatch)
    error = refusal(command, STACK, "--yes")
    assert "sleeps by cluster.officeHours (monday to friday 08:00-19:00 UTC) until 2026-11-26 08:00 UTC" in str(error)
    commands = [part for part in str(error).split("`") if part.startswith("aws eks update-nodegroup-config")]
    assert [part.split()[6].rpartition("-")[0] for part in commands] == ["test-initial", "test-workload"]
    assert "minSize=3,maxSize=3,desiredSize=3" in commands[0]
    assert "minSize=1,maxSize=10,desiredSize=1" in commands[1]
    assert engine.commands == ["export"]


def test_a_cluster_that_has_just_begun_to_wake_is_no_outage(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeps(monkeypatch, EARLY)
    assert "wakes by cluster.officeHours (monday to friday 08:00-19:00 UTC) since 2026-11-25 08:00 UTC" in str(
        refusal("up", STACK, "--yes")
    )


def test_a_cluster_without_nodes_at_noon_is_refused_as_an_outage(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeps(monkeypatch, NOON)
    assert "say that it is open: its schedule did not run" in str(refusal("up", STACK, "--yes"))
    assert engine.commands == ["export"]


def test_a_preview_of_a_sleeping_cluster_succeeds_with_a_note(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeps(monkeypatch)
    initial = next(each for each in exported(CHANGES)["resources"] if each["urn"] in EMPTY)
    engine.answers("preview", [step("update", initial["urn"], initial), *PLANNED])
    done = run("preview", STACK)
    assert done.exit_code == 0, done.output
    assert "note: The cluster sleeps" in done.stderr


@pytest.mark.parametrize(
    ("at", "is_late"), [(NIGHT, False), (NOON, False), (datetime(2026, 11, 25, 18, 1, tzinfo=UTC), True)]
)
def test_an_awake_cluster_with_hours_is_updated_with_a_note_in_the_last_hour(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, at: datetime, *, is_late: bool
) -> None:
    monkeypatch.setattr(asleep, "now", lambda: at)
    done = run("up", STACK, "--yes")
    assert done.exit_code == 0
    assert "up" in engine.commands
    assert ("note: The hours of the cluster end within an hour" in done.stderr) == is_late


def test_eks_says_that_a_group_has_no_nodes() -> None:
    parts = components_of_state(exported(CHANGES))

    def look_up(_: str, operation: str, **given: Any) -> dict[str, Any]:
        size = 0 if "initial" in given.get("nodegroupName", "") else 2
        body = {"status": "ACTIVE", "scalingConfig": {"desiredSize": size}}
        return {"nodegroup": body} if operation == "describe_nodegroup" else {}

    found = conditions(parts, look_up)
    assert [str(part.logical_name) for part in parts if found[part.key].sleeps] == ["test-initial"]


@pytest.mark.parametrize(
    ("when", "nodes", "condition"),
    [
        (NIGHT, {}, Condition.ASLEEP),
        (EARLY, {}, Condition.ASLEEP),  # its machines start
        (NOON, {}, Condition.OVERSLEPT),
        (NIGHT, {"initial": 3}, Condition.UP),
        (NIGHT, {"workload": 1}, Condition.ASLEEP),
    ],
)
def test_a_status_is_asleep_without_an_initial_node(
    monkeypatch: pytest.MonkeyPatch, when: datetime, nodes: dict[str, int], condition: Condition
) -> None:
    monkeypatch.setattr(pool_status, "now", lambda: when)
    recorded = pool_status.declared_groups(config(CHANGES))
    found = Status("test", "dev", "eks", Condition.UP, "", {}, recorded, Live(nodes))
    assert rested(found, OfficeHours.model_validate(HOURS)).condition is condition
    assert rested(found, None).condition is Condition.UP


def test_a_silent_api_that_never_sleeps_costs_no_query(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: str) -> str:
        raise UserError("The cluster does not answer: i/o timeout")

    asked: list[object] = []

    def account(*given: object) -> SimpleNamespace:
        asked.append(given)
        return SimpleNamespace(conditions=lambda _: EMPTY)

    monkeypatch.setattr(asleep, "now", lambda: NIGHT)
    monkeypatch.setattr(Api, "run", refused)
    monkeypatch.setattr("workbench.recovery.cloud.open_account", account)
    entered = Access(Condition.UP, "", exported(CHANGES), Api(Path("kubectl"), None, {}))
    stack = Stack(STACK, Path(f"Pulumi.{STACK}.yaml"), {}, config(CHANGES))
    found = status_of(stack, entered=entered)
    assert (found.condition, found.note) == (Condition.UNREACHABLE, "The cluster does not answer: i/o timeout")
    assert not asked
