import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.github import REPOSITORY, TOKEN, FakeGitHub, fake_github

COMMIT = "c0ffee" + "0" * 34


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    """GitHub's emulator with a pull request 7 of a fork, and the variables that a workflow has."""
    with fake_github() as emulator:
        monkeypatch.setenv("GITHUB_API_URL", emulator.address)
        monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr("workbench.review.posting.workflow.PAUSE", 0)
        emulator.pull(7, repository="mallory/clusters", branch="more-gpus", commit=COMMIT)
        yield emulator


@pytest.fixture
def event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write the event that starts the second stage; keywords change the run."""

    def write(**changes: Any) -> None:
        run = {
            "name": "render",
            "event": "pull_request",
            "conclusion": "success",
            "html_url": f"https://github.com/{REPOSITORY}/actions/runs/1",
            "head_branch": "more-gpus",
            "head_sha": COMMIT,
            "head_repository": {"full_name": "mallory/clusters"},
            "pull_requests": [],
        }
        repository = {"full_name": REPOSITORY, "default_branch": "main"}
        file = tmp_path / "event.json"
        file.write_text(json.dumps({"workflow_run": {**run, **changes}, "repository": repository}))
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(file))

    return write
