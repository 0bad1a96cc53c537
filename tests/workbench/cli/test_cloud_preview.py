"""`preview` in a cloud around a stand-in for the engine: what an `up` would meet, without changing anything."""

from pathlib import Path

import pytest

from support.cloud_commands import KILLED, choose, refusal, run, scripted
from support.eks import NODE_GROUP
from support.eks_state import STACK, Live, exported
from support.scripted_engine import PLANNED, ScriptedEngine, said, step
from workbench.system.errors import UserError


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    return scripted(tmp_path, monkeypatch)


def test_a_preview_says_what_an_update_would_refuse_by_what_the_plan_starts_from(engine: ScriptedEngine) -> None:
    live: Live = {"test-workload": {"scalingConfig": {"minSize": 0, "maxSize": 9, "desiredSize": 0}}}
    olds = {each["urn"]: each for each in exported(live=live)["resources"] if each["urn"].endswith("-workload")}
    (old,) = (each for each in olds.values() if each["type"] == NODE_GROUP)
    cluster = next(
        each
        for each in exported()["resources"]
        if each["urn"].endswith("::test-cluster") and "eks/cluster:" in each["urn"]
    )
    plan = [step("same", each["urn"], each) for each in (cluster, old)]
    engine.answers("preview", [*plan, *PLANNED])
    done = run("preview", STACK)
    assert isinstance(done.exception, UserError)
    assert "has 0 nodes, and min would be 1" in done.exception.message
    assert "refresh" not in engine.commands


def test_a_preview_of_a_half_done_stack_says_so_and_goes_on(engine: ScriptedEngine) -> None:
    engine.has(exported() | {"pending_operations": KILLED})
    done = run("preview", STACK)
    assert done.exit_code == 0
    assert "note: The state of 'test' has pending operations: creating NodeGroup test-gpu." in done.stderr


def test_a_preview_that_fails_ends_as_the_engine_does(engine: ScriptedEngine) -> None:
    engine.answers("preview", [said("boom"), *PLANNED], code=255)
    assert run("preview", STACK).exit_code == 1


@pytest.mark.parametrize("command", ["preview", "up"])
def test_another_key_is_refused_before_a_plan_can_tell_how_to_unprotect_the_old_one(
    engine: ScriptedEngine, tmp_path: Path, command: str
) -> None:
    choose(
        tmp_path, cluster__secretsKeyArn="arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
    )
    refused = refusal(command, STACK, *(["--yes"] if command == "up" else []))
    assert "- cluster.secretsKeyArn: arn:aws:kms:" in refused.message
    assert "but the cluster has the stack's own key; EKS sets it when it creates the cluster" in refused.message
    assert set(engine.commands) <= {"export", "refresh"}
