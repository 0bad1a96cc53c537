"""A cluster in the making, for records made by hand: places pods by their requests alone, first come, first served."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from workbench.rehearsal.record import GroupFacts, NodeRecord, PodEnd, PodRecord, Reason

MINUTE: Final = 60.0
LASTS: Final = 150 * MINUTE
RECLAIM: Final = 35 * MINUTE
START: Final = 120.0
UNFIT: Final = (
    "0/7 nodes are available: 2 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint(s), "
    "3 node(s) didn't match Pod's node affinity/selector. preemption: 0/7 nodes are available: 2 No preemption victims "
    "found for incoming pod, 5 Preemption is not helpful for scheduling."
)
FULL: Final = (
    "pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector, 1 max node group size reached"
)


def group(pool: str, size: tuple[int, int], machine: str, shape: tuple[int, int, int], spot: str = "") -> GroupFacts:
    """Return a node group; ``shape`` is CPU in thousandths, memory in MiB, GPUs."""
    cpu, memory, gpus = shape
    return GroupFacts(
        name=f"prod-{pool}",
        pool=pool,
        role=pool if pool in {"initial", "gpu"} else "workload",
        lifecycle="spot" if spot else "on-demand",
        zone=None,
        instance_type=machine,
        min=size[0],
        max=size[1],
        is_elastic=size[0] != size[1],
        labels={"igz-clusters.io/pool": pool},
        taints=("nvidia.com/gpu=present:NoSchedule",) if gpus else (),
        gpu_resource="nvidia.com/gpu" if gpus else None,
        cpu_millis=cpu,
        memory_mib=memory,
        gpus=gpus,
    )


def groups(gpu_max: int = 2) -> tuple[GroupFacts, ...]:
    return (
        group("initial", (2, 2), "m6i.2xlarge", (7_910, 30_200, 0)),
        group("workload", (1, 6), "m6i.2xlarge", (7_910, 30_200, 0), "spot"),
        group("gpu", (0, gpu_max), "g5.2xlarge", (7_910, 30_200, 1)),
    )


@dataclass
class Site:
    """A cluster in the making: gives pods to nodes, and adds nodes up to the maximum."""

    groups: Sequence[GroupFacts]
    lasts: float = LASTS
    start: float = START
    nodes: dict[str, NodeRecord] = field(default_factory=dict)
    pods: list[PodRecord] = field(default_factory=list)
    held: dict[str, list[PodRecord]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in self.groups:
            for _ in range(each.min):
                self.add(each, -900.0, -900.0 + self.start)

    def add(self, kind: GroupFacts, created: float, ready: float) -> NodeRecord:
        number = sum(node.pool == kind.pool for node in self.nodes.values())
        node = NodeRecord(
            name=f"{kind.pool}-{number}",
            group=kind.name,
            pool=kind.pool,
            role=kind.role,
            lifecycle=kind.lifecycle,
            zone="eu-west-1" + "abc"[number % 3],
            instance_type=kind.instance_type,
            created=created,
            ready=ready,
            cpu_millis=kind.cpu_millis,
            memory_mib=kind.memory_mib,
            gpus=kind.gpus,
        )
        self.nodes[node.name] = node
        self.held[node.name] = []
        self.run(f"node-exporter-{node.name}", "daemon-set", "", (180, 260, 0), ready, None, node.name)
        return node

    def run(  # noqa: PLR0917
        self,
        name: str,
        kind: str,
        work: str,
        need: tuple[int, int, int],
        created: float,
        lasts: float | None,
        on: str,
        team: str = "",
        replaces: str | None = None,
    ) -> PodRecord:
        """Add a pod that a node, or a pool as soon as it has room, runs for so long."""
        pod = PodRecord(
            name=name,
            namespace="mlrun" if work else "kube-system",
            uid=f"uid-{name}",
            work=work,
            unit=name.rpartition("-")[0] if work else "",
            team=team,
            kind=kind,
            created=created,
            cpu_millis=need[0],
            memory_mib=need[1],
            gpus=need[2],
            replaces=replaces,
            spec={"priorityClassName": "igz-workload-medium"},
        )
        place, at = (on, created) if on in self.nodes else self._place(pod, on, lasts or self.lasts)
        reasons = (Reason(created + 1, "scheduler", UNFIT),) if at > created + 5 else ()
        if at > created + 150:
            reasons += (Reason(created + 11, "autoscaler", FULL),)
        if place is None:
            done = replace(pod, reasons=reasons)
        else:
            started = at + 4
            ended = started + lasts if lasts and started + lasts < self.lasts else None
            done = replace(pod, scheduled=at, started=started, node=place, reasons=reasons, ended=ended)
            done = replace(done, end=PodEnd.SUCCEEDED if ended else PodEnd.RUNS)
            self.held[place].append(done)
        self.pods.append(done)
        return done

    def _place(self, pod: PodRecord, pool: str, lasts: float) -> tuple[str | None, float]:
        kind = next(each for each in self.groups if each.pool == pool)
        moment = pod.created
        grown = False
        while moment < self.lasts:
            inside = [node for node in self.nodes.values() if node.pool == pool and node.gone is None]
            for node in inside:
                if (node.ready or 0) <= moment and self._fits(pod, node, moment, lasts):
                    return node.name, moment
            coming = any((node.ready or 0) > moment for node in inside)
            if len(inside) < kind.max and not grown and not coming:
                self.add(kind, moment + 11, moment + 11 + self.start)
                grown = True
            moment += 10
        return None, self.lasts

    def _fits(self, pod: PodRecord, node: NodeRecord, moment: float, lasts: float) -> bool:
        there = [
            each
            for each in self.held[node.name]
            if (each.started or 0) < moment + lasts and (each.ended is None or each.ended > moment)
        ]
        return (
            sum(each.cpu_millis for each in there) + pod.cpu_millis <= node.cpu_millis
            and sum(each.memory_mib for each in there) + pod.memory_mib <= node.memory_mib
            and sum(each.gpus for each in there) + pod.gpus <= node.gpus
        )

    def reclaim(self, names: Sequence[str], at: float) -> list[PodRecord]:
        """Take nodes away with their pods, and return these; pods of later do not exist yet."""
        lost = []
        for name in names:
            self.nodes[name] = replace(self.nodes[name], gone=at, gone_cause="spot-reclaim")
            for index, pod in enumerate(self.pods):
                if pod.node == name and (pod.ended is None or pod.ended > at):
                    cause = f"spot-reclaim of node {name}"
                    self.pods[index] = replace(pod, ended=at, end=PodEnd.LOST, end_cause=cause)
                    lost.append(self.pods[index])
        return [pod for pod in lost if pod.work]

    def emptied(self) -> Iterator[NodeRecord]:
        """Return the nodes; elastic ones go 10 minutes after their last pod."""
        least = {each.pool: each.min for each in self.groups}
        for name, node in self.nodes.items():
            pods = [pod for pod in self.held[name] if pod.kind != "daemon-set"]
            ends = [pod.ended if pod.ended is not None else self.lasts for pod in pods]
            last = max(ends, default=node.ready or 0) + 10 * MINUTE
            is_extra = int(name.rpartition("-")[2]) >= least[node.pool]
            if node.gone is None and is_extra and last < self.lasts:
                yield replace(node, gone=last, gone_cause="autoscaler")
            else:
                yield node
