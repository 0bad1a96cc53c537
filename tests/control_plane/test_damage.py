"""Damaged state, passphrase and disk: one message, and a repair that works."""

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.cluster import Cluster, running_cluster
from support.inventory import assert_whole
from support.sampled import sampled
from workbench.system.paths import APP, DATA_BYTES

pytestmark = pytest.mark.control_plane

MB = 1_000_000


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("damaged"), is_quick=True) as running:
        yield running


def state_file(cluster: Cluster) -> Path:
    return cluster.data / "state" / ".pulumi" / "stacks" / APP / "local.json"


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    digits = [index for index, byte in enumerate(content) if chr(byte).isdigit()]
    content[random.Random(7).choice(digits)] ^= 1  # noqa: S311 one digit for another: still JSON, and a lie
    file.write_bytes(content)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda file: file.write_bytes(b""), "the file is empty"),
    "truncated": (lambda file: os.truncate(file, file.stat().st_size // 2), "the file is truncated or invalid JSON: "),
    "bit-flipped": (flip_a_bit, "the content does not match its checksum"),
    "missing": (Path.unlink, "the file is missing"),
}


@pytest.mark.parametrize("name", sampled(DAMAGES, ["truncated"], others=pytest.mark.kills))
def test_a_damaged_state_is_refused_kept_and_restored(own: Cluster, name: str) -> None:
    damage, reason = DAMAGES[name]
    damage(state_file(own))
    refused = own.command("up", "local", "--hermetic", check=False)
    assert refused.returncode == 1
    assert f"The state file {state_file(own)} is damaged: {reason}" in refused.stderr
    assert "`igz-clusters recover local`" in refused.stderr
    told = own.command("recover", "local", "--yes").stdout
    assert "restore the newest intact copy" in told
    assert list(state_file(own).parent.glob("*.damaged-*")) or name == "missing"
    own.up()
    assert_whole(own)


@pytest.mark.full
def test_without_any_whole_copy_the_next_up_takes_over_what_is_there(own: Cluster) -> None:
    before = own.get("namespace", "mlrun")["metadata"]["uid"]
    for file in (own.data / "state").rglob("*.json*"):
        if file.suffix in {".json", ".bak"} and "meta" not in file.name:
            file.write_bytes(b"{")
    told = own.command("recover", "local", "--yes").stdout
    assert "No intact copy exists." in told
    own.up()
    assert_whole(own)
    assert own.get("namespace", "mlrun")["metadata"]["uid"] == before


@pytest.mark.parametrize("change", ["another one", pytest.param("missing", marks=pytest.mark.full)])
def test_a_wrong_passphrase_is_told_before_the_engine_starts(own: Cluster, change: str) -> None:
    file = own.data / "passphrase"
    kept = file.read_text()
    if change == "missing":
        file.unlink()
    else:
        file.write_text("not the one")
    refused = own.command("up", "local", "--hermetic", check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"error: The passphrase in {file} is ")
    assert "Restore the old file." in refused.stderr
    file.write_text(kept)
    assert_whole(own)


@pytest.mark.full
def test_a_lost_passphrase_costs_the_state_and_not_the_cluster(own: Cluster) -> None:
    (own.data / "passphrase").unlink()
    refused = own.command("up", "local", "--hermetic", check=False)
    way_back = refused.stderr.partition("adopts what is in the cluster: ")[2].replace("\n", "")
    assert way_back.startswith("rm -r ")
    subprocess.run(["sh", "-c", way_back], check=True)
    own.up()
    assert_whole(own)


@pytest.mark.full
def test_a_passphrase_in_the_users_environment_does_not_get_in_the_way(own: Cluster) -> None:
    own.command("up", "local", "--hermetic", PULUMI_CONFIG_PASSPHRASE="somebody else's")  # noqa: S106


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("only root may mount a small or read-only disk")
    subprocess.run(["mount", *options, str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_read_only_folder_is_told_in_one_message_and_nothing_is_lost(own: Cluster) -> None:
    with mounted(own.data, "--bind", str(own.data)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(own.data)], check=True)
        refused = own.command("up", "local", "--hermetic", check=False)
        assert refused.returncode == 1
        assert refused.stderr.startswith(f"error: Cannot write to {own.data}")
        assert "Read-only file system" in refused.stderr
        assert "Traceback" not in refused.stderr
    assert_whole(own)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Cluster]:
    disk = mounted(tmp_path, "-t", "tmpfs", "-o", f"size={900 * MB},mode=700", "tmpfs")
    with disk, running_cluster(tmp_path, is_quick=True) as running:
        yield running


@pytest.mark.full
def test_a_nearly_full_disk_is_told_before_work_starts_and_space_is_the_way_back(small: Cluster) -> None:
    ballast = small.data / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(small.data).free - DATA_BYTES + MB)
    refused = small.command("up", "local", "--hermetic", check=False)
    assert refused.returncode == 1
    assert f"The disk of {small.data} is nearly full: 299 MB free, 300 MB needed." in refused.stderr
    ballast.unlink()
    small.up()
    assert_whole(small)


def fill(ballast: Path) -> None:
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(MB))


# The engine waits minutes for space before it gives up.
@pytest.mark.kills
def test_a_disk_that_fills_up_in_the_middle_leaves_what_recover_mends(small: Cluster) -> None:
    small.command("destroy", "local", "--yes", "--hermetic")
    ballast = small.data / "ballast"
    run = small.start("up", "local", "--hermetic")
    assert run.stdout
    for line in run.stdout:
        if "creating" in line:
            fill(ballast)
            break
    printed = run.stdout.read()
    assert run.wait(timeout=600) == 1
    assert "no space left on device" in printed
    assert "Traceback" not in printed
    ballast.unlink()
    small.command("recover", "local", "--yes")
    small.up()
    assert_whole(small)
