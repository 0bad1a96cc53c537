"""Watches pods, nodes and events of a cluster, and keeps what it saw for the record."""

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from components.contract.headroom import HEADROOM
from components.contract.labels import AnnotationKey, LabelKey
from workbench.rehearsal.cluster.simulated import SimulatedCluster, Watch
from workbench.rehearsal.play import labels
from workbench.rehearsal.play.agenda import Clock
from workbench.rehearsal.play.observed import ObservedNode, ObservedPod, Specs, ending, kind_of
from workbench.rehearsal.record import AUTOSCALER, Happening, Night, PodEnd, Reason, Refusal
from workbench.rehearsal.scenario.places import Place
from workbench.report.words import count

_UNHEARD: Final = quote("reason!=Scheduled,reason!=SuccessfulCreate,reason!=RegisteredNode")
"""Leaves out the frequent events that add no information: one for each pod or node."""
_PATHS: Final = {"pod": "/api/v1/pods", "node": "/api/v1/nodes", "event": f"/api/v1/events?fieldSelector={_UNHEARD}"}
_SCALERS: Final = "/apis/autoscaling/v2/horizontalpodautoscalers"
_SAYS: Final = {
    "FailedScheduling": "scheduler",
    "NotTriggerScaleUp": "autoscaler",
    "TriggeredScaleUp": "autoscaler",
    "FailedToScaleUp": "autoscaler",
    "Nominated": "autoscaler",
}
"""Reasons of events about waiting pods, and their component; the last is Karpenter's, which also reports the first."""

_KARPENTER: Final = "karpenter"
"""Component that Karpenter's events name."""

_COMBINED: Final = "(combined from similar events): "
"""What client-go puts before the last of many events that differ a little (``tools/record/events_cache.go``)."""

_LONGEST: Final = 1_000
"""Maximum number of characters of a reason that is kept."""

Manifest = Mapping[str, Any]


class Chronicle:
    """Everything that the API server reports about pods and nodes while a scenario is played.

    Moments are those at which the watch delivered an object: the API's own times have whole seconds, which are minutes
    of the scenario.

    Parameters
    ----------
    cluster
        The cluster.
    clock
        Time of the scenario.
    """

    def __init__(self, cluster: SimulatedCluster, clock: Clock) -> None:
        self.cluster = cluster
        self.clock = clock
        self._lock = threading.RLock()
        self._specs = Specs()
        self._changed: set[str] = set()
        self._reasons: dict[str, list[Reason]] = defaultdict(list)
        self._unreplaced: dict[str, list[str]] = defaultdict(list)
        self._unit_causes: dict[str, str] = {}
        self._unit_of_object: dict[str, str] = {}
        self._watches: list[Watch] = []
        self._threads: list[threading.Thread] = []
        self.problem: Exception | None = None
        """Why a watch has ended before it was closed."""
        self.pods: dict[str, ObservedPod] = {}
        """By UID."""
        self.nodes: dict[str, ObservedNode] = {}
        """By UID."""
        self._nodes_by_name: dict[str, ObservedNode] = {}
        self._by_unit: dict[str, list[ObservedPod]] = defaultdict(list)
        self._by_node: dict[str, dict[str, ObservedPod]] = defaultdict(dict)
        self._refusals: list[Refusal] = []
        self._wanted: dict[str, int] = {}
        """Number of pods that the controllers of a unit should create."""
        self._refused: dict[str, Refusal] = {}
        """Refusals of what controllers created, by unit."""
        self._short: set[str] = set()
        """Units that have not had all their pods since the refusal."""
        self.happenings: list[Happening] = []
        self.nights: list[Night] = []

    def start(self, *, scales: bool = False) -> None:
        """Begin to watch; objects that exist count as created now. ``scales``: also watch autoscalers of replicas."""
        for what, path in {**_PATHS, **({"scaler": _SCALERS} if scales else {})}.items():
            watch = self.cluster.api.watch(path)
            see: Callable[[str, Manifest], None] = getattr(self, f"see_{what}")
            thread = threading.Thread(target=self._follow, args=(watch, see), name=f"watch {what}s", daemon=True)
            self._watches.append(watch)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """End the watches."""
        for watch in self._watches:
            watch.close()
        for thread in self._threads:
            thread.join(timeout=5)

    def _follow(self, watch: Watch, see: Callable[[str, Manifest], None]) -> None:
        try:
            for event in watch:
                see(event["type"], event["object"])
        except Exception as error:  # noqa: BLE001 the player raises it in its own thread
            self.problem = self.problem or error

    def see_pod(self, change: str, pod: Manifest) -> None:
        """Process a change of a pod; ignore placeholders of headroom, which never run."""
        if pod["metadata"]["namespace"] == HEADROOM:
            return
        tick, uid = self.clock.ticks(), pod["metadata"]["uid"]
        with self._lock:
            if (observed := self.pods.get(uid)) is None:
                if change == "DELETED":
                    return
                observed = self._new_pod(pod, tick)
            self._update(observed, pod, tick)
            if change == "DELETED":
                observed.exists = False
                if observed.ended is None:
                    self._end(observed, {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": "now"}}, tick)
            if observed.unit:
                self._changed.add(observed.unit)

    def _new_pod(self, pod: Manifest, tick: float) -> ObservedPod:
        metadata = pod["metadata"]
        spec, amounts = self._specs.of(pod["spec"])
        observed = ObservedPod(
            name=metadata["name"],
            namespace=metadata["namespace"],
            uid=metadata["uid"],
            labels=metadata.get("labels", {}),
            kind=kind_of(pod),
            created=tick,
            spec=spec,
            amounts=amounts,
            reasons=self._reasons[metadata["uid"]],
        )
        self.pods[observed.uid] = observed
        if observed.unit:
            self._by_unit[observed.unit].append(observed)
            if observed.unit in self._short and not self._lack(observed.unit):
                self._short.discard(observed.unit)
            if lost := self._unreplaced[observed.unit]:
                observed.replaces = lost.pop(0)
        return observed

    def _update(self, observed: ObservedPod, pod: Manifest, tick: float) -> None:
        observed.run_for = pod["metadata"].get("annotations", {}).get(labels.RUN_FOR)
        if observed.node is None and (node := pod["spec"].get("nodeName")):
            observed.node, observed.scheduled = node, tick
            self._by_node[node][observed.uid] = observed
        phase = pod.get("status", {}).get("phase")
        if observed.started is None and phase in {"Running", "Succeeded"}:
            observed.started = tick
        if observed.ended is None:
            self._end(observed, pod, tick)

    def _end(self, observed: ObservedPod, pod: Manifest, tick: float) -> None:
        node = self._nodes_by_name.get(observed.node or "")
        found = ending(pod, node, self._unit_causes.get(observed.unit, ""))
        if found is None:
            return
        observed.ended = tick
        observed.end, observed.cause = found
        self._by_node[observed.node or ""].pop(observed.uid, None)
        if observed.is_lost and observed.unit:
            self._unreplaced[observed.unit].append(observed.uid)

    def see_node(self, change: str, node: Manifest) -> None:
        """Process a change of a node."""
        tick, metadata = self.clock.ticks(), node["metadata"]
        with self._lock:
            if (observed := self.nodes.get(metadata["uid"])) is None:
                if change == "DELETED":
                    return
                observed = ObservedNode(
                    name=metadata["name"],
                    labels=metadata.get("labels", {}),
                    manifest=node,
                    group=self._group_of(metadata),
                    created=tick,
                )
                self.nodes[metadata["uid"]] = self._nodes_by_name[observed.name] = observed
            observed.see(node, tick)
            if change == "DELETED":
                observed.gone = tick
                observed.cause = observed.cause or (AUTOSCALER if observed.is_leaving or is_elastic(node) else "")

    def _group_of(self, metadata: Manifest) -> str:
        """Return the group of a node: elastic nodes name it, the names of static ones begin with it."""
        if name := metadata.get("annotations", {}).get(AnnotationKey.GROUP.value):
            return str(name)
        names = sorted((group.name for group in self.cluster.groups), key=len, reverse=True)
        pool = metadata.get("labels", {}).get(LabelKey.POOL.value, "")
        return next((name for name in names if re.fullmatch(rf"{re.escape(name)}-r?\d+", metadata["name"])), pool)

    def see_event(self, change: str, event: Manifest) -> None:
        """Process an event: why a pod waits, or that a controller may not create one."""
        reason, about = event.get("reason"), event.get("involvedObject", {})
        if change == "DELETED":
            return
        text = str(event.get("message", "")).removeprefix(_COMBINED)[:_LONGEST]
        with self._lock:
            if reason in _SAYS and about.get("kind") == "Pod":
                known = self._reasons[about.get("uid", "")]
                if all(each.text != text for each in known):
                    is_karpenter = event.get("source", {}).get("component") == _KARPENTER
                    known.append(Reason(self.clock.ticks(), AUTOSCALER if is_karpenter else _SAYS[reason], text))
            elif reason == "FailedCreate":
                name = str(about.get("name", ""))
                unit = self._unit_of_object.get(name) or self._unit_of_object.get(name.rpartition("-")[0])
                if unit:
                    first = Refusal(self.clock.now, unit.rpartition("-")[0], unit, "Pod", name, text, missing=0)
                    self._refused[unit] = replace(self._refused.get(unit, first), message=text)
                    if self._lack(unit):
                        self._short.add(unit)

    def see_scaler(self, change: str, scaler: Manifest) -> None:
        """Process a change of a HorizontalPodAutoscaler: how many replicas it has set."""
        unit = scaler["metadata"].get("labels", {}).get(labels.UNIT, "")
        replicas = scaler.get("status", {}).get("desiredReplicas", 0)
        with self._lock:
            had = self._wanted.get(unit, 0)
            # It has no number before its first sync, and the number of a unit that was deleted stays 0.
            if change != "DELETED" and replicas and had and replicas != had:
                self.wants(unit, replicas)
                self.happened("scale", f"{unit} from {had} to {count(replicas, 'replica')}, by its CPU")

    def owns(self, name: str, unit: str) -> None:
        """Note that the controller of this name creates the pods of a unit."""
        with self._lock:
            self._unit_of_object[name] = labels.label_value(unit)

    def wants(self, unit: str, pods: int) -> None:
        """Note how many pods the controllers of a unit should create from now on."""
        with self._lock:
            name = labels.label_value(unit)
            if refusal := self._refused.get(name):
                self._refused[name] = self._counted(refusal)
            self._wanted[name] = pods

    def refused(self, refusal: Refusal) -> None:
        """Note that an object of the scenario was refused."""
        with self._lock:
            self._refusals.append(refusal)

    @property
    def refusals(self) -> list[Refusal]:
        """All refusals so far, in their order."""
        with self._lock:
            found = [*self._refusals, *map(self._counted, self._refused.values())]
        return sorted(found, key=lambda each: each.at)

    def _counted(self, refusal: Refusal) -> Refusal:
        lack = self._lack(refusal.unit) if refusal.unit in self._short else 0
        return replace(refusal, missing=max(refusal.missing, lack))

    def _lack(self, unit: str) -> int:
        """Return how many pods a unit lacks, of those that its controllers should create."""
        has = sum(pod.ended is None or pod.end is PodEnd.SUCCEEDED for pod in self._by_unit[unit])
        return max(0, self._wanted[unit] - has)

    def mark_unit(self, unit: str, cause: str) -> None:
        """Note why the pods of a unit end from now on."""
        with self._lock:
            self._unit_causes[labels.label_value(unit)] = cause

    def mark_node(self, name: str, cause: str) -> None:
        """Note which event removes a node."""
        with self._lock:
            if observed := self._nodes_by_name.get(name):
                observed.cause = cause

    def happened(self, event: str, text: str, nodes: Iterable[str] = ()) -> None:
        """Note that an event of the scenario took place."""
        with self._lock:
            self.happenings.append(Happening(self.clock.now, event, text, tuple(nodes)))

    def touch(self, unit: str) -> None:
        """Mark a unit as changed."""
        with self._lock:
            self._changed.add(unit)

    def changed(self) -> set[str]:
        """Return the units whose pods changed since the last call."""
        with self._lock:
            found, self._changed = self._changed, set()
        return found

    def of_unit(self, unit: str) -> list[ObservedPod]:
        """Return all pods that a unit has had, in order of creation."""
        with self._lock:
            return list(self._by_unit[labels.label_value(unit)])

    def on_node(self, node: str) -> list[ObservedPod]:
        """Return the pods that have not ended on a node."""
        with self._lock:
            return [each for each in self._by_node[node].values() if each.exists]

    def node(self, name: str) -> ObservedNode | None:
        """Return the last node of a name."""
        with self._lock:
            return self._nodes_by_name.get(name)

    def nodes_in(self, place: Place) -> list[ObservedNode]:
        """Return the nodes of a place, those with most pods of the scenario first, then by name.

        Nodes that an event is already taking are left out.
        """
        with self._lock:
            found = [n for n in self._nodes_by_name.values() if n.gone is None and not n.cause and not n.is_leaving]
            counts = {n.name: sum(1 for p in self._by_node[n.name].values() if p.unit) for n in found}
        inside = [n for n in found if place.holds(**n.facts)]
        return sorted(inside, key=lambda n: (-counts[n.name], n.name))

    @property
    def seen(self) -> set[str]:
        """UIDs of all pods and nodes that there have been."""
        with self._lock:
            return {*self.pods, *self.nodes}

    @property
    def counts(self) -> tuple[int, int, int]:
        """Pods of the scenario that run and that wait, and nodes."""
        with self._lock:
            live = [each for each in self.pods.values() if each.unit and each.ended is None]
            running = sum(1 for each in live if each.started is not None)
            return running, len(live) - running, sum(1 for each in self._nodes_by_name.values() if each.gone is None)


def is_elastic(node: Manifest) -> bool:
    """Return whether the autoscaler owns a node."""
    return AnnotationKey.GROUP.value in node["metadata"].get("annotations", {})


def final(pod: ObservedPod) -> PodEnd:
    """Return the end of a pod when the scenario ends."""
    if pod.ended is not None:
        return pod.end
    return PodEnd.RUNS if pod.started is not None else PodEnd.WAITS
