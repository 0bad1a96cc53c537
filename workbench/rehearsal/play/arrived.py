"""The units that are on the cluster: their operators, their objects, and MLRun's monitoring of their runs."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

from components.contract.labels import WellKnownLabel
from workbench.rehearsal.cluster.simulated import Api
from workbench.rehearsal.play import labels, mpi_jobs
from workbench.rehearsal.play.agenda import Agenda
from workbench.rehearsal.play.chronicle import Chronicle
from workbench.rehearsal.play.objects import Objects
from workbench.rehearsal.play.observed import ObservedPod
from workbench.rehearsal.play.operators import (
    MONITORING,
    Create,
    Fail,
    Later,
    Operator,
    Remove,
    RunFor,
    operator_of,
    state_of,
    thresholds,
)
from workbench.rehearsal.play.site import quietly
from workbench.rehearsal.play.units import AUTOSCALER_OF_PODS, Manifest, Request, Unit, in_zone

Reaction = Callable[[], object]


class ArrivedUnits:
    """Units that have arrived.

    Parameters
    ----------
    api, chronicle, objects
        The cluster's API, what is known about it, and what creates the objects.
    create
        Sends a unit's object, and notes how many pods are missing if it is refused; returns whether it was accepted.
    """

    def __init__(
        self, api: Api, chronicle: Chronicle, objects: Objects, create: Callable[[Unit, Request, int], bool]
    ) -> None:
        self._api = api
        self._chronicle = chronicle
        self._objects = objects
        self._create = create
        self._units: dict[str, Unit] = {}
        self._operators: dict[str, Operator] = {}
        self._controllers: dict[str, list[tuple[str, str]]] = defaultdict(list)
        """Kind and path of the controllers that create the pods of each unit."""
        self._mpi_jobs: dict[str, Manifest] = {}
        """The MPI job of each unit that is one."""
        self._without_zone: set[str] = set()
        """Units whose volume is not in a zone yet."""
        self._deleted: set[str] = set()
        self._lock = threading.Lock()

    def add(self, unit: Unit, now: float, agenda: Agenda) -> None:
        """Add a unit when it arrives."""
        name = labels.label_value(unit.name)
        with self._lock:
            self._units[name] = unit
            if found := operator_of(unit, self._objects, self._is_held):
                self._operators[name] = found
            if unit.work.volume and not unit.work.volume.zone:
                self._without_zone.add(name)
        for state, seconds in thresholds(unit, self._objects).items():
            agenda.add(now + seconds + MONITORING, partial(self._judge, unit, state))

    def has(self, unit: Unit) -> bool:
        """Return whether a unit has arrived."""
        return labels.label_value(unit.name) in self._units

    def owned(self, unit: Unit, manifest: Manifest) -> Manifest:
        """Return an object of a unit, with the unit's MPI job as the owner if it is one of its pods."""
        job = self._mpi_jobs.get(unit.name) if manifest["kind"] == "Pod" else None
        return mpi_jobs.owned(manifest, job) if job else manifest

    def note_created(self, unit: Unit, request: Request, made: Manifest) -> None:
        """Note an object that the API server accepted, as it returned it."""
        with self._lock:
            if request.kind == mpi_jobs.KIND:
                self._mpi_jobs[unit.name] = made
            elif request.kind in {"Deployment", "Job", AUTOSCALER_OF_PODS}:
                self._controllers[unit.name].append((request.kind, self._api.path_of(request.manifest)))

    def deployments(self, unit: Unit) -> list[str]:
        """Return the paths of a unit's Deployments."""
        return [path for kind, path in self._controllers[unit.name] if kind == "Deployment"]

    def delete(self, unit: Unit) -> None:
        """Delete the objects of a unit, except its volume."""
        self._deleted.add(labels.label_value(unit.name))
        self._chronicle.wants(unit.name, 0)
        for _, path in self._controllers[unit.name]:
            quietly(self._api.delete, path)
        if job := self._mpi_jobs.get(unit.name):
            quietly(self._api.delete, self._api.path_of(job))
        if not self._controllers[unit.name]:
            for pod in self._chronicle.of_unit(unit.name):
                if pod.exists:
                    quietly(self._api.delete, pod.path)

    def reactions(self, name: str, now: float, agenda: Agenda) -> Iterator[Reaction]:
        """Yield what the operator of a unit does after a change of its pods."""
        unit, operator = self._units.get(name), self._operators.get(name)
        if unit is None or name in self._deleted:
            return
        if name in self._without_zone and (reaction := self._zone_of_volume(unit)):
            self._without_zone.discard(name)
            yield reaction
        if operator is not None:
            for action in operator.actions(self._chronicle.of_unit(name), now):
                if isinstance(action, Later):
                    agenda.add(now + action.seconds, partial(self._chronicle.touch, name))
                else:
                    yield partial(self._do, unit, action)

    def _do(self, unit: Unit, action: Create | RunFor | Fail | Remove) -> None:
        match action:
            case Create():
                self._create(unit, action.request, action.missing)
            case RunFor():
                quietly(self._api.patch, action.pod.path, {"metadata": {"annotations": {labels.RUN_FOR: action.value}}})
            case Fail():
                status = {"phase": "Failed", "message": action.message, "reason": "Error"}
                quietly(self._api.patch, f"{action.pod.path}/status", {"status": status})
            case Remove():
                quietly(self._api.delete, action.pod.path, grace=0)

    def _is_held(self, pod: ObservedPod) -> bool:
        """Return whether a pod is on a node that exists and does not answer."""
        node = self._chronicle.node(pod.node or "")
        return node is not None and node.gone is None and not node.is_ready

    def _zone_of_volume(self, unit: Unit) -> Reaction | None:
        """Return what sets the zone of a unit's volume to that of its first pod; None while no pod has a zone.

        A cloud creates a volume in the zone of the node that was chosen first (``WaitForFirstConsumer``).
        """
        node = next((each.node for each in self._chronicle.of_unit(unit.name) if each.node), None)
        observed = self._chronicle.node(node) if node else None
        zone = observed.labels.get(WellKnownLabel.ZONE.value) if observed else None
        if not zone:
            return None
        patch = {"spec": {"nodeAffinity": in_zone(zone)}}
        return partial(quietly, self._api.patch, f"/api/v1/persistentvolumes/{unit.claim}", patch)

    def _judge(self, unit: Unit, state: str) -> None:
        """Abort the run of a unit, as MLRun does, if a pod is in a state whose time limit is over."""
        live = [each for each in self._chronicle.of_unit(unit.name) if each.ended is None]
        if any(state_of(each) == state for each in live):
            self._chronicle.mark_unit(unit.name, f"MLRun aborted the run: {state}")
            self.delete(unit)
