"""Commands on a stack in a cloud around a stand-in for the engine."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from support.eks import NODE_GROUP, document
from support.eks_state import STACK, exported, urn
from support.scripted_engine import ScriptedEngine
from workbench import stacks
from workbench.cli.app import app
from workbench.cli.cloud_run import CloudRun
from workbench.engine import after_update
from workbench.stacks import CONFIG_KEY
from workbench.system.errors import UserError

GPU = urn(NODE_GROUP, "test-gpu")
KILLED = [{"type": "creating", "resource": {"urn": GPU, "type": NODE_GROUP}}]
WHAT_AN_INTERRUPT_LEFT = pytest.mark.parametrize(
    ("left", "advice"),
    [
        ([], "the same command continues"),
        (KILLED, "Aborted during: creating NodeGroup test-gpu. `igz-clusters recover test`"),
    ],
)
"""Pending operations after an interrupt, and what a command then advises."""


def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """Return the engine of a stack file and a state in a folder, on which commands then run."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    found = ScriptedEngine(tmp_path)
    monkeypatch.setattr("workbench.cli.cloud_run.ensure", lambda *_, **__: found.toolchain)
    monkeypatch.setattr(after_update, "PAUSE", 0.0)
    monkeypatch.setattr(CloudRun, "ask", lambda *_: {})
    monkeypatch.setattr(CloudRun, "require_cluster_admin", lambda _: None)
    monkeypatch.setattr(CloudRun, "backup_problem", lambda _: "")
    monkeypatch.setattr("workbench.cli.cloud_run.silent_api", lambda _: "")
    choose(tmp_path)
    found.has(exported())
    return found


def choose(folder: Path, **changes: Any) -> None:
    """Write the stack file."""
    choices = {"cluster__apiClientCidrs": ["10.60.0.0/16"], **changes}  # the API is private
    file = folder / f"Pulumi.{STACK}.yaml"
    file.write_text(
        json.dumps({"config": {CONFIG_KEY: document({key.replace("__", "."): v for key, v in choices.items()})}})
    )


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def refusal(*arguments: str) -> UserError:
    error = run(*arguments).exception
    assert isinstance(error, UserError), error
    return error
