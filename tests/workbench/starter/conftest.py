import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as any user, with no settings of the machine."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.invalid")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Run Git in ``tmp_path``, or in a folder below it."""

    def run(*arguments: str, folder: str = ".") -> str:
        command = ["git", "-C", tmp_path / folder, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return run
