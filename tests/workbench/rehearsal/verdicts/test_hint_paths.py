"""Every field that a hint names is accepted by the scenario model or the stack model, whatever the kind of the work."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from support.hint_paths import ZONE, problem
from support.records import SPOT_TAINT, USER, config, group, lost, node, pod, record, refusal, spec
from workbench.rehearsal.record import PodEnd, Record
from workbench.rehearsal.scenario.kinds import SCALING, WorkKind, key_problem
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.scenario.work import Work
from workbench.rehearsal.verdicts.hints import FINDERS
from workbench.rehearsal.verdicts.judge import misses
from workbench.rehearsal.verdicts.miss import Miss
from workbench.rehearsal.verdicts.verdict import Hint

ROLE, POOL, LIFE = "igz-clusters.io/role", "igz-clusters.io/pool", "app.iguazio.com/lifecycle"
INITIAL, WORK = group("initial", role="initial", size=(1, 1)), group(size=(0, 1))
FIXED, IDLE = group(size=(1, 1)), group(size=(2, 4))
SPOT = group("spot", lifecycle="spot", taints=(SPOT_TAINT,))
OPEN_SPOT = group("spot", lifecycle="spot")
GPU = group("gpu", role="gpu", size=(0, 1))
ARM = group("arm", instance_type="m7g.2xlarge", taints=("igz-clusters.io/arch=arm64:NoSchedule",))
ZONAL = group("workload-a", pool="workload", zone="eu-west-1a")
OWN = group(instance_type="32cpu-128gib")

GPUS: dict[str, Any] = {"requests": {"nvidia.com/gpu": "4"}, "limits": {"nvidia.com/gpu": "4"}}
AMD: dict[str, Any] = {"requests": {"amd.com/gpu": "1"}, "limits": {"amd.com/gpu": "1"}}
SPECS = (
    spec(),
    spec(priorityClassName="igz-workload-low"),
    spec(requests={"memory": "2Gi"}, limits={"memory": "64Gi"}),
    *(spec(selector={**USER, **own}) for own in (
        {"poool": "a"}, {ROLE: "gpu"}, {ROLE: "initial"}, {ROLE: "jupyter"}, {POOL: "workload", ROLE: "gpu"},
        {LIFE: "preemptible"}, {LIFE: "non-preemptible"}, {"kubernetes.io/arch": "arm64"}, {ZONE: "eu-west-1f"},
        {ZONE: "eu-west-1a"},
    )),
    *(spec(tolerations=[{"key": key, "operator": "Exists"}]) for key in (LIFE, "lifecicle")),
    *(spec(**resources, selector=own) for resources in (GPUS, AMD) for own in (USER, {ROLE: "workload"})),
)  # fmt: skip
GROUPS = ((INITIAL, WORK, ARM), (FIXED, GPU), (INITIAL, SPOT), (OPEN_SPOT, ZONAL, OWN))
SAID = (
    "0/2 nodes are available: 2 Insufficient cpu.",
    "0/2 nodes are available: 2 Too many pods.",
    "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.",
    "pod didn't trigger scale-up: 1 in backoff after failed scale-up, 1 max node group size reached",
)
REFUSALS = (
    'namespaces "x" not found',
    "no PriorityClass with name x was found",
    "exceeded quota: requests, requested: requests.cpu=8, used: requests.cpu=8, limited: requests.cpu=8",
    "exceeded quota: no-system-priority, requested: pods=1, used: pods=0, limited: pods=0",
    "failed quota: requests: must specify requests.memory for: base",
    "maximum cpu usage per Container is 4, but limit is 8",
    "maximum memory usage per Container is 4Gi, but request is 8Gi",
    "maximum nvidia.com/gpu usage per Container is 1, but limit is 8",
    "the MPI job would wait forever",
    "spot nodes carry no taint here",
    'violates PodSecurity "baseline:latest": privileged',
    *(f"denied request: Wrong. Fix: Do better. [{rule}]" for rule in (
        "PL-01", "PL-02", "PL-05", "PL-06", "PR-05", "RS-01", "RS-02", "SP-01", "HG-01",
    )),
)  # fmt: skip
URGENT = spec(priorityClassName="igz-workload-high")
LOSSES = ("spot-reclaim", "autoscaler", "node-failure")
EXPECTATIONS: tuple[dict[str, Any], ...] = (
    {"expect": "waits-at-most", "work": "train", "time": "1m"},
    {"expect": "lands-on", "work": "train", "place": {"lifecycle": "spot"}},
    {"expect": "never-on", "work": "train", "place": {"role": "initial"}},
    {"expect": "survives", "work": "train"},
    {"expect": "restarted", "work": "train", "time": "1m"},
    {"expect": "minimum-again"},
    {"expect": "core-services-unmoved"},
    {"expect": "at-most", "usd": 0.01},
)
OPTIONS: dict[str, Any] = {
    "role": "gpu",
    "mode": "prevent",
    "volume": {"size": "1Gi"},
    "priorityClass": "system-cluster-critical",
    "workers": 2,
}


def works(kind: WorkKind) -> Iterator[Work]:
    """Yield a work of a kind with hardly anything else, and one with all options that the kind has."""
    own = {"kind": kind} | ({"pod": {"containers": [{"name": "main"}]}} if kind is WorkKind.POD else {})
    critical = {"labels": {"igz-clusters.io/critical": "true"}, "namespace": "elsewhere"}
    for options in ({"priority": "igz-workload-low"}, OPTIONS):
        yield Work.model_validate(own | critical | {k: v for k, v in options.items() if not key_problem(k, kind)})


def facts(kind: WorkKind) -> Iterator[Record]:
    """Yield records of pods that wait, run late, are lost, were refused, or did nothing wrong at all."""
    for groups, shape in itertools.product(GROUPS, SPECS):
        own = {"spec": shape, "kind": kind.value, "gpus": 4 if "gpu" in repr(shape["containers"]) else 0}
        nodes = [node(f"n{index}", each, created=60, ready=200) for index, each in enumerate(groups)]
        waiting = [
            pod("w", said=SAID, **own),
            pod("cpu", **own, cpu_millis=64_000),
            pod("daemons", **own, cpu_millis=7800),
        ]
        late = [pod(f"r{each.name}", on=each.name, wait=600, **own) for each in nodes]
        agent = pod("agent", "", on=nodes[0].name, kind="daemon-set", cpu_millis=500)
        core = pod("core", "", kind="core-service", said=SAID[:1])
        urgent = pod("urgent", "urgent", on=nodes[-1].name, created=60, wait=30, spec=URGENT)
        yield record([*waiting, *late, agent, core, urgent], groups=groups, nodes=nodes)
    for cause in LOSSES:
        gone = node("s", SPOT, gone=600, gone_cause=cause)
        yield record([lost(pod("train-1", on="s"), 600, cause)], groups=[SPOT], nodes=[gone])
    yield record([lost(pod("p", on="w"), 600, "db", PodEnd.PREEMPTED)], groups=[WORK], nodes=[node("w", WORK)])
    yield record([pod("train-1", on="w")], groups=[WORK], nodes=[node("w", WORK, created=60)])
    yield record([], groups=[IDLE], nodes=[node(f"w{index}", IDLE) for index in range(3)])
    yield from (record(refusals=[refusal("train-1", text)]) for text in REFUSALS)


def found(kind: WorkKind) -> Iterator[tuple[Any, Hint, Miss]]:
    """Yield every hint on every expectation that one of the records misses, with its finder."""
    base = Scenario.model_validate(
        {"description": "-", "lasts": "1h", "works": {"train": {"kind": "service"}, "urgent": {"kind": "service"}},
         "arrivals": [{"work": "train"}, {"work": "urgent"}], "expectations": EXPECTATIONS}
    )  # fmt: skip
    choices = config({"gpu": {"role": "gpu", "size": {"min": 0, "max": 2}, "instanceTypes": ["g5.2xlarge"]}})
    for work, each in itertools.product(works(kind), list(facts(kind))):
        scenario = base.model_copy(update={"works": {**base.works, "train": work}})
        for miss in misses(scenario, each, choices, None):
            yield from ((finder, hint, miss) for finder in FINDERS for hint in finder(miss))


def of_traffic(kind: WorkKind) -> Iterator[tuple[Any, Hint, Miss]]:
    """Yield every hint on a work that does not keep up with its traffic, with its finder."""
    limited = spec(limits={"cpu": "1"})
    pods = [pod(f"p{index}", on="n", unit="train-0", kind=kind.value, spec=limited) for index in range(2)]
    for scales in ({"max": 2}, {"max": 9}, {"max": 9, "cpuUtilization": 95}):
        document = {
            "description": "-",
            "lasts": "1h",
            "works": {"train": {"kind": kind.value, "scales": scales}},
            "arrivals": [{"work": "train"}],
            "events": [{"event": "load", "work": "train", "at": "1m", "cpu": "4"}],
            "expectations": [{"expect": "keeps-up", "work": "train", "time": "5m"}],
        }
        for miss in misses(Scenario.model_validate(document), record(pods), config(), None):
            yield from ((finder, hint, miss) for finder in FINDERS for hint in finder(miss))


@pytest.mark.parametrize("kind", WorkKind)
def test_every_path_of_a_hint_is_a_field_that_users_may_write(kind: WorkKind) -> None:
    all_hints = itertools.chain(found(kind), of_traffic(kind) if kind in SCALING else ())
    wrong = {(finder.__name__, hint.path, why) for finder, hint, miss in all_hints
             if (why := problem(hint, miss.scenario))}  # fmt: skip
    assert not wrong


def test_the_records_above_reach_every_finder() -> None:
    reached = {finder for kind in (WorkKind.MLRUN_JOB, WorkKind.MPI) for finder, _, _ in found(kind)}
    reached |= {finder for finder, _, _ in of_traffic(WorkKind.SERVICE)}
    assert {finder.__name__ for finder in set(FINDERS) - reached} == set()
