"""A plan that changes nothing, for a program and choices that were updated before, needs no update."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.scripted_engine import PLANNED
from workbench import stacks
from workbench.engine.unchanged import changes_nothing, is_as_updated, noting_update
from workbench.report.events import Stream, read
from workbench.stacks import Stack
from workbench.system.paths import PROJECT_ROOT

URN = "urn:pulumi:local::igz-clusters::kubernetes:core/v1:Node::initial-0"
STATE = {"urn": URN, "custom": True, "protect": False, "inputs": {"a": 1}, "outputs": {"a": 1, "b": 2}}


def step(kind: str = "resOutputsEvent", op: str = "same", old: Any = STATE, **new: Any) -> dict[str, Any]:
    after = {**STATE, **new}
    return {kind: {"metadata": {"op": op, "urn": URN, "type": URN.split("::")[2], "old": old, "new": after}}}


def stream(*events: dict[str, Any]) -> Stream:
    lines = [json.dumps({"sequence": n, "timestamp": 1, **event}) for n, event in enumerate([*events, *PLANNED])]
    found = read("".join(f"{line}\n" for line in lines).encode())
    assert found.invalid_lines == []
    return found


def test_a_plan_that_leaves_everything_changes_nothing() -> None:
    assert changes_nothing(stream(step("resourcePreEvent", outputs={}), step(op="refresh", outputs={"a": 2}), step()))


@pytest.mark.parametrize(
    "change",
    [
        step(op="update"),
        step("resourcePreEvent", op="create", old=None),
        {"resOutputsEvent": {"metadata": {**step(op="refresh")["resOutputsEvent"]["metadata"], "new": None}}},
        step(outputs={"a": 1}),
        step(inputs={"a": 2}),
        step(protect=True),
        step("resOpFailedEvent"),
    ],
    ids=["an update", "a new resource", "a lost object", "an output", "an input", "the protection", "a failure"],
)
def test_a_plan_that_changes_anything_is_carried_out(change: dict[str, Any]) -> None:
    assert not changes_nothing(stream(step(), change))


def test_a_plan_that_is_not_whole_is_carried_out() -> None:
    assert not changes_nothing(read(b""))


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "Pulumi.local.yaml").write_text((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    return stacks.read(tmp_path / "Pulumi.local.yaml")


def test_only_a_finished_update_of_the_same_program_and_choices_counts(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert not is_as_updated(stack)
    with noting_update(stack):
        assert not is_as_updated(stack)
    assert is_as_updated(stack)
    stack.file.write_text(stack.file.read_text().replace("max: 10", "max: 11"))
    assert not is_as_updated(stacks.read(stack.file))
    for name in ("infra", "components", "requirements.txt", "Pulumi.yaml"):
        (tmp_path / name).mkdir() if "." not in name else (tmp_path / name).touch()
    monkeypatch.setattr("workbench.engine.unchanged.PROJECT_ROOT", tmp_path)
    assert not is_as_updated(stack)


@pytest.fixture
def component(stack: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the source of a program that the stack was updated with."""
    for name in ("infra", "components"):
        (tmp_path / name).mkdir()
    for name in ("requirements.txt", "Pulumi.yaml", "components/network.py"):
        (tmp_path / name).touch()
    monkeypatch.setattr("workbench.engine.unchanged.PROJECT_ROOT", tmp_path)
    with noting_update(stack):
        pass
    return tmp_path / "components" / "network.py"


def test_an_edit_during_an_update_is_not_noted_as_applied(stack: Stack, component: Path) -> None:
    with noting_update(stack):
        component.write_text("edited")
    assert not is_as_updated(stack)
    component.write_text("")
    assert is_as_updated(stack)


def test_a_failed_update_is_not_noted(stack: Stack, component: Path) -> None:
    component.write_text("edited")
    with pytest.raises(KeyError), noting_update(stack):
        raise KeyError
    component.write_text("")
    assert not is_as_updated(stack)


def test_a_source_that_vanishes_while_it_is_read_does_not_fail_the_update(
    stack: Stack, component: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Path, "is_file", lambda file: file.exists() or file.is_symlink())
        (component.parent / "vanished").symlink_to("nowhere")
        with noting_update(stack):
            (component.parent / "vanished").unlink()
    assert not is_as_updated(stack)
    with noting_update(stack):
        pass
    assert is_as_updated(stack)
