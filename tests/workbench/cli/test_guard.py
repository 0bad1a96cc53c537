"""The guard around a stand-in for the engine: what stops a change, what is shown, and what goes on."""

import json
import stat
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer

from policies import waivers
from support.eks import NODE_GROUP, document
from workbench import stacks
from workbench.cli import stack as commands
from workbench.cli.guard import guard, refuse_losses
from workbench.engine import Session
from workbench.engine.cloud import cloud_session
from workbench.report import events as event_stream
from workbench.report.changes import Changed
from workbench.report.model import Change, Operation
from workbench.stacks import CONFIG_KEY
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

ROLE = {"labels": {"igz-clusters.io/role": "initial"}}
URN = f"urn:pulumi:mine::igz-clusters::{NODE_GROUP}::mine-initial"
STATE = {"type": NODE_GROUP, "urn": URN, "custom": True, "inputs": ROLE, "outputs": {}}
DELETED = {"op": "delete", "urn": URN, "type": NODE_GROUP, "old": STATE, "new": None}
SUMMARY = {"maybeCorrupt": False, "isPreview": True, "result": "succeeded", "resourceChanges": {}, "durationSeconds": 1}
APPROVAL = f"""\
approvals:
  - stack: mine
    resource: {NODE_GROUP}::mine-initial
    operation: delete
    reason: another name
    owner: ml-platform
    ticket: OPS-1
    expires: {{expires}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(waivers, "today", lambda: date(2026, 11, 21))
    (tmp_path / "policies").mkdir()
    return tmp_path


def session(folder: Path, policy_guard: str, *events: dict[str, Any], code: int = 0) -> Session:
    """Return a session whose engine writes ``events``, says something, and ends with ``code``."""
    choices = {**document(), "policyGuard": policy_guard}
    (folder / "Pulumi.mine.yaml").write_text(json.dumps({"config": {CONFIG_KEY: choices}}))
    lines = [json.dumps({"sequence": number, "timestamp": 1, **event}) for number, event in enumerate(events)]
    (folder / "stream").write_text("".join(f"{line}\n" for line in lines))
    program = folder / "pulumi"
    program.write_text(
        f'#!/bin/sh\necho "the engine planned"\nfor last; do :; done\ncp {folder}/stream "$last"\nexit {code}\n'
    )
    program.chmod(stat.S_IRWXU)
    return cloud_session(stacks.find("mine"), Toolchain({"pulumi": program}))


WHOLE = ({"resourcePreEvent": {"metadata": DELETED}}, {"summaryEvent": SUMMARY}, {"cancelEvent": {}})
HARMLESS = WHOLE[1:]


def test_what_nobody_approved_is_refused_with_the_row_that_would(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match="'mine' would lose protected resources without an approval") as caught:
        guard(session(folder, "required", *WHOLE), "up")
    assert "  expires: 2026-12-05" in caught.value.hint
    said = capsys.readouterr().err
    assert f"delete initial group mine-initial ({NODE_GROUP}): the nodes of the platform's core services" in said
    assert "the engine planned" not in said
    row = caught.value.hint.partition("reviewed:\n")[2]
    (folder / "policies" / "overrides.yaml").write_text(row)
    guard(session(folder, "required", *WHOLE), "up")  # the row as it was proposed approves it


@pytest.mark.parametrize(("expires", "passes"), [("2026-11-21", True), ("2026-11-20", False)])
def test_an_approval_holds_to_its_last_day_and_then_it_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], expires: str, passes: bool
) -> None:
    (folder / "policies" / "overrides.yaml").write_text(APPROVAL.format(expires=expires))
    if passes:
        guard(session(folder, "required", *WHOLE), "up")
        assert "the approval OPS-1 of ml-platform to delete" in capsys.readouterr().err
    else:
        with pytest.raises(UserError, match="would lose protected resources without an approval"):
            guard(session(folder, "required", *WHOLE), "up")
        assert "expired on 2026-11-20" in capsys.readouterr().err


def test_warn_shows_it_and_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guard(session(folder, "warn", *WHOLE), "destroy")
    said = capsys.readouterr().err
    assert "not approved" in said
    assert "policyGuard of 'mine' is 'warn': continuing." in said


def test_off_looks_at_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guard(session(folder, "off", *WHOLE, code=1), "up")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("policy_guard", ["required", "warn"])
def test_what_the_engine_cannot_plan_ends_with_what_it_said(
    folder: Path, capsys: pytest.CaptureFixture[str], policy_guard: str
) -> None:
    with pytest.raises(typer.Exit) as ended:
        guard(session(folder, policy_guard, *HARMLESS, code=255), "up")
    assert ended.value.exit_code == 1
    assert "the engine planned" in capsys.readouterr().err


@pytest.mark.parametrize("events", [(), WHOLE[:1], HARMLESS[:1]])
def test_a_plan_that_is_not_known_whole_is_refused(folder: Path, events: tuple[dict[str, Any], ...]) -> None:
    with pytest.raises(UserError, match="The plan of 'mine' is incomplete: ") as caught:
        guard(session(folder, "required", *events), "up")
    assert "--hermetic" in caught.value.hint


def test_a_change_that_loses_nothing_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guard(session(folder, "required", *HARMLESS), "up")
    assert capsys.readouterr().err.splitlines() == ["Checking what `up` would destroy."]


def test_what_is_lost_in_the_cluster_is_asked_for_like_any_other_loss(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = Change(Operation.DELETE, "urn:x", "kubernetes:core/v1:Node", "spot", carries_state="1 running pod (a/b)")

    lost = [Changed(change, "pool with running pods")]
    with pytest.raises(UserError) as caught:
        guard(session(folder, "required", *HARMLESS), "up", live_losses=lost)
    assert "delete pool with running pods spot" in capsys.readouterr().err
    (folder / "policies" / "overrides.yaml").write_text(caught.value.hint.partition("reviewed:\n")[2])
    guard(session(folder, "required", *HARMLESS), "up", live_losses=lost)
    guard(session(folder, "warn", *HARMLESS), "up", live_losses=lost)


def test_what_is_lost_in_the_cluster_is_announced_where_the_guard_is_off(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = Change(Operation.DELETE, "urn:x", "kubernetes:core/v1:Node", "spot", carries_state="1 running pod (a/b)")
    guard(session(folder, "off", code=1), "up", live_losses=[Changed(change, "pool with running pods")])
    assert "delete pool with running pods spot" in capsys.readouterr().err


def test_a_previewed_plan_is_refused_for_the_same_losses(folder: Path) -> None:
    previewed = partial(session, folder, "required", *WHOLE)
    unapproved = previewed()
    plan = event_stream.read((folder / "stream").read_bytes())
    with pytest.raises(UserError, match="would lose protected resources without an approval"):
        refuse_losses(unapproved, plan)
    (folder / "policies" / "overrides.yaml").write_text(APPROVAL.format(expires="2026-12-01"))
    refuse_losses(previewed(), plan)


@pytest.mark.parametrize("policy_guard", ["warn", "off"])
def test_approvals_can_be_required_for_one_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, policy_guard: str
) -> None:
    session(folder, policy_guard)
    seen = list[Any]()

    def up(stack: stacks.Stack, *_: str, **__: Any) -> None:
        seen.append(stack.config.policy_guard)

    def preview(stack: stacks.Stack, *_: str, judged: Any, **__: Any) -> int:
        seen.extend((stack.config.policy_guard, judged))
        return 0

    monkeypatch.setattr(commands.cloud, "up", up)
    monkeypatch.setattr(commands.cloud, "preview", preview)
    commands.up("mine", yes=True, require_approvals=True)
    commands.up("mine", yes=True)
    for required in (True, False):
        with pytest.raises(typer.Exit):
            commands.preview("mine", require_approvals=required)
    assert seen == ["required", policy_guard, "required", refuse_losses, policy_guard, None]
