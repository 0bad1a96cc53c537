r"""Hints from what the API server said when it refused an object.

The texts are those of Kubernetes 1.36.3: ``exceeded quota: NAME, requested: ..., used: ..., limited: ...``
(``staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go``), ``maximum cpu usage per Container
is 4, but limit is 8`` (``plugin/pkg/admission/limitranger/admission.go``), ``no PriorityClass with name X was found``
(``plugin/pkg/admission/priority/admission.go``), ``namespaces "X" not found``; and those of this project's own rules,
which end with the advice ``Fix: ... [ID]`` (``policies/admission.py``).
"""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.labels import LabelKey
from components.contract.lifecycle import LABEL_VALUES
from components.contract.pools import GPU_ROLES
from components.contract.priorities import DEFAULT_USER_PRIORITY, RESERVED_CLASSES, SystemPriority, UserPriority
from components.contract.quantities import parse_quantity
from infra.config.problems import did_you_mean
from workbench.rehearsal.record import Refusal
from workbench.rehearsal.verdicts.miss import Finders, Miss
from workbench.rehearsal.verdicts.verdict import Hint

_QUOTA: Final = re.compile(r"exceeded quota: (\S+), requested: (\S+), used: (\S+), limited: (\S+)")
_NEEDS_REQUEST: Final = re.compile(r"failed quota: (\S+): must specify (.+)")
_LIMIT: Final = re.compile(
    r"(maximum|minimum) (\S+) usage per (\S+) is (\S+), but (limit|request) is (\S+?)\.?(?:[\s,\]]|$)"
)
_CLASS: Final = re.compile(r"no PriorityClass with name (\S+) was found")
_NAMESPACE: Final = re.compile(r'namespaces "([^"]+)" not found')
_RULE: Final = re.compile(r"(?:Fix: (?P<fix>[^\[]*?) )?\[(?P<id>[A-Z]{2}-[0-9]{2})\]")
_SYSTEM: Final = (*RESERVED_CLASSES, *SystemPriority)
_SYSTEM_QUOTA: Final = "no-system-priority"
"""The quota that keeps system classes out of user namespaces: ``components/scheduling/namespaces.py``."""

_KEYS: Final = {
    "PL-01": ("role",),
    "PL-05": ("role",),
    "PL-06": ("tolerations",),
    **dict.fromkeys(("PL-02", "PL-03", "PL-04", "PL-07"), ("nodeSelector",)),
    "PR-05": ("priorityClass",),
    "RS-01": ("cpu",),
    **dict.fromkeys(("RS-02", "RS-03", "RS-05"), ("cpuLimit",)),
    **dict.fromkeys(("SP-01", "SP-02", "SP-07"), ("mode", "nodeSelector")),
}
"""Keys of a work that decide what a rule judges; the first that its kind has is used."""


def quota(miss: Miss) -> Iterator[Hint]:
    """Recognise that a namespace's quota is below what its pods request together."""
    for refusal, found in _matches(miss, _QUOTA):
        name, requested, used, limited = found.groups()
        namespace = miss.namespace(refusal.work)
        if name == _SYSTEM_QUOTA:
            yield _system_class(miss, refusal)
            continue
        for resource, amount in _amounts(requested).items():
            known = _quota_key(miss, resource)
            path = f"namespaces.{namespace}.quota.{known}" if known else f"namespaces.{namespace}.quota"
            cause = (
                f"The quota {name} of namespace {namespace} allows {_amounts(limited).get(resource, '?')} {resource}; "
                f"{_amounts(used).get(resource, '?')} are in use, and {refusal.work} requests {amount} more."
            )
            yield Hint(cause=cause, action=f"Raise {path}, or let fewer of these pods run at a time.", path=path)


def unstated_resources(miss: Miss) -> Iterator[Hint]:
    """Recognise that a quota counts a resource that the pods do not request."""
    for refusal, found in _matches(miss, _NEEDS_REQUEST):
        what = found[2].split(" for: ")[0].rstrip(".")
        yield Hint(
            cause=f"The quota {found[1]} counts {what}, which {refusal.work} does not state.",
            action="State CPU and memory of the work.",
            path=miss.field(refusal.work, "memory" if "memory" in what else "cpu"),
        )


def limit_range(miss: Miss) -> Iterator[Hint]:
    """Recognise that a LimitRange allows less, or more, than a container requests."""
    for refusal, found in _matches(miss, _LIMIT):
        side, resource, scope, bound, what, given = found.groups()
        key = resource if what == "request" else f"{resource}Limit"
        yield Hint(
            cause=f"A LimitRange of namespace {miss.namespace(refusal.work)} sets the {side} of {resource} per {scope} "
            f"to {bound}, and the {what} of {refusal.work} is {given}.",
            action=f"Keep the {what} within {bound}, or change that LimitRange.",
            path=miss.field(refusal.work, key if resource in ("cpu", "memory") else "gpus"),
        )


def priority_class(miss: Miss) -> Iterator[Hint]:
    """Recognise that the priority class does not exist."""
    known = [*UserPriority, *(SystemPriority if miss.config.servers is None else ())]
    for refusal, found in _matches(miss, _CLASS):
        yield Hint(
            cause=f"The cluster has no priority class {found[1]}{did_you_mean(found[1], known) or '.'}",
            action=f"Use one of {', '.join(UserPriority)}.",
            path=miss.field(refusal.work, "priorityClass"),
        )


def system_class(miss: Miss) -> Iterator[Hint]:
    """Recognise that a user's pod requests a class of the system."""
    for refusal in miss.finding.refusals:
        if _class_of(miss, refusal) in _SYSTEM and ("PR-05" in refusal.message or "riority" in refusal.message):
            yield _system_class(miss, refusal)


def _class_of(miss: Miss, refusal: Refusal) -> str | None:
    work = miss.scenario.works[refusal.work]
    return (work.pod or {}).get("priorityClassName", work.priority_class)


def _system_class(miss: Miss, refusal: Refusal) -> Hint:
    return Hint(
        cause=f"{refusal.work} asks for the priority class {_class_of(miss, refusal) or 'of the system'}, which is for "
        "the system only: it would evict core services.",
        action=f"Use {DEFAULT_USER_PRIORITY}, or another of {', '.join(UserPriority)}.",
        path=miss.field(refusal.work, "priorityClass"),
    )


def namespace(miss: Miss) -> Iterator[Hint]:
    """Recognise that the namespace does not exist, or is none of the stack's user namespaces."""
    known = tuple(miss.config.namespaces)
    for refusal, found in _matches(miss, _NAMESPACE):
        yield Hint(
            cause=f"The cluster has no namespace {found[1]}{did_you_mean(found[1], known) or '.'}",
            action=f"Use a namespace of the stack ({', '.join(known)}), or add it under namespaces.",
            path=f"works.{refusal.work}.namespace",
        )
    chosen = miss.work.namespace if miss.work else None
    if chosen and chosen not in known and not any(_matches(miss, _NAMESPACE)):
        yield Hint(
            cause=f"{miss.work_name} runs in {chosen}, which is not a user namespace of the stack"
            f"{did_you_mean(chosen, known)}: nothing there gives its pods a place, a priority or default resources.",
            action=f"Use {', '.join(known)}, or add {chosen} under namespaces.",
            path=f"works.{miss.work_name}.namespace",
        )


def gang(miss: Miss) -> Iterator[Hint]:
    """Recognise that an MPI job needs more GPUs at once than the pools can have."""
    for refusal in miss.finding.refusals:
        if "the MPI job would wait forever" not in refusal.message and "need more GPUs" not in refusal.message:
            continue
        work = miss.scenario.works.get(refusal.work)
        pools = [name for name, pool in miss.config.pools.items() if pool.role in GPU_ROLES]
        need = f"{work.workers} workers with {work.devices} GPUs each" if work else "its workers"
        cause = f"{refusal.work} needs {need} at the same time, more than the GPU pools have at their maximum."
        for pool in pools:
            yield Hint(
                cause=cause,
                action=f"Raise size.max of pool {pool}, or lower the number of workers.",
                path=f"pools.{pool}.size.max",
            )
        yield Hint(
            cause=cause,
            action="Lower the number of workers.",
            path=miss.field(refusal.work, "workers"),
        )


def open_spot(miss: Miss) -> Iterator[Hint]:
    """Recognise that spot nodes have no taint, so that each pod must state whether it may use them."""
    for refusal in miss.finding.refusals:
        if "spot nodes carry no taint here" in refusal.message:
            kinds = " or ".join(LABEL_VALUES)
            yield Hint(
                cause=f"Spot nodes of this stack have only a label and no taint, and {refusal.work} does not say "
                "whether it may run there; a toleration does not say it.",
                action=f"Add nodeSelector {LabelKey.LIFECYCLE}: {kinds}.",
                path=miss.field(refusal.work, "nodeSelector"),
            )


def rule(miss: Miss) -> Iterator[Hint]:
    """Recognise that a rule of this project, or Pod Security, refused the object."""
    for refusal in miss.finding.refusals:
        for found in _RULE.finditer(refusal.message):
            yield Hint(
                cause=f"Rule {found['id']} refuses {refusal.work}: {_plain(refusal.message)}",
                action=(found["fix"] or "").strip() or f"`igz-clusters policy show {found['id']}` explains the rule.",
                path=miss.field(refusal.work, *_KEYS.get(found["id"], ("pod",))),
            )
        if "violates PodSecurity" in refusal.message:
            yield Hint(
                cause=f"Pod Security refuses {refusal.work}: {_plain(refusal.message)}",
                action="Remove the privileges from the pod, or run it in a namespace with coreServices: true.",
                path=miss.field(refusal.work, "pod", "namespace"),
            )


FINDERS: Final[Finders] = (
    namespace,
    priority_class,
    system_class,
    quota,
    unstated_resources,
    limit_range,
    gang,
    open_spot,
    rule,
)


def _quota_key(miss: Miss, resource: str) -> str:
    """Return the key of a namespace's quota that limits a resource; empty if none does."""
    name = resource.removeprefix("requests.").removeprefix("limits.")
    shares = {pool.sharing.resource for pool in miss.config.pools.values() if pool.sharing}
    devices = "gpuSlices" if name in shares else "gpus" if "/" in name else ""
    return name if name in ("cpu", "memory") else devices


def needed_quota(miss: Miss, work: str, resource: str) -> float:
    """Return how much of a key of its quota a namespace needs, memory in bytes: in use, and all that was refused.

    From the record: the greatest amount in use that a refusal names, and one request for each refused pod.
    """
    most, total = 0.0, 0.0
    for each, found in _matches(miss, _QUOTA):
        requested, used = _amounts(found[2]), _amounts(found[3])
        for name, amount in requested.items():
            if each.work == work and not name.startswith("limits.") and _quota_key(miss, name) == resource:
                most = max(most, float(parse_quantity(used.get(name, "0"))))
                total += float(parse_quantity(amount)) * each.missing
    return most + total


def _matches(miss: Miss, pattern: re.Pattern[str]) -> Iterator[tuple[Refusal, re.Match[str]]]:
    for refusal in miss.finding.refusals:
        if found := pattern.search(refusal.message):
            yield refusal, found


def _amounts(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.rstrip(",.").split(","))
    return {name: amount for name, _, amount in pairs if amount}


def _plain(message: str) -> str:
    """Return the part of a message that names what is wrong, as one short sentence."""
    text = message.rpartition("denied request: ")[2].partition(" Fix: ")[0].strip()
    text = text.rpartition("is forbidden: ")[2].strip()
    return text[:200].rstrip(".:; ") + "."
