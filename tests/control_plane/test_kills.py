"""A run that is killed at any moment: one `recover` and one `up` later nothing is doubled, orphaned or pending."""

import itertools
import os
import signal
from collections.abc import Iterator

import pytest

from support.cluster import Cluster, new_cluster
from support.inventory import assert_whole
from support.runs import arguments, empty, engine_of, lines_of

pytestmark = pytest.mark.control_plane

VICTIMS = itertools.cycle(["command and engine", "engine", "command"])


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster for this file alone: it is destroyed and made again many times."""
    with new_cluster(tmp_path_factory.mktemp("killed"), is_quick=True) as made:
        yield made


@pytest.fixture(scope="module")
def lines(own: Cluster) -> dict[str, int]:
    return lines_of(own)


def kill_at_line(cluster: Cluster, command: str, line: int, victims: str) -> None:
    process = cluster.start(*arguments(command))
    assert process.stdout
    for _ in itertools.islice(process.stdout, line):
        pass
    engine = engine_of(process)
    for pid in {"command and engine": [process.pid, *engine], "engine": engine, "command": [process.pid]}[victims]:
        os.kill(pid, signal.SIGKILL)
    process.wait(timeout=600)
    process.stdout.close()


def test_after_a_kill_one_recover_and_one_up_make_it_whole(own: Cluster, lines: dict[str, int], moment: float) -> None:
    victims = next(VICTIMS)
    empty(own)
    for command in ("up", "destroy"):
        kill_at_line(own, command, round(lines[command] * moment), victims)
        own.command("recover", "local", "--yes")
        own.up()
        assert_whole(own)


@pytest.mark.full
def test_of_two_runs_at_once_one_works_and_the_other_says_who(own: Cluster, moment: float) -> None:
    runs = [own.start(*arguments("up")) for _ in range(2)]
    printed = [run.communicate(timeout=600)[0] for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 1], printed
    winner, loser = sorted(range(2), key=lambda index: runs[index].returncode)
    assert f"is being changed by `igz-clusters up` (process {runs[winner].pid}, since " in printed[loser]
    assert "Wait until it ends" in printed[loser]
    assert_whole(own)
