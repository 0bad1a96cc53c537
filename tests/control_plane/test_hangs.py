"""A run with a suspended process says so; Ctrl-C twice or `recover --force` ends it, and one `up` makes it whole."""

import itertools
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from support.cluster import HANGS, Cluster, eventually, new_cluster
from support.inventory import assert_whole
from support.runs import arguments, empty, lines_of
from support.sampled import sampled

pytestmark = [pytest.mark.control_plane, pytest.mark.full]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with new_cluster(tmp_path_factory.mktemp("hanging"), is_quick=True) as made:
        yield made


@pytest.fixture(scope="module")
def lines(own: Cluster) -> dict[str, int]:
    return lines_of(own)


def suspend(run: subprocess.Popen[str], name: str) -> psutil.Process:
    """Suspend a process of the run; return it."""

    def found() -> psutil.Process | None:
        with suppress(psutil.NoSuchProcess):  # one may end meanwhile
            for child in psutil.Process(run.pid).children(recursive=True):
                if name in (child.name(), " ".join(child.cmdline()[-1:])):
                    return child
        return None

    process = eventually(found)
    assert process
    process.suspend()
    return process


# The plug-in is the engine's child: it ends last.
@pytest.mark.parametrize(
    "name", sampled(["pulumi", "pulumi-resource-kubernetes"], ["pulumi-resource-kubernetes"], others=pytest.mark.kills)
)
def test_ctrl_c_twice_ends_a_run_with_a_suspended_process(own: Cluster, lines: dict[str, int], name: str) -> None:
    empty(own)
    run = own.start(*arguments("up"))
    assert run.stdout
    for _ in itertools.islice(run.stdout, lines["up"] // 3):
        pass
    process = suspend(run, name)
    said = itertools.takewhile(lambda line: f"The run is stuck: {process.pid} {name}" not in line, run.stdout)
    assert "No news" not in "".join(said)
    os.killpg(run.pid, signal.SIGINT)
    assert "finished" not in "".join(itertools.takewhile(lambda line: "Stopping" not in line, run.stdout))
    os.killpg(run.pid, signal.SIGINT)
    rest = run.stdout.read()
    assert run.wait(timeout=HANGS) == 130, rest
    own.command("recover", "local", "--yes")
    own.up()
    assert_whole(own)


def test_recover_with_force_ends_a_suspended_run(own: Cluster, lines: dict[str, int]) -> None:
    empty(own)
    run = own.start(*arguments("up"))
    assert run.stdout
    for _ in itertools.islice(run.stdout, lines["up"] // 3):
        pass
    psutil.Process(run.pid).suspend()
    refused = own.command("up", "local", "--hermetic", check=False)
    assert f"`kill -CONT {run.pid}` continues it" in refused.stderr
    said = own.command("recover", "local", "--force", "--yes").stdout
    assert f"{run.pid} python" in said
    run.wait(timeout=HANGS)
    own.up()
    assert_whole(own)
