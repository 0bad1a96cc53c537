"""Ctrl-C at any moment ends a run in order."""

import itertools
import os
import signal
from collections.abc import Iterator

import pytest

from support.cluster import Cluster, running_cluster
from support.inventory import assert_whole
from support.runs import arguments, engine_of, lines_of

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("interrupted")) as running:
        yield running


@pytest.fixture(scope="module")
def lines(own: Cluster) -> dict[str, int]:
    return lines_of(own)


def test_ctrl_c_ends_a_run_in_order_and_leaves_nothing_to_recover(
    own: Cluster, lines: dict[str, int], moment: float
) -> None:
    for command in ("destroy", "up"):
        process = own.start(*arguments(command))
        assert process.stdout
        for _ in itertools.islice(process.stdout, round(lines[command] * moment)):
            pass
        for pid in [*engine_of(process), process.pid]:  # a terminal sends it to all of them
            os.kill(pid, signal.SIGINT)
        rest = process.stdout.read()
        process.wait(timeout=60)
        assert "Traceback" not in rest
        assert own.command("recover", "local").stdout.startswith("The stack 'local' is in order")
        own.up()
        assert_whole(own)
