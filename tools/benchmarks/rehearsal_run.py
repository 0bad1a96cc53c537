"""``python -m tools.benchmarks.rehearsal_run WHAT NODES PODS``: one run of the case ``rehearsal``, figures as JSON.

WHAT is ``rehearsal``, or ``floor``: the same control plane and simulator with the same nodes and as many pods, created
by a loop that does nothing else. A run has a process of its own, so that its memory and CPU are its own.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import psutil
import yaml

from infra.config import CONFIG_KEY
from tools.benchmarks.rehearsal_figures import Run
from workbench import stacks
from workbench.local import Instance, instances
from workbench.prices.book import PriceBook
from workbench.prices.stack_cost import stack_cost
from workbench.rehearsal.cluster.connection import Request, Server
from workbench.rehearsal.cluster.nodes import static_nodes
from workbench.rehearsal.cluster.simulation import PREFIX, simulated
from workbench.rehearsal.cluster.tuning import tuning
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.play.player import Progress, play
from workbench.rehearsal.prices import Prices
from workbench.rehearsal.record import Record
from workbench.rehearsal.report import as_json, page
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.costs import costs_of
from workbench.rehearsal.verdicts.judge import judge
from workbench.system.background import repeating
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain, ensure

HANDS: Final = 6
"""Connections of the floor, as many as a rehearsal has."""

PACE: Final = Pace(speed=60)
LASTS: Final = 24 * 60
"""Minutes of the scenario, 24 real ones: the longest that pods may take. The run ends as soon as all of them run."""

_CPU, _MEMORY, _IMAGE = "100m", "128Mi", "registry.k8s.io/pause:3.10"
_PAUSE: Final = 0.25
_SAMPLES: Final = 0.5


def stack_of(nodes: int, folder: Path) -> stacks.Stack:
    """Return stack ``local`` with exactly so many nodes, all static: two for core services, the others for work."""
    document: dict[str, Any] = {"config": dict(stacks.find("local").document["config"])}
    choices = document["config"][CONFIG_KEY] = dict(document["config"][CONFIG_KEY])
    initial = choices["pools"]["initial"]
    size = {"min": nodes - initial["size"]["max"], "max": nodes - initial["size"]["max"]}
    choices["pools"] = {"initial": initial, "workload": {**choices["pools"]["workload"], "size": size}}
    file = folder / "Pulumi.scale.yaml"
    file.write_text(yaml.safe_dump(document))
    return stacks.read(file)


def scenario_of(pods: int) -> Scenario:
    """Return the scenario in which so many jobs arrive at once and run until its end."""
    work = {"kind": "mlrun-job", "cpu": _CPU, "memory": _MEMORY, "team": "scale"}
    return Scenario.model_validate(
        {
            "description": "Many jobs at once",
            "lasts": f"{LASTS}m",
            "works": {"job": work},
            "arrivals": [{"work": "job", "count": pods}],
            "expectations": [
                {"expect": "lands-on", "work": "job", "place": {"role": "workload"}},
                {"expect": "waits-at-most", "work": "job", "time": "12h"},
                {"expect": "survives", "work": "job"},
                {"expect": "core-services-unmoved"},
            ],
        }
    )


@dataclass
class Meter:
    """Reads the CPU and the memory of this process and of the control plane's."""

    began: float = field(default_factory=time.monotonic)
    servers: list[psutil.Process] = field(default_factory=list)
    peak: int = 0
    """Bytes: highest sum of resident memory of the control plane."""

    def find(self) -> None:
        """Take over the processes of the instance that this process runs."""
        names = [name for name in instances() if name.startswith(PREFIX)]
        self.servers = [psutil.Process(pid) for name in names for pid in Instance(name).status().pids.values()]

    def servers_cpu(self) -> float:
        """Return the CPU seconds of the control plane so far; a supervisor counts too."""
        total = 0.0
        for each in self.servers:
            with suppress(psutil.NoSuchProcess):
                spent = each.cpu_times()
                total += spent.user + spent.system
        return total

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Look at the control plane's memory twice a second."""

        def look() -> None:
            with suppress(psutil.Error):
                self.peak = max(self.peak, sum(each.memory_info().rss for each in self.servers))

        with repeating(_SAMPLES, look):
            yield

    def now(self) -> tuple[float, float, float]:
        """Return wall seconds, own CPU seconds and those of the control plane since the start."""
        return time.monotonic() - self.began, time.process_time(), self.servers_cpu()


def floor(nodes: int, pods: int, folder: Path, binaries: Toolchain) -> Run:
    """Create nodes and bare pods on a control plane without the objects of a stack."""
    meter = Meter()
    instance = Instance(f"{PREFIX}floor-{os.getpid()}")
    try:
        instance.configure(tuning(PACE, {}))
        instance.start(binaries)
        meter.find()
        server = Server(instance.kubeconfig)
        with meter.sampling(), ThreadPoolExecutor(HANDS) as hands:
            started = meter.now()
            manifests = static_nodes(stack_of(nodes, folder).config)
            _all(hands.map(_creator(server, "/api/v1/nodes"), manifests))
            _until(lambda: _all_ready(server, nodes))
            begin = meter.now()
            collection = "/api/v1/namespaces/default/pods"
            _all(hands.map(_creator(server, collection), (_pod(number) for number in range(pods))))
            _until(lambda: not _some(server, f"{collection}?fieldSelector=status.phase!%3DRunning&limit=1"))
            end = meter.now()
        return _run(nodes, pods, (started, begin, end, meter.now()), meter, seconds=end[0] - begin[0])
    finally:
        instance.delete()


def rehearsal(nodes: int, pods: int, folder: Path, binaries: Toolchain) -> Run:
    """Rehearse a stack with so many nodes, and so many pods that arrive at once."""
    meter = Meter()
    stack, scenario = stack_of(nodes, folder), scenario_of(pods)
    marks: list[tuple[float, float, float]] = []
    skipped = [0.0]

    def building(text: str) -> None:
        if text.startswith("making") and not meter.servers:
            meter.find()
            marks.append(meter.now())

    def playing(made: Progress) -> None:
        if len(marks) == 1 or (len(marks) == 2 and made.running >= pods):  # noqa: PLR2004 the begin and the end
            marks.append(meter.now())
        if len(marks) > 2:  # noqa: PLR2004
            skipped[0] = LASTS * 60.0

    with meter.sampling(), simulated(stack, PACE, binaries=binaries, progress=building) as cluster:
        record = play(cluster, scenario, playing, lambda: time.monotonic() + skipped[0])
        last = meter.servers_cpu()
    if len(marks) <= 2:  # noqa: PLR2004
        raise UserError(f"Not all of {pods} pods ran within {LASTS // 60} minutes.")
    judged = time.monotonic()
    prices = Prices(stack_cost(stack.config, PriceBook.load(stacks.folder())))
    costs = costs_of(record, prices.price_of, fee=prices.fee, prices=prices.note)
    verdicts = judge(scenario, record, stack.config, costs)
    if missed := [f"{each.expectation} ({each.measured})" for each in verdicts if not each.is_met]:
        raise UserError(f"The rehearsal misses: {'; '.join(missed)}.")
    outcome = replace(Outcome(stack=stack.name, scenario="scale", description=""), record=record, verdicts=verdicts)
    outcome, written = replace(outcome, costs=costs), time.monotonic()
    html = page.render([outcome])
    paged = time.monotonic()
    text = as_json.render([outcome])
    wall, own, _ = meter.now()
    seconds, whole = _seconds(record), (wall, own, last)
    run = _run(nodes, pods, (marks[0], marks[1], marks[2], whole), meter, seconds=seconds)
    return replace(
        run,
        verdicts=written - judged,
        page=paged - written,
        page_bytes=len(html.encode()),
        json=time.monotonic() - paged,
        json_bytes=len(text.encode()),
        other_pods=len(record.pods) - pods,
    )


def _seconds(record: Record) -> float:
    """Return the real seconds from the creation of the first pod of the scenario to the start of the last."""
    own = [each for each in record.pods if each.unit]
    return PACE.real(max(each.started or 0 for each in own) - min(each.created for each in own))


def _run(nodes: int, pods: int, marks: tuple[tuple[float, float, float], ...], meter: Meter, seconds: float) -> Run:
    started, begin, end, whole = marks
    return Run(
        nodes=nodes,
        pods=pods,
        nodes_seconds=begin[0] - started[0],
        seconds=seconds,
        wall=end[0] - begin[0],
        own_cpu=end[1] - begin[1],
        servers_cpu=end[2] - begin[2],
        whole_wall=whole[0],
        whole_own_cpu=whole[1],
        whole_servers_cpu=whole[2],
        own_peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        servers_peak=meter.peak,
    )


def _pod(number: int) -> dict[str, Any]:
    requests = {"cpu": _CPU, "memory": _MEMORY}
    container = {"name": "main", "image": _IMAGE, "resources": {"requests": requests}}
    metadata = {"name": f"pod-{number}", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def _creator(server: Server, path: str) -> Callable[[dict[str, Any]], None]:
    def create(manifest: dict[str, Any]) -> None:
        answer = server.ask(Request("POST", path, manifest))
        if not answer.is_good:
            raise answer.refusal()

    return create


def _all(results: Iterator[None]) -> None:
    for _ in results:
        pass


def _some(server: Server, path: str) -> bool:
    return bool(server.ask(Request("GET", path)).body["items"])


def _all_ready(server: Server, nodes: int) -> bool:
    # The taint goes last, so an untainted node is ready.
    found = server.ask(Request("GET", "/api/v1/nodes?resourceVersion=0")).body["items"]
    return len(found) == nodes and not any(
        taint["key"] == "node.kubernetes.io/not-ready" for each in found for taint in each["spec"].get("taints", ())
    )


def _until(is_true: Callable[[], bool]) -> None:
    while not is_true():
        time.sleep(_PAUSE)


def main(what: str, nodes: str, pods: str) -> None:
    """Run once and print the figures."""
    with TemporaryDirectory() as folder:
        run = {"floor": floor, "rehearsal": rehearsal}[what](int(nodes), int(pods), Path(folder), ensure())
    print(json.dumps(asdict(run)))


if __name__ == "__main__":
    main(*sys.argv[1:])
