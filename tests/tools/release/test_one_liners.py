"""The commands that install from a tag work as docs/installing.md prints them, for a user who has nothing yet."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tools.release.checks import Release
from workbench.system.paths import PROJECT_ROOT, cache_dir
from workbench.toolchain import ensure

pytestmark = [pytest.mark.full, pytest.mark.control_plane]

PAGE: Final = (PROJECT_ROOT / "docs" / "installing.md").read_text()
TO_AN_INDEX: Final = re.compile(r"PIP_.*|UV_.*|SSL_CERT_(FILE|DIR)|(HTTPS?|NO|ALL)_PROXY", re.IGNORECASE)


@pytest.fixture
def user(tmp_path: Path) -> Mapping[str, str]:
    """Return the variables of a user with an empty home and no package of ours on PATH."""
    assert ensure().binaries
    leading = {name: value for name, value in os.environ.items() if TO_AN_INDEX.fullmatch(name)}
    return {
        **leading,
        "PATH": os.pathsep.join([str(tmp_path / "bin"), f"{sys.base_prefix}/bin", os.defpath]),
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "PIP_NO_COMPILE": "1",  # 15,000 modules of which few are used
        "IGZ_CLUSTERS_CACHE": str(cache_dir()),
        "IGZ_CLUSTERS_DATA": str(tmp_path / "data"),
    }


@pytest.fixture(scope="module")
def source(release: Release, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the Git address of a repository with the release's tag."""
    place = tmp_path_factory.mktemp("source") / "igz-clusters"
    command = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(PROJECT_ROOT), str(place)]
    subprocess.run(command, check=True)
    subprocess.run(["git", "-C", str(place), "tag", "--force", release.tag, release.commit], check=True)
    return f"file://{place}"


def printed(program: str, source: str, release: Release) -> list[str]:
    """Return the line of the page that begins with a program, about a source and a release."""
    [line] = re.findall(rf"^{program} .*", PAGE, re.MULTILINE)
    return shlex.split(line.replace("SOURCE", source).replace("v1.2.3", release.tag), comments=True)


def run(user: Mapping[str, str], *command: str) -> str:
    done = subprocess.run(
        command, env=user, cwd=user["HOME"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_uvx_runs_the_main_job_without_installing_anything(
    user: Mapping[str, str], source: str, release: Release
) -> None:
    own = Path(user["HOME"], "bin")
    own.mkdir()
    for program in ("uv", "uvx"):
        shutil.copy(Path(sys.executable).with_name(program), own)
    line = printed("uvx", source, release)
    assert line[-1] == "up"
    try:
        run(user, *line, "--yes")
        groups = json.loads(run(user, *line[:-1], "status", "local", "--json"))["groups"]
        assert {group["recorded"]["pool"] for group in groups} >= {"initial"}
    finally:
        run(user, *line[:-1], "local", "delete", "local", "--yes")


def test_pipx_keeps_the_command(user: Mapping[str, str], source: str, release: Release, tmp_path: Path) -> None:
    run(user, f"{sys.base_prefix}/bin/python3", "-m", "venv", str(tmp_path / "tools"))
    run(user, str(tmp_path / "tools" / "bin" / "pip"), "install", "--quiet", "pipx")
    _, *arguments = printed("pipx", source, release)
    run(user, str(tmp_path / "tools" / "bin" / "pipx"), *arguments)
    command = str(tmp_path / ".local" / "bin" / "igz-clusters")
    assert run(user, command, "--version") == f"igz-clusters {release.version}\n"
    assert json.loads(run(user, command, "config", "show", "local", "--json"))
