"""A rehearsal places as many pods on as many nodes as an exact packing allows, or greed explains why not.

Each set has pools and pods of its own, drawn at random, which no other set's pods select. All sets of a rehearsal share
one stack and one scenario. `make test-all` rehearses 15 of the 200 sets, `make proofs` the others.

As seen with these seeds; the order in which pods of a set arrive varies, and with it a few of the lines below:

- 200 sets: 168 placed as many pods as possible, 194 have as few nodes as possible, 166 both.
- 30 sets placed fewer pods, one or two each, because the scheduler places pods first come, first served and moves none;
  2 of them have another number of nodes too. Nothing fits any more in any of them.
- 2 sets placed as many as possible on one node more, for the same reason.
- 2 sets placed none: their pods fill a node of an empty pool to the last 100m, which the autoscaler holds back for
  kube-proxy, as it does on AWS and Azure.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from components.contract.instances import INSTANCE_TYPES
from components.contract.local.nodes import UPSTREAM
from components.contract.quantities import parse_quantity
from infra.config import CONFIG_KEY, parse
from support.packing import NOTHING, Amounts, Kind, Node, Packing, Seen, best, minus, plus, unexplained
from support.sampled import sampled
from workbench.rehearsal.cluster.load import load_of
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodRecord, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.stacks import Stack, find
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

REHEARSALS = {"few": 15, **{f"many-{number}": 37 for number in range(1, 6)}}
"""Number of sets by rehearsal: 200 altogether. A scenario has at most 200 works, a set at most 5."""

LABEL = "example.com/set"
PLAIN = ("m6i.xlarge", "m6i.2xlarge", "c6i.2xlarge", "r6i.xlarge", "m6i.4xlarge")
WITH_GPUS = ("g5.xlarge", "g4dn.xlarge", "g5.12xlarge")

EVERY = 20
"""Seconds between the arrivals of two sets."""
QUIET = 15 * 60
"""Seconds at the end in which nothing may happen any more: longer than an idle node stays, which is 10 minutes."""


KUBE_PROXY: Amounts = (100, 0, 0)
"""What the autoscaler holds back for kube-proxy on nodes of a group that has none, beside all DaemonSets.

The provider for simulated nodes does so as those of AWS and Azure do: kubernetes/autoscaler 1959f5f6, BuildKubeProxy in
``cluster-autoscaler/cloudprovider/utils.go`` and TemplateNodeInfo in ``aws/aws_cloud_provider.go``,
``azure/azure_scale_set.go`` and ``kwok/kwok_nodegroups.go``.
"""


@dataclass(frozen=True)
class Sizes:
    """A set: its pools as in a stack file, and its works as in a scenario, with how many pods each has."""

    pools: Mapping[str, dict[str, Any]]
    works: Mapping[str, dict[str, Any]]
    counts: Mapping[str, int]


def drawn(random: Random, name: str) -> Sizes:
    """Return a random set."""
    has_gpus = random.random() < 0.2
    pools, left = {}, 5
    for pool in (name, f"{name}b")[: random.choice((1, 1, 2))]:
        most = random.randint(1, min(left, 4))
        least = random.choice((0, 0, 1, most))
        pools[pool] = {
            "role": "gpu" if has_gpus else "workload",
            "size": {"min": min(least, most), "max": most},
            "instanceTypes": [random.choice(WITH_GPUS if has_gpus else PLAIN)],
            "labels": {LABEL: name},
        }
        left -= most
    works: dict[str, dict[str, Any]] = {}
    counts: dict[str, int] = {}
    pods_left = random.randint(2, 10)
    while pods_left and len(works) < 5:
        work = f"{name}-{len(works)}"
        works[work] = {
            "kind": "mlrun-job",  # bare pods: the autoscaler moves none of them, so nothing is packed anew
            "nodeSelector": {LABEL: name},
            **sizes(random, random.choice([*pools.values()])["instanceTypes"][0]),
        }
        counts[work] = random.randint(1, min(pods_left, 4))
        pods_left -= counts[work]
    return Sizes(pools, works, counts)


def sizes(random: Random, machine: str) -> dict[str, Any]:
    """Return requests that have to do with a machine's room: any share, an exact one, or a little too much."""
    instance = INSTANCE_TYPES[machine]
    cpu, memory, _ = minus(
        (UPSTREAM.allocatable_cpu_millis(instance), UPSTREAM.allocatable_memory_mib(instance), 0), DAEMONS
    )
    match random.randrange(10):
        case 0:  # fills a node to the last thousandth
            parts = random.choice((1, 2, 3))
            cpu //= parts
            memory = round(memory * random.uniform(0.05, 1 / parts))
        case 1:  # misses that by one
            cpu, memory = round(cpu * random.uniform(0.05, 0.5)), memory // random.choice((1, 2)) + 1
        case _:
            cpu, memory = (round(whole * random.uniform(0.05, 0.75)) for whole in (cpu, memory))
    gpus = random.randint(1, max(1, math.ceil(instance.gpus / 2)))
    return {
        "cpu": f"{cpu}m",
        "memory": f"{memory}Mi",
        **({"gpus": gpus, "role": "gpu"} if instance.gpus else {}),
    }


def rehearsed_sets(name: str) -> dict[str, Sizes]:
    random = Random(f"sets of {name}")  # noqa: S311 no secret
    return {f"s{number}": drawn(random, f"s{number}") for number in range(REHEARSALS[name])}


def stack_of(sets: Mapping[str, Sizes]) -> Stack:
    stack = find("local")
    config = stack.document["config"]
    choices = {
        **config[CONFIG_KEY],
        "namespaces": {"mlrun": {}},
        "pools": {
            "initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]},
            **{pool: choice for each in sets.values() for pool, choice in each.pools.items()},
        },
    }
    return replace(stack, document={**stack.document, "config": {**config, CONFIG_KEY: choices}}, config=parse(choices))


def scenario_of(sets: Mapping[str, Sizes], lasts: int) -> Any:
    counts = [(number, *each) for number, one in enumerate(sets.values()) for each in one.counts.items()]
    return Scenario.model_validate(
        {
            "description": "Random sets of pods and pools",
            "lasts": f"{lasts}s",
            "works": {name: work for each in sets.values() for name, work in each.works.items()},
            "arrivals": [{"work": work, "count": n, "at": f"{number * EVERY}s"} for number, work, n in counts],
            "expectations": [{"expect": "lands-on", "work": counts[0][1], "place": {}}],
        }
    )


def daemons(stack: Stack) -> Amounts:
    """Return what the DaemonSets of a local cluster take of every node: they tolerate all taints."""
    sets = [each.manifest for each in load_of(stack.config).loads if each.manifest["kind"] == "DaemonSet"]
    requests = [
        container.get("resources", {}).get("requests", {})
        for each in sets
        for container in each["spec"]["template"]["spec"]["containers"]
    ]
    return plus(
        (int(parse_quantity(each.get("cpu", "0")) * 1000), int(parse_quantity(each.get("memory", "0")) / 2**20), 0)
        for each in requests
    )


DAEMONS = daemons(stack_of({}))


def last_change(record: Record) -> float:
    """Return when a pod of a set was placed or ended, or a node came or went, for the last time."""
    pods = (moment for pod in record.pods if pod.work for moment in (pod.created, pod.scheduled, pod.ended))
    nodes = (moment for node in record.nodes for moment in (node.created, node.ready, node.gone))
    return max(moment for moments in (pods, nodes) for moment in moments if moment is not None)


def rehearsed(sets: Mapping[str, Sizes]) -> Record:
    """Return the record of a rehearsal at whose end nothing happened any more; a busy machine needs longer."""
    stack, lasts = stack_of(sets), len(sets) * EVERY + QUIET + 20 * 60
    for factor in (1, 2, 4):
        with simulated(stack, Pace(), binaries=ensure(), progress=lambda _: None) as cluster:
            record = play(cluster, scenario_of(sets, lasts * factor))
        if last_change(record) + QUIET <= record.lasts:
            return record
    pytest.fail(f"something happens at {last_change(record)} s of {record.lasts} s")


@dataclass(frozen=True)
class Found:
    """What became of one set."""

    name: str
    seen: Seen
    best: Packing

    @property
    def placed(self) -> int:
        """Number of pods that were placed."""
        return len(self.seen.pods) - len(self.seen.waiting)

    @property
    def is_equal(self) -> tuple[bool, bool]:
        """Whether the number of placed pods, and that of nodes, are those of the best packing."""
        return self.placed == self.best.placed, len(self.seen.nodes) == self.best.nodes

    @property
    def cause(self) -> str:
        """Why pods or nodes are not those of the best packing; empty if they are."""
        if self.is_equal == (True, True):
            return ""
        without = unexplained(replace(self.seen, held_back=NOTHING))
        what = f"{'' if self.is_equal[0] else 'pods '}{'' if self.is_equal[1] else 'nodes '}"
        return what + ("held back for kube-proxy" if without else "first come, first served")

    def problems(self) -> Iterator[str]:
        """Return what nothing explains."""
        yield from unexplained(self.seen)
        if self.placed > self.best.placed:
            yield "more pods than fit"
        if self.placed == self.best.placed and len(self.seen.nodes) < self.best.nodes:
            yield "fewer nodes than these pods need"

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.placed} of {len(self.seen.pods)} pods on {len(self.seen.nodes)} nodes, "
            f"at best {self.best.placed} on {self.best.nodes}"
        )


def amounts(pod: PodRecord) -> Amounts:
    return pod.cpu_millis, pod.memory_mib, pod.gpus


def found_of(record: Record, name: str, sizes: Sizes) -> Found:
    """Return what became of a set: its pods and nodes at the end of the record."""
    mine = [pod for pod in record.pods if pod.work in sizes.works]
    nodes, standing, further = [], [], []
    for facts in (group for group in record.groups if group.pool in sizes.pools):
        exist = [node for node in record.nodes if node.group == facts.name and node.gone is None]
        for index, node in enumerate(sorted(exist, key=lambda each: each.created)):
            there = [pod for pod in record.pods if pod.node == node.name and pod.ended is None]
            room = minus(
                (node.cpu_millis, node.memory_mib, node.gpus),
                plus(amounts(pod) for pod in there if pod.work not in sizes.works),
            )
            pods = tuple(amounts(pod) for pod in there if pod.work in sizes.works)
            nodes.append((node.created, Node(node.name, facts.pool, room, pods, is_added=index >= facts.min)))
            if index < facts.min:
                standing.append(room)
        room = minus((facts.cpu_millis, facts.memory_mib, facts.gpus), DAEMONS)
        further.append((Kind(facts.pool, room, facts.max - facts.min), facts.max - len(exist)))
    return Found(
        name,
        Seen(
            pods=tuple(amounts(pod) for pod in mine),
            waiting=tuple(amounts(pod) for pod in mine if pod.scheduled is None or pod.ended is not None),
            nodes=tuple(node for _, node in sorted(nodes, key=lambda each: each[0])),
            further=tuple(replace(kind, count=count) for kind, count in further),
            held_back=KUBE_PROXY,
        ),
        best([amounts(pod) for pod in mine], standing, [kind for kind, _ in further]),
    )


@dataclass(frozen=True)
class Rehearsal:
    """A rehearsal of several sets."""

    sets: Mapping[str, Sizes]
    record: Record
    found: tuple[Found, ...]


@pytest.fixture(
    scope="module",
    params=sampled(REHEARSALS, ["few"], others=pytest.mark.proofs),
)
def rehearsal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    sets = rehearsed_sets(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path_factory.mktemp("data")))
        record = rehearsed(sets)
    return Rehearsal(sets, record, tuple(found_of(record, name, each) for name, each in sets.items()))


def test_every_pod_of_every_set_arrives_and_none_is_lost(rehearsal: Rehearsal) -> None:
    assert rehearsal.record.refusals == ()
    for found, sizes in zip(rehearsal.found, rehearsal.sets.values(), strict=True):
        assert len(found.seen.pods) == sum(sizes.counts.values()), str(found)
    works = {work for sizes in rehearsal.sets.values() for work in sizes.works}
    assert [pod for pod in rehearsal.record.pods if pod.work in works and pod.ended is not None] == []


def test_every_node_runs_the_daemons_that_the_exact_packing_counts(rehearsal: Rehearsal) -> None:
    for node in (node for node in rehearsal.record.nodes if node.gone is None):
        there = [pod for pod in rehearsal.record.pods if pod.node == node.name and pod.kind == "daemon-set"]
        assert plus(amounts(pod) for pod in there) == DAEMONS, node


def test_pods_placed_and_nodes_are_those_of_an_exact_packing_or_a_known_cause_explains_why_not(
    rehearsal: Rehearsal, record_property: Any
) -> None:
    causes = Counter(found.cause for found in rehearsal.found)
    record_property("sets by cause", str(dict(causes)))
    print(f"\n{dict(causes)}", *(f"{one}: {one.cause}" for one in rehearsal.found if one.cause), sep="\n")
    wrong = [f"{found}: {problem}" for found in rehearsal.found for problem in found.problems()]
    assert not wrong, "\n".join(wrong)
    assert 2 * causes[""] > len(rehearsal.found)
