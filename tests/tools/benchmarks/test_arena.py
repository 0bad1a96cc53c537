"""The benchmarks' commands, run by the real engine."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from tools.benchmarks.arena import EMPTY, INFRA, NO_OP_PACK, OWN_PACKS, Arena, arena
from tools.benchmarks.measure import Command, measure
from workbench import stacks
from workbench.system.errors import UserError

pytestmark = [pytest.mark.engine, pytest.mark.full]


@pytest.fixture(scope="module")
def place() -> Iterator[Arena]:
    before = dict(os.environ)
    with arena() as made:
        yield made
    assert not made.folder.exists()
    assert dict(os.environ) == before


def printed(command: Command) -> str:
    run = subprocess.run(
        command.arguments, cwd=command.folder, env=command.environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_packs_of_a_preview_are_those_that_were_named_and_no_others(place: Arena) -> None:
    empty = place.scratch("packs", EMPTY, PYTHONUNBUFFERED="1")
    assert "Policies" not in printed(empty.preview())
    with_both = printed(empty.preview(packs=[NO_OP_PACK, *OWN_PACKS]))
    for pack in ("no-op", "igz-clusters@"):
        assert pack in with_both


def test_there_are_as_many_no_op_packs_as_ours_and_the_engine_runs_them_all(place: Arena) -> None:
    assert len(place.no_op_packs) == len(OWN_PACKS) == 1
    shown = printed(place.scratch("no-op-packs", EMPTY, PYTHONUNBUFFERED="1").preview(packs=place.no_op_packs))
    assert "no-op-1@" in shown


def test_a_first_preview_without_a_cluster_is_measured(place: Arena) -> None:
    config = stacks.find("local").document["config"][stacks.CONFIG_KEY]
    stack = measure(place.scratch("first", INFRA, config=config).preview())
    floor = measure(place.scratch("floor", EMPTY).preview())
    assert stack.cpu > floor.cpu > 0
    assert stack.memory > floor.memory > 50e6


def test_a_preview_that_finds_changes_where_none_may_be_is_an_error_and_not_a_number(place: Arena) -> None:
    empty = place.scratch("changes", EMPTY)
    with pytest.raises(UserError, match="no changes were expected"):
        measure(empty.preview("--expect-no-changes"))
