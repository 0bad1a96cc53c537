"""Ctrl-C, a signal from a CI job, and the end of the terminal end a run in order at any moment."""

import itertools
import json
import os
import signal
from collections.abc import Iterator

import pytest

from support.cluster import Cluster, new_cluster
from support.inventory import assert_whole
from support.runs import arguments, empty, lines_of

pytestmark = [pytest.mark.control_plane, pytest.mark.full, pytest.mark.moments(1)]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with new_cluster(tmp_path_factory.mktemp("interrupted")) as made:
        yield made


@pytest.fixture(scope="module")
def lines(own: Cluster) -> dict[str, int]:
    return lines_of(own)


SIGNALS = {"up": signal.SIGINT, "destroy": signal.SIGTERM}


def test_ctrl_c_and_sigterm_end_a_run_in_order_and_leave_nothing_to_recover(
    own: Cluster, lines: dict[str, int], moment: float
) -> None:
    empty(own)
    for command, asked in SIGNALS.items():
        process = own.start(*arguments(command))
        assert process.stdout
        for _ in itertools.islice(process.stdout, round(lines[command] * moment)):
            pass
        os.killpg(process.pid, asked)
        rest = process.stdout.read()
        process.wait(timeout=600)
        assert "Traceback" not in rest
        assert own.command("recover", "local").stdout.startswith("The stack 'local' is in order")
        own.up()
        assert_whole(own)


def test_the_end_of_its_terminal_ends_a_run_in_order_and_leaves_nothing_to_recover(own: Cluster) -> None:
    empty(own)
    terminal = own.start_in_terminal(*arguments("up"))
    terminal.read_until("Updating")
    terminal.close()
    assert terminal.process.wait(timeout=600) == 130
    assert own.command("recover", "local").stdout.startswith("The stack 'local' is in order")
    own.up()
    assert_whole(own)


def test_up_waits_for_a_namespace_that_is_being_deleted(own: Cluster) -> None:
    own.up()
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["tests/held"]}}
    own.kubectl("create", "-n", "mlrun", "-f", "-", stdin=json.dumps(held))
    own.kubectl("delete", "namespace", "mlrun", "--wait=false")
    process = own.start(*arguments("up"))
    assert process.stdout
    waiting = itertools.takewhile(lambda line: "Waiting for the deletion of namespace" not in line, process.stdout)
    assert "Updating" not in "".join(waiting)
    own.kubectl("patch", "configmap", "held", "-n", "mlrun", "-p", '{"metadata": {"finalizers": null}}')
    rest = process.stdout.read()
    assert process.wait(timeout=600) == 0, rest
    assert_whole(own)
