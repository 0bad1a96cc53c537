"""Builds the cluster of a stack on a control plane of its own, for one rehearsal."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from components.contract.clusters import descriptor_of
from components.contract.groups import spare_nodes
from components.contract.headroom import HEADROOM
from infra.config import StackConfig
from workbench.local import Binaries, Instance, remove_abandoned
from workbench.local.programs import versions
from workbench.rehearsal.cluster.admission import wait_until_in_force
from workbench.rehearsal.cluster.api import KubeApi
from workbench.rehearsal.cluster.capacity import capacity_objects
from workbench.rehearsal.cluster.existing import as_rehearsed
from workbench.rehearsal.cluster.load import CoreLoad, load_of
from workbench.rehearsal.cluster.metrics import WINDOW, MetricsServer, offer
from workbench.rehearsal.cluster.nodes import assumptions, group_facts
from workbench.rehearsal.cluster.objects import apply_objects, objects_of
from workbench.rehearsal.cluster.scaling import Scaling, autoscaling
from workbench.rehearsal.cluster.simulated import ApiError, LostError, Usages
from workbench.rehearsal.cluster.tuning import Emulation, tuning
from workbench.rehearsal.record import GroupFacts
from workbench.rehearsal.settings import Pace, Scaler
from workbench.stacks import Stack
from workbench.system.errors import UserError

PREFIX: Final = "rehearsal-"
"""Beginning of the names of rehearsals' instances."""

NODES_SECONDS: Final = 60.0
"""Longest wait for the next of the first nodes to become ready, in addition to its start-up time."""
LOAD_SECONDS: Final = 6.0
"""Longest wait for the next of the cluster's own pods to run, in addition to the start-up time of nodes; after it, the
remaining pods count as not fitting."""

_NAME_LENGTH: Final = 63
_PAUSE: Final = 0.2
_RESTS: Final = 4
"""Pause between two queries of the cluster, as a multiple of the time that a query takes."""
_TAIL: Final = 15
_NODES: Final = "/api/v1/nodes"


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Implements ``SimulatedCluster``.

    Parameters
    ----------
    name
        The stack's name.
    config
        The stack's choices.
    groups
        Its node groups.
    pace
        How scenario time passes.
    scaler
        What adds nodes and removes them.
    api
        The API server.
    instance
        The control plane.
    assumptions
        What is assumed, as sentences.
    """

    name: str
    config: StackConfig
    groups: tuple[GroupFacts, ...]
    pace: Pace
    scaler: Scaler
    api: KubeApi
    instance: Instance
    assumptions: tuple[str, ...]

    def serve_metrics(self, usages: Usages) -> MetricsServer:
        """Offer the usage of pods at the API server until the result is closed; raises ``LostError``."""
        server = MetricsServer(self.instance.pki, usages, self.pace.real_text(WINDOW))
        try:
            offer(self.api, server, self.instance.pki)
        except BaseException:
            server.close()
            raise
        return server

    def check(self) -> None:
        """Raise ``LostError`` if a component of the control plane has ended, even if it runs again."""
        if lost := what_was_lost(self.instance):
            raise LostError(lost)


def what_was_lost(instance: Instance) -> str:
    """Return which component of a started instance has ended, with the end of its log; empty if none has."""
    status = instance.status()
    if not status.running:
        return _lost(instance, "supervisor")
    if status.suspended:
        return (
            f"The rehearsal's control plane stands still: a signal suspended {', '.join(status.suspended)}. "
            "Rehearse again."
        )
    ended = (each.name for each in status.components if each.restarts or each.state == "crashed")
    return next((_lost(instance, name) for name in ended), "")


@contextmanager
def simulated(
    stack: Stack,
    pace: Pace,
    *,
    binaries: Binaries,
    progress: Callable[[str], None],
    scaling_of: Callable[[StackConfig, Pace], Scaling] = autoscaling,
) -> Iterator[Simulation]:
    """Run the cluster of a stack until the end of the block, then delete it.

    The control plane and its data have a folder of their own, so that several rehearsals can run at once, also of one
    stack. It ends with this process, even if that is killed; this function deletes what killed processes left behind.

    Parameters
    ----------
    stack
        The stack; only its file matters.
    pace
        How scenario time passes.
    binaries
        Programs of the control plane.
    progress
        Receives a sentence per step, and at least one a second while this waits. It may raise to end the rehearsal.
    scaling_of
        Returns what adds nodes and removes them. Default: the autoscaler, as the stack deploys it.

    Raises
    ------
    UserError
        The control plane does not accept what the stack declares.
    LostError
        The control plane does not start, or ended before the cluster was complete.
    """
    remove_abandoned(PREFIX)
    stack, offers = as_rehearsed(stack)
    config = stack.config
    emulation = Emulation.of(config.cluster, _own_version(binaries))
    scaling = scaling_of(config, pace)
    objects = objects_of(stack)
    instance = Instance(_name(stack.name))
    try:
        instance.configure(tuning(pace, scaling.flags, emulation.minor, scaling.machines))
        progress("starting a control plane")
        try:
            instance.start(binaries, progress)
        except UserError as error:
            raise LostError(str(error)) from error
        api = KubeApi(instance.kubeconfig, lambda: what_was_lost(instance))
        try:
            building = _Building(api, instance, progress, pace)
            yield _built(building, stack, objects, scaling, (emulation.assumption, offers))
        finally:
            api.close()
    finally:
        with suppress(UserError):  # another process may have stopped it
            instance.delete()


@dataclass(frozen=True)
class _Building:
    """What the steps of building need."""

    api: KubeApi
    instance: Instance
    progress: Callable[[str], None]
    pace: Pace

    def wait(self, seconds: float, left: Callable[[], str]) -> str:
        """Wait until ``left`` returns nothing, or the same text for ``seconds``; return its last text.

        The text is reported each second.
        """
        changed = said_at = time.monotonic()
        last = ""
        while text := self._look(left):
            now = time.monotonic()
            if text != last:
                last, changed = text, now
            if now - changed > seconds:
                break
            if now - said_at >= 1:
                self.progress(text)
                said_at = now
        return text

    @staticmethod
    def _look(left: Callable[[], str]) -> str:
        """Return what is left, after a pause if anything is: frequent queries slow a large cluster down."""
        begin = time.monotonic()
        if text := left():
            time.sleep(max(_PAUSE, _RESTS * (time.monotonic() - begin)))
        return text


def _built(
    building: _Building, stack: Stack, objects: list[dict[str, Any]], scaling: Scaling, assumed: tuple[str, str]
) -> Simulation:
    """Complete the cluster and return it; ``assumed`` are sentences, of which any may be empty."""
    config, pace = stack.config, building.pace
    load = load_of(config, scaling.scaler)
    nodes = assumptions(config, pace, scaling.scaler)
    _build(building, objects, config, load, scaling)
    return Simulation(
        name=stack.name,
        config=config,
        groups=group_facts(config),
        pace=pace,
        scaler=scaling.scaler,
        api=building.api,
        instance=building.instance,
        assumptions=tuple(filter(None, (*assumed, *nodes, *scaling.assumptions, *load.assumptions))),
    )


def _build(
    building: _Building, objects: list[dict[str, Any]], config: StackConfig, load: CoreLoad, scaling: Scaling
) -> None:
    """Apply the stack's objects, its nodes and its own pods, in the order in which a cluster gets them."""
    api = building.api
    apply_objects(api, objects, building.progress)
    for manifest in capacity_objects():
        api.apply(manifest)
    building.progress("waiting for the admission policies")
    wait_until_in_force(api, mutates=any(each["kind"] == "MutatingAdmissionPolicy" for each in objects))
    if not building.instance.wait_for_admission():
        raise LostError(
            "The admission policies of the simulated cluster do not find their parameters.\nRehearse again."
        )
    building.progress(f"making {len(scaling.nodes)} nodes")
    for node in scaling.nodes:
        _made(api, node)
    for manifest in scaling.objects:
        api.apply(manifest)
    # The autoscaler adds the minimum of elastic groups: a cluster has it before its users come.
    wanted = sum(each.size.min for each in config.groups)
    starting = NODES_SECONDS + building.pace.real(building.pace.node_start)
    if unready := building.wait(starting, lambda: _unready(api, wanted)):
        raise LostError(f"The simulated nodes do not start: {unready}.\nRehearse again on a less busy machine.")
    for each in load.loads:
        _made(api, each.manifest)
    if load.loads:
        building.progress("placing the cluster's own pods")
        time.sleep(_PAUSE)
        building.wait(LOAD_SECONDS + building.pace.real(building.pace.node_start), lambda: _unplaced(api))
    spare = sum(spare_nodes(config.groups, descriptor_of(config.cluster).nodes.reserves).values())
    if spare and not scaling.scaler.is_karpenter:
        building.progress("waiting for the nodes of the headroom")
        started = LOAD_SECONDS + building.pace.real(building.pace.node_start)
        building.wait(started, lambda: _unready(api, wanted + spare))


def _made(api: KubeApi, manifest: Mapping[str, Any]) -> None:
    try:
        api.create(manifest)
    except ApiError as error:
        if error.status == HTTPStatus.CONFLICT:  # created by an earlier attempt of this request
            return
        raise UserError(
            f"The simulated cluster refuses its {manifest['kind']} {manifest['metadata']['name']}: {error.message}",
            "Correct what the message names in the stack file; `igz-clusters check` shows more.",
        ) from error


def _unready(api: KubeApi, wanted: int) -> str:
    nodes = api.get(f"{_NODES}?resourceVersion=0")["items"]
    ready = sum(_is_ready(each) for each in nodes)
    return f"{ready} of {wanted} nodes are ready" if ready < wanted else ""


def _is_ready(node: Mapping[str, Any]) -> bool:
    # The taint is removed a moment after the condition changes; only then does the scheduler use the node.
    taints = {each["key"] for each in node["spec"].get("taints", ())}
    conditions = {each["type"]: each["status"] for each in node["status"].get("conditions", ())}
    return conditions.get("Ready") == "True" and "node.kubernetes.io/not-ready" not in taints


def _unplaced(api: KubeApi) -> str:
    first = api.get("/api/v1/pods?limit=1")
    pending = api.get("/api/v1/pods?fieldSelector=status.phase%3DPending")["items"]
    waiting = sum(each["metadata"]["namespace"] != HEADROOM for each in pending)
    placeholders = len(pending) - waiting
    pods = len(first["items"]) + first["metadata"].get("remainingItemCount", 0) - placeholders
    return f"{pods - waiting} of the cluster's own {pods} pods run" if waiting or not pods else ""


def _lost(instance: Instance, component: str) -> str:
    text = f"{component} of the rehearsal's control plane has ended, so nothing that came after it counts."
    with suppress(UserError, OSError):  # the log may be gone already
        lines = instance.logs(component).read_text(errors="replace").splitlines()[-_TAIL:]
        text += "".join(["\nThe end of its log:", *(f"\n  {line}" for line in lines)]) if lines else ""
    return f"{text}\nRehearse again. If it ends again, the machine may lack memory or disk."


def _name(stack: str) -> str:
    tail = f"-{secrets.token_hex(3)}"
    return f"{PREFIX}{stack[: _NAME_LENGTH - len(PREFIX) - len(tail)]}{tail}"


def _own_version(binaries: Binaries) -> str:
    name = "kube-apiserver"
    return versions({name: str(binaries.path(name))})[name]
