"""The first hour: `igz-clusters init`, then the commands that it prints, exactly as it prints them."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.cluster import Cluster, user_environment
from tools.tracked import tracked
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

NOTHING_CHANGES = r"Resources:\s+\d+ unchanged\n"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Commit and tag the files of this checkout, as they are now, in a repository of their own."""
    folder = tmp_path / "release"
    for name in tracked(and_new=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((PROJECT_ROOT / name).read_bytes())
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    publish(folder, "v1.2.3")
    return folder


def publish(folder: Path, tag: str) -> None:
    """Commit everything in the folder and tag it."""
    somebody = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid"]
    for command in (["add", "--all"], [*somebody, "commit", "--quiet", "--message", tag], ["tag", tag]):
        subprocess.run(["git", *command], cwd=folder, check=True)


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Yield a user's environment with a data folder of its own, and stop what was started in it."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    own_bin = str(Path(sys.executable).parent)
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != own_bin)
    try:
        somebody = {
            f"GIT_{role}_{key}": "me@example.invalid" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
        }
        yield {**user_environment(), **somebody, "PATH": path, "IGZ_CLUSTERS_DATA": str(data)}
    finally:
        Cluster(data).command("local", "stop", "--all")


def test_the_printed_commands_give_a_working_cluster_and_a_passing_check(
    release: Path, environment: dict[str, str], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    def run(command: list[str], **variables: str) -> str:
        begin = time.monotonic()
        result = subprocess.run(
            command, cwd=tmp_path, env=environment | variables, capture_output=True, text=True, check=False
        )
        record_property(" ".join(command)[-60:], f"{time.monotonic() - begin:.0f} s")
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    # This checkout's environment lends its libraries; the code that runs is the release's.
    init = [sys.executable, "-c", "from workbench.cli.app import main; main()", "init", "acme"]
    printed = run(init, PYTHONPATH=str(release))
    assert "igz-clusters v1.2.3 (" in printed
    assert f"from {release}." in printed
    steps = [line.strip() for line in printed.partition("Next:\n")[2].strip().splitlines()]
    cd, up, check, commit, ci = steps

    brought_up = run(["bash", "-euc", f"{cd}\n{up}"])
    assert re.search(r"^workload +workload +on-demand +1\.\.10 +1\.\.10 +1 +1 ", brought_up, re.MULTILINE)
    look, status, change, _, remove = (line[10:] for line in brought_up[brought_up.index("  look  ") :].splitlines())
    ready = re.findall(r"^(\S+) +Ready ", run(["bash", "-euc", f"{cd}\n{look}"]), re.MULTILINE)
    assert {"initial-0", "initial-1"} < set(ready)
    assert "workload" in run(["bash", "-euc", f"{cd}\n{status}"])
    assert change.startswith("edit Pulumi.acme-dev.yaml, then .igz-clusters/.venv/bin/igz-clusters preview acme-dev")

    other = tmp_path / "other"
    other.mkdir()
    (other / "Pulumi.acme-dev.yaml").write_bytes((tmp_path / "acme" / "Pulumi.acme-dev.yaml").read_bytes())
    foreign = subprocess.run(
        [tmp_path / "acme" / ".igz-clusters/.venv/bin/igz-clusters", "status", "acme-dev"],
        cwd=other, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (foreign.returncode, foreign.stdout) == (1, "")
    assert f"belong to {tmp_path}/acme/Pulumi.acme-dev.yaml, not to {other}/" in foreign.stderr

    checked = run(["bash", "-euc", f"{cd}\n{check}"])
    for stack in ("acme-dev", "acme-prod"):
        assert re.search(rf"^{stack}: no violations, .* \(\d+ rules, \d+ resources\)$", checked, re.MULTILINE)
    run(["bash", "-euc", f"{cd}\n{commit}\n{ci}"])
    status_lines = run(["git", "-C", str(tmp_path / "acme"), "status", "--porcelain"])
    assert ".igz-clusters" not in status_lines

    (release / "NEWS").touch()
    publish(release, "v1.2.4")
    upgraded = run(["bash", "-euc", f"{cd}\nmake upgrade TAG=v1.2.4"])
    dev, prod = upgraded.split("== acme-prod")
    assert re.search(NOTHING_CHANGES, dev)
    assert re.search(r"\+ \d+ to create", prod)
    assert (tmp_path / "acme" / ".igz-clusters" / "NEWS").exists()

    run(["bash", "-euc", f"{cd}\n{remove} --yes"])
    owners = Path(environment["IGZ_CLUSTERS_DATA"]) / "owners"
    assert [owner.name for owner in owners.iterdir()] == ["acme-prod"], "a destroyed stack frees its name"
