"""Shipped scenarios of reservations, gangs and stuck runs, played as one with the real scheduler and autoscaler."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY, parse
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodEnd, Record
from workbench.rehearsal.scenario.files import find_all
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.judge import judge
from workbench.stacks import Stack, find
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

TRAIN = {
    "role": "gpu",
    "lifecycle": "reserved",
    "size": {"min": 0, "max": 2},
    "instanceTypes": ["p5.48xlarge"],
    "zone": "b",
    "reservation": {"id": "cr-0a91582543292e10a"},
}


def with_reservation() -> Stack:
    stack = find("dev")
    config = stack.document["config"]
    choices = {**config[CONFIG_KEY], "pools": {**config[CONFIG_KEY]["pools"], "train": TRAIN}}
    return replace(stack, document={**stack.document, "config": {**config, CONFIG_KEY: choices}}, config=parse(choices))


def together(*names: str) -> Scenario:
    """Return shipped scenarios of the same speed, whose works have different names, as one."""
    made: dict[str, Any] = {"description": " and ".join(names), "lasts": "60m", "works": {}}
    for each in find_all(names):
        document = yaml.safe_load(each.file.read_text())
        made["works"] |= document["works"]
        for section in ("arrivals", "events", "expectations"):
            made[section] = [*made.get(section, ()), *document.get(section, ())]
    return Scenario.model_validate(made)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, list[tuple[str, str]]]:
    stack, scenario = with_reservation(), together("reservations", "large-gang", "stuck-run")
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path_factory.mktemp("data")))
        with simulated(stack, Pace(), binaries=binaries, progress=lambda _: None) as cluster:
            record = play(cluster, scenario)
    verdicts = judge(scenario, record, stack.config, None)
    return record, [(each.expectation, each.measured) for each in verdicts if not each.is_met]


def test_the_shipped_scenarios_of_reservations_gangs_and_stuck_runs_are_met(played: tuple[Record, Any]) -> None:
    _, missed = played
    assert missed == []


def test_jobs_wait_for_their_reservation_and_run_nowhere_else(played: tuple[Record, Any]) -> None:
    record, _ = played
    for job in record.of_work("train"):
        assert job.started is not None
        assert job.started - job.created > 9 * 60.0  # until others had left the reservation
    assert {node.zone for node in record.nodes if node.pool == "train"} == {"eu-west-1b"}


def test_a_gang_spans_groups_and_one_that_never_fits_has_no_pod(played: tuple[Record, Any]) -> None:
    record, _ = played
    nodes = [record.node(pod.node) for pod in record.of_work("gang")]
    assert len({node.group for node in nodes if node}) > 1
    assert record.of_work("beyond") == ()
    (refusal,) = (each for each in record.refusals if each.work == "beyond")
    assert (refusal.kind, refusal.missing) == ("MPIJob", 501)


def test_a_stuck_run_says_why_and_starts_no_node(played: tuple[Record, Any]) -> None:
    record, _ = played
    for work in ("too-large", "mistyped"):
        (pod,) = record.of_work(work)
        assert pod.end is PodEnd.WAITS
        assert {each.component for each in pod.reasons} == {"scheduler", "autoscaler"}
