"""docs/start and docs/local.md: the commands of each page run in one shell, in the order in which they stand."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from support.cluster import COMMAND, new_cluster
from support.documents import NOT_RUN
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

PAGES: Final = {
    "start/platform-engineer.md": ("initial-0", "prod: no violations", "acme-dev and acme-prod"),
    "start/data-scientist.md": ("condition met", "spot-", "g5.2xlarge"),
    "start/security-reviewer.md": ("HE-01", "NG-11", "prod: no violations"),
    "local.md": ("initial-0", "jupyter"),
}
"""Texts that the commands print, among others, by page."""
MAKE: Final = {"make up": ".venv/bin/igz-clusters up local --yes", "make .venv/.installed": ":"}
"""What the Makefile's targets run once the packages are installed, as they are here."""


def script(page: str) -> str:
    text = (PROJECT_ROOT / "docs" / page).read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks if not NOT_RUN.match(block) for line in block.splitlines()]
    return "\n".join(MAKE.get(line.partition(" #")[0].strip(), line) for line in lines)


def folder_of_a_checkout(folder: Path, page: str) -> Path:
    """Return a folder with what these commands need of a checkout: stack files, the command, and the page's job."""
    folder.mkdir()
    for file in PROJECT_ROOT.glob("Pulumi.*.yaml"):
        shutil.copy(file, folder)
    shutil.copytree(PROJECT_ROOT / "examples", folder / "examples")
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "igz-clusters").symlink_to(COMMAND)
    text = (PROJECT_ROOT / "docs" / page).read_text()
    if found := re.search(r"^```yaml\n(apiVersion: .*?)^```$", text, re.MULTILINE | re.DOTALL):
        (folder / "job.yaml").write_text(found.group(1))
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_its_commands_run_as_they_stand_there(page: str, tmp_path: Path) -> None:
    folder = folder_of_a_checkout(tmp_path / "checkout", page)
    with new_cluster(tmp_path / "data") as cluster:
        environment = {**cluster.environment, "PATH": f"{COMMAND.parent}:{cluster.environment['PATH']}"}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script(page)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    printed = done.stdout + done.stderr
    assert [text for text in PAGES[page] if text not in printed] == []
    assert not (folder / "Pulumi.weak.yaml").exists()  # its check failed, as the page says
