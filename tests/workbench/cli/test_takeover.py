"""What a change deletes is entered into the state before it is planned."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.cli.takeover import with_entered

BEFORE = {"resources": [{"urn": "urn:pulumi:s::p::t::cluster"}]}
AFTER = {"resources": [*BEFORE["resources"], {"urn": "urn:pulumi:s::p::t::pool"}]}


class Backend:
    """Stands in for the session."""

    stack = SimpleNamespace(name="s")

    def __init__(self) -> None:
        self.imported: list[dict[str, Any]] = []

    def query(self, *_: str) -> dict[str, Any]:
        return {"version": 3, "deployment": BEFORE}

    def output(self, *arguments: str, stdin: str) -> str:
        assert arguments == ("stack", "import")
        self.imported.append(json.loads(stdin))
        return ""


@pytest.mark.parametrize("found", [None, AFTER])
def test_the_state_is_written_only_if_there_is_something_to_enter(
    found: dict[str, Any] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = Backend()
    run: Any = SimpleNamespace(session=backend, cloud=SimpleNamespace(entered=lambda _: found))
    assert with_entered(run, BEFORE) == (found or BEFORE)
    assert backend.imported == ([{"version": 3, "deployment": AFTER}] if found else [])
    assert ("to be deleted after its successor is there: pool." in capsys.readouterr().err) is bool(found)
