"""What `up` says of namespaces that are half deleted."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.namespaces import wait_for_half_deleted
from workbench.engine.kubectl import Api
from workbench.system.errors import UserError

Listed = list[list[dict[str, Any]]]

API = Api(Path("kubectl"), None, {})
WANTED = ("mlrun", "data")
HELD = [
    {"type": "NamespaceDeletionContentFailure", "status": "False", "message": "All content deleted"},
    {"type": "NamespaceFinalizersRemaining", "status": "True", "message": "Finalizers remain: tests/held in 1 pod"},
]


def namespace(name: str, conditions: list[dict[str, str]] | None = None, *, is_going: bool = True) -> dict[str, Any]:
    metadata = {"name": name, **({"deletionTimestamp": "2026-11-22T00:00:00Z"} if is_going else {})}
    return {"metadata": metadata, "status": {"conditions": conditions} if conditions else {}}


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Listed:
    """What the API server lists, each time the next of it, the last for ever; a question takes a second."""
    answers: Listed = []
    seconds = count()
    monkeypatch.setattr(
        Api, "run", lambda *_: json.dumps({"items": answers.pop(0) if len(answers) > 1 else answers[0]})
    )
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    monkeypatch.setattr("time.sleep", lambda _: None)
    return answers


def test_nothing_is_said_where_nothing_of_the_stack_goes(listed: Listed, capsys: pytest.CaptureFixture[str]) -> None:
    listed += [[namespace("mlrun", is_going=False), namespace("data", is_going=False), namespace("theirs")]]
    wait_for_half_deleted(API, WANTED)
    assert capsys.readouterr().err == ""


def test_it_waits_and_says_so_once(listed: Listed, capsys: pytest.CaptureFixture[str]) -> None:
    both = [namespace("mlrun"), namespace("data")]
    listed += [both, both[:1], []]
    wait_for_half_deleted(API, WANTED)
    assert capsys.readouterr().err.splitlines() == ["Waiting for the deletion of namespace mlrun, data."]
    assert listed == [[]], "it asked until nothing was left"


def test_what_holds_a_namespace_is_named(listed: Listed) -> None:
    listed += [[namespace("mlrun", HELD), namespace("data")]]
    with pytest.raises(UserError) as refused:
        wait_for_half_deleted(API, WANTED)
    assert refused.value.message.splitlines() == [
        "Namespaces of this stack are still being deleted after 600 s:",
        "- mlrun: Finalizers remain: tests/held in 1 pod",
        "- data: no reason reported",
    ]
