"""What backends say about stacks: Pulumi's Automation API is asked for those in a cloud, files for local ones."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.offline import imported_by
from workbench import stacks
from workbench.engine.backend import StateFiles
from workbench.fleet import backend
from workbench.fleet.backend import Known
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain

Folder = Callable[..., Path]

LISTED = [
    {"name": "acme/igz-clusters/prod", "current": False, "lastUpdate": "2026-11-26T10:00:00.000Z", "resourceCount": 7},
    {"name": "gone", "current": False, "updateInProgress": True},
]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a program that answers as Pulumi does; it notes its arguments."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(PROJECT_ROOT))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    program = tmp_path / "pulumi"
    program.write_text(f"""#!{sys.executable}
import sys
from pathlib import Path
with Path({str(tmp_path / "asked")!r}).open("a") as asked:
    print(*sys.argv[1:], file=asked)
if "version" in sys.argv:
    print("v3.259.0")
elif Path({str(tmp_path / "broken")!r}).exists():
    print("error: not logged in", file=sys.stderr)
    sys.exit(1)
else:
    print({json.dumps(LISTED)!r})
""")
    program.chmod(0o755)
    return program


def test_the_users_backend_is_asked_once_for_all_stacks(engine: Path) -> None:
    found = [stacks.find("dev"), stacks.find("prod")]
    assert backend.known(found, Toolchain({"pulumi": engine})) == {
        "prod": Known("prod", datetime(2026, 11, 26, 10, tzinfo=UTC), 7),
        "gone": Known("gone", is_changing=True),
    }
    asked = engine.with_name("asked").read_text().splitlines()
    assert [line for line in asked if "stack" in line.split()] == ["--non-interactive stack ls --json"]


def test_a_backend_that_does_not_answer_is_said(engine: Path) -> None:
    engine.with_name("broken").touch()
    with pytest.raises(UserError, match="The backend does not list its stacks: error: not logged in"):
        backend.known([stacks.find("dev")], Toolchain({"pulumi": engine}))


def test_local_stacks_are_read_from_their_files(folder: Folder) -> None:
    folder("a", "b")
    files = StateFiles("a")
    files.current.parent.mkdir(parents=True)
    files.current.write_text(json.dumps({"checkpoint": {"latest": {"resources": [{"urn": "x", "type": "y"}]}}}))
    known = backend.known([stacks.find("a"), stacks.find("b")], None)
    assert {name: each.resources for name, each in known.items()} == {"a": 1}
    assert known["a"].updated is not None


def test_a_local_stack_is_not_the_one_of_its_name_in_the_backend(engine: Path) -> None:
    local = replace(stacks.find("local"), name="prod")
    assert "prod" not in backend.known([local, stacks.find("dev")], Toolchain({"pulumi": engine}))


def test_only_this_question_imports_the_automation_api() -> None:
    assert "pulumi" not in imported_by("import workbench.cli.fleet")
