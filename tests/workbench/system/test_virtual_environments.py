import os
import subprocess
from pathlib import Path

import pytest

from workbench.system.errors import UserError
from workbench.system.virtual_environments import interpreter


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def test_an_environment_is_made_once_and_is_not_ours(tmp_path: Path) -> None:
    requirements = tmp_path / "nothing-requirements.txt"
    requirements.write_text("# no package\n")
    python = interpreter(requirements)
    made = python.stat().st_mtime_ns, (python.parent.parent / ".done").stat().st_mtime_ns
    run = subprocess.run([python, "-c", "import yaml"], env={**os.environ}, capture_output=True, check=False)
    assert run.returncode == 1
    assert interpreter(requirements) == python
    assert made == (python.stat().st_mtime_ns, (python.parent.parent / ".done").stat().st_mtime_ns)


@pytest.mark.full
def test_what_cannot_be_installed_is_an_error_with_its_reason_and_is_tried_again(tmp_path: Path) -> None:
    requirements = tmp_path / "tool-requirements.txt"
    requirements.write_text(f"no-such-package==1 --hash=sha256:{'0' * 64}\n")
    for _ in range(2):
        with pytest.raises(UserError, match=r"(?s)tool could not be installed.*no-such-package.*PIP_INDEX_URL"):
            interpreter(requirements)
