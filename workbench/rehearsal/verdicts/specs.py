"""What pods require of nodes, and which groups offer it: for hints only, never for verdicts.

A taint is not named by the scheduler of Kubernetes 1.36 (``node(s) had untolerated taint(s)``, kubernetes v1.36.3,
``pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go``), so hints compare tolerations with the groups.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from components.contract.instances import INSTANCE_TYPES
from components.contract.labels import WellKnownLabel
from components.contract.quantities import parse_quantity
from components.contract.taints import Taint, TaintEffect
from workbench.rehearsal.amounts import pod_amounts
from workbench.rehearsal.record import GroupFacts, PodRecord

ZONE_KEYS: Final = (WellKnownLabel.ZONE.value, "failure-domain.beta.kubernetes.io/zone")
_OF_EVERY_NODE: Final = (WellKnownLabel.HOSTNAME.value, WellKnownLabel.OS.value)
"""Labels of all nodes whose values the groups do not have."""


def demands(spec: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the label values that a pod requires, by key: of its selector, and of affinity terms with ``In``.

    Of several terms, which are alternatives, only the first counts.
    """
    found: dict[str, tuple[str, ...]] = {key: (str(value),) for key, value in (spec.get("nodeSelector") or {}).items()}
    for term in _terms(spec)[:1]:
        for each in term.get("matchExpressions") or ():
            if each.get("operator") == "In":
                found.setdefault(each["key"], tuple(map(str, each.get("values") or ())))
    return found


def matches(spec: Mapping[str, Any], group: GroupFacts) -> bool:
    """Return whether nodes of a group have the labels that a pod requires."""
    labels = labels_of(group)
    selector = spec.get("nodeSelector") or {}
    if not all(_has(labels, "In", key, (str(value),)) for key, value in selector.items()):
        return False
    terms = _terms(spec)
    return not terms or any(
        all(
            _has(labels, each.get("operator", "In"), each["key"], tuple(map(str, each.get("values") or ())))
            for each in term.get("matchExpressions") or ()
        )
        for term in terms
    )


def labels_of(group: GroupFacts) -> dict[str, str]:
    """Return a group's labels, with those that follow from its zone and machine type."""
    instance = INSTANCE_TYPES.get(group.instance_type)
    derived = {WellKnownLabel.ARCH.value: instance.architecture} if instance else {}
    zones = dict.fromkeys(ZONE_KEYS, group.zone) if group.zone else {}
    return {
        **derived,
        WellKnownLabel.INSTANCE_TYPE.value: group.instance_type,
        **{key: value for key, value in zones.items() if value},
        **group.labels,
    }


def untolerated(spec: Mapping[str, Any], group: GroupFacts) -> tuple[str, ...]:
    """Return the taints of a group, as ``key=value:Effect``, that keep a pod off its nodes."""
    tolerations = spec.get("tolerations") or ()
    hard = [taint for taint in group.taints if not taint.endswith(":PreferNoSchedule")]
    return tuple(taint for taint in hard if not any(_tolerates(each, taint_of(taint)) for each in tolerations))


def taint_of(text: str) -> Taint:
    """Return the taint that is written as ``key=value:Effect``."""
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return Taint(key, value, TaintEffect(effect))


def devices(spec: Mapping[str, Any]) -> dict[str, int]:
    """Return how many of each extended resource a pod requests."""
    return {name: int(amount) for name, amount in pod_amounts(spec, "requests").items() if "/" in name}


def limit_of(spec: Mapping[str, Any], name: str) -> Decimal:
    """Return the limits of all containers of a pod for a resource; a container without one counts its request."""
    amounts = [
        (resources.get("limits") or {}).get(name) or (resources.get("requests") or {}).get(name) or "0"
        for resources in _resources(spec)
    ]
    return sum((parse_quantity(str(amount)) for amount in amounts), Decimal(0))


def too_small(pod: PodRecord, group: GroupFacts) -> tuple[str, ...]:
    """Return the resources of which a pod requests more than an empty node of a group allocates."""
    asked = {"cpu": (pod.cpu_millis, group.cpu_millis), "memory": (pod.memory_mib, group.memory_mib)}
    found = [name for name, (need, room) in asked.items() if need > room]
    names = devices(pod.spec) or ({"nvidia.com/gpu": pod.gpus} if pod.gpus else {})
    return (*found, *(name for name, count in names.items() if name != group.gpu_resource or count > group.gpus))


def may_use(pod: PodRecord, group: GroupFacts) -> bool:
    """Return whether labels and taints let a pod run on a group."""
    return matches(pod.spec, group) and not untolerated(pod.spec, group)


def shape_of(pod: PodRecord) -> str:
    """Return a key of what decides where a pod may run: equal for pods that fit the same nodes."""
    spec, names = pod.spec, ("nodeSelector", "affinity", "tolerations")
    resources = [each.get("requests") or each.get("limits") for each in _resources(spec)]
    return repr((pod.cpu_millis, pod.memory_mib, pod.gpus, resources, *(spec.get(name) for name in names)))


def _terms(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return list(required.get("nodeSelectorTerms") or ())


def _has(labels: Mapping[str, str], operator: str, key: str, values: tuple[str, ...]) -> bool:
    """Return whether labels meet one requirement; labels of unknown value always do."""
    if key in _OF_EVERY_NODE or (key in ZONE_KEYS and key not in labels):
        return True
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return True


def _tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect.value):
        return False
    wanted = toleration.get("key") or ""
    if toleration.get("operator") == "Exists":
        return wanted in ("", taint.key)
    return bool(wanted == taint.key and (toleration.get("value") or "") == taint.value)


def _resources(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (container.get("resources") or {} for container in spec.get("containers") or ())
