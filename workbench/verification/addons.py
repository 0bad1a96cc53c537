"""Storage, GPUs and the autoscaler."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import yaml

from components.contract import autoscaler
from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.labels import TRUE
from components.contract.local.config import LocalConfig
from components.contract.storage import DEFAULT_KEYS
from workbench.engine.declared_fields import spelled
from workbench.engine.live_objects import LiveObject
from workbench.verification.contract import Contract
from workbench.verification.deviation import Deviation, Outcome, Place
from workbench.verification.nodes import is_starting, members
from workbench.verification.snapshot import Snapshot

_SILENT: Final = timedelta(minutes=10)
"""Age from which a status is stale; the autoscaler renews it in every loop, by default every 10 s."""

_MARK: Final = spelled("metadata.annotations", DEFAULT_KEYS[0])
_KEPT: Final = "kubernetes.io/cluster-service"
"""Label of objects that a provider restores. AKS restores its class ``default``, as the default too (Azure/AKS#118)."""

_STATUS: Final = Place("ConfigMap", autoscaler.STATUS, autoscaler.NAMESPACE)
_DEPLOYMENT: Final = Place("Deployment", autoscaler.NAME, autoscaler.NAMESPACE)
_LOOK: Final = f"See its log: `kubectl logs -n {autoscaler.NAMESPACE} deployment/{autoscaler.NAME}`."
_LOOK_ELSEWHERE: Final = "{} Where the provider runs the autoscaler, see its log there."


def default_storage_class(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that one StorageClass is the default, and that it is the one that the stack declares."""
    classes = sorted(snapshot.of("StorageClass"), key=lambda each: each.name)
    defaults = [each for each in classes if _is_default(each.annotations)]
    # Classes of shared storage are for claims that name them.
    declared = [
        name
        for (kind, _, name), manifest in contract.declared.items()
        if kind == "StorageClass" and _is_default(manifest["metadata"].get("annotations") or {})
    ]
    looked_at = f"{len(classes)} storage classes"
    if not defaults and not declared:
        return Outcome(looked_at, absent="the stack declares no default StorageClass")
    if not defaults:
        at = _MARK if snapshot.get("StorageClass", declared[0]) else ""
        problem = "no StorageClass is the default, so claims without a class stay Pending"
        found = Deviation(Place("StorageClass", declared[0], path=at), problem, "this one", contract.up)
        return Outcome(looked_at, (found,))
    # https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
    newest = max(defaults, key=lambda each: str(each.content["metadata"].get("creationTimestamp", "")))
    ours = next((each for each in defaults if each.name in declared), newest)
    others = [each for each in defaults if each is not ours and (each is newest or _KEPT not in each.labels)]
    return Outcome(looked_at, tuple(_second_default(contract, each, ours, newest) for each in others))


def _is_default(annotations: Mapping[str, str]) -> bool:
    return any(annotations.get(key) == TRUE for key in DEFAULT_KEYS)


def _second_default(contract: Contract, other: LiveObject, ours: LiveObject, newest: LiveObject) -> Deviation:
    wins = ", and newer, so claims without a class get it" if other is newest else ""
    action = f"`kubectl annotate storageclass {other.name} {' '.join(f'{key}-' for key in DEFAULT_KEYS)}`."
    if _KEPT in other.labels:
        action = f"The provider restores it. Delete {ours.name}, so that it becomes the newest. {contract.up}"
    place = Place("StorageClass", other.name, path=_MARK)
    return Deviation(place, f"is a default besides {ours.name}{wins}", "one default class", action)


def gpus(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that every node of a GPU group offers its GPUs or the shares of them, and its fast interfaces."""
    if not any(group.gpu_resource for group in contract.config.groups):
        return Outcome("", absent="the stack has no GPU groups")
    found = [
        (each, each.group)
        for each in members(contract, snapshot)
        if each.group and each.group.gpu_resource and not is_starting(each.node, snapshot)
    ]
    if not found:
        return Outcome("", absent="no node of a GPU group runs, or all are still starting")
    deviations = []
    for member, group in found:
        for resource, wanted in group.devices.items():
            offered = int((member.node.content.get("status", {}).get("allocatable") or {}).get(resource, 0))
            if offered < wanted:
                deviations.append(
                    Deviation(
                        member.place(spelled("status.allocatable", resource)),
                        f"is {offered}",
                        f"{wanted} in group '{group.name}'",
                        "See whether driver and device plug-in run on the node: "
                        f"`kubectl get pods -A --field-selector spec.nodeName={member.node.name}`.",
                    )
                )
    return Outcome(f"{len(found)} nodes with GPUs", tuple(deviations))


def autoscaler_runs(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that the autoscaler is available and reports."""
    elastic = [group for group in contract.config.groups if group.is_elastic]
    if absent := _absent(contract, snapshot):
        return Outcome("", absent=absent)
    return Outcome(f"the autoscaler of {len(elastic)} elastic groups", tuple(_runs(contract, snapshot)))


def _absent(contract: Contract, snapshot: Snapshot) -> str:
    """Return why the autoscaler is not judged; empty if it is."""
    if not any(group.is_elastic for group in contract.config.groups):
        return "the stack has no elastic groups"
    if isinstance(contract.config.cluster, ExistingConfig):
        return "the cluster's owner runs the autoscaler"
    if why := contract.unsettled(snapshot.taken):
        return why
    is_ours = isinstance(contract.config.cluster, LocalConfig) or _is_declared(contract)
    return "" if is_ours or _status(snapshot) else "the provider runs the autoscaler, which reports nothing here"


def _is_declared(contract: Contract) -> bool:
    return (_DEPLOYMENT.kind, _DEPLOYMENT.namespace, _DEPLOYMENT.name) in contract.declared


def _runs(contract: Contract, snapshot: Snapshot) -> Iterator[Deviation]:
    if _is_declared(contract):
        live = snapshot.get(_DEPLOYMENT.kind, _DEPLOYMENT.name, _DEPLOYMENT.namespace)
        if live is None:
            yield Deviation(_DEPLOYMENT, "does not exist, so no group grows", "the autoscaler", contract.up)
            return
        conditions = live.content.get("status", {}).get("conditions") or ()
        if not any(each["type"] == "Available" and each["status"] == "True" for each in conditions):
            yield Deviation(_DEPLOYMENT, "is not available, so no group grows", "an available Deployment", _LOOK)
            return
    status, look = _status(snapshot), _LOOK if _is_declared(contract) else _LOOK_ELSEWHERE.format(contract.up)
    if not status:
        yield Deviation(_STATUS, "the autoscaler has never reported", "its status", look)
    elif (state := status.get("autoscalerStatus")) != "Running":
        yield Deviation(_STATUS, f"the autoscaler is {state}", "Running", f"Wait a minute. {look}")
    elif (last := _time(str(status.get("time")))) and snapshot.taken - last > _SILENT:
        yield Deviation(_STATUS, f"the autoscaler last reported at {last:%Y-%m-%d %H:%M} UTC", "a report now", look)


def autoscaler_groups(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that the autoscaler knows every elastic group with its bounds, and no static one."""
    if absent := _absent(contract, snapshot):
        return Outcome("", absent=absent)
    status = _status(snapshot)
    if not status:
        return Outcome("", absent="the autoscaler has not reported")
    known = {str(each["name"]): each.get("health") or {} for each in status.get("nodeGroups") or ()}
    clouds = {group: name for name, group in contract.groups_in_the_cloud.items()}
    deviations = [
        each
        for group in contract.config.groups
        for each in _of_group(contract, group, _known_as(group.name, clouds.get(group.name), known))
    ]
    return Outcome(f"{len(known)} groups of the autoscaler", tuple(deviations))


def _known_as(name: str, in_cloud: str | None, known: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the autoscaler's report about a group; clouds embed the group's name in a longer one: ``eks-NAME-ID``."""
    if in_cloud is None:
        return known.get(name)
    return next((health for each, health in known.items() if f"-{in_cloud}-" in f"-{each}-"), None)


def _of_group(contract: Contract, group: NodeGroup, health: Mapping[str, Any] | None) -> Iterator[Deviation]:
    place, bounds = Place("Group", group.name), [(low, group.size.max) for low in sorted(group.minimums)]
    if group.is_elastic and health is None:
        yield Deviation(place, "the autoscaler does not know it, so it never grows", "an elastic group", contract.up)
    elif not group.is_elastic and health is not None:
        yield Deviation(
            place,
            "the autoscaler manages it",
            f"a static group of {group.size} nodes",
            f"Take it out of the autoscaler. {contract.up}",
        )
    elif health is not None and (health.get("minSize"), health.get("maxSize")) not in bounds:
        found = f"{health.get('minSize')} to {health.get('maxSize')}"
        wanted = " or ".join(f"{low} to {high}" for low, high in bounds)
        yield Deviation(place, f"its bounds are {found} nodes", wanted, contract.up)


def _status(snapshot: Snapshot) -> Mapping[str, Any]:
    """Return the report (``clusterstate/api/types.go`` of Cluster Autoscaler 1.33); empty if there is none."""
    live = snapshot.get(_STATUS.kind, _STATUS.name, _STATUS.namespace)
    try:
        found = yaml.safe_load((live.content.get("data") or {}).get("status", "")) if live else None
    except yaml.YAMLError:  # before 1.30 it was text
        return {}
    return found if isinstance(found, dict) else {}


def _time(text: str) -> datetime | None:
    """Return the time of a report, as Go prints it: ``2026-11-23 06:10:24.1 +0000 UTC``; None if it is another text."""
    day, clock, zone, *_ = [*text.split(), "", "", ""]
    try:
        return datetime.strptime(f"{day} {clock.partition('.')[0]} {zone}", "%Y-%m-%d %H:%M:%S %z").astimezone(UTC)
    except ValueError:
        return None
