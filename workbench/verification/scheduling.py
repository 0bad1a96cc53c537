"""Priority classes, admission policies, user namespaces and their networks."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from components.contract.labels import TRUE, LabelKey
from components.contract.priorities import USER_PRIORITY_LIMIT, PreemptionPolicy, SystemPriority, UserPriority
from workbench.engine.declared_fields import differing, spelled
from workbench.engine.live_objects import ObjectKey
from workbench.report.values import MISSING, at
from workbench.verification.contract import Contract
from workbench.verification.deviation import Deviation, Outcome, Place
from workbench.verification.snapshot import Snapshot

_CLASS: Final = "PriorityClass"
_AGAIN: Final = "A class cannot be changed: delete it."


def priority_classes(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that user classes exist, never preempt, and lie in order below those of core services."""
    live = {each.name: each.content for each in snapshot.of(_CLASS)}
    users = [live.get(tier) for tier in UserPriority]
    deviations = [
        *(
            Deviation(Place(_CLASS, tier), "does not exist: pods that name it are refused", "the class", contract.up)
            for tier, found in zip(UserPriority, users, strict=True)
            if found is None
        ),
        *(
            Deviation(
                Place(_CLASS, tier, path="preemptionPolicy"),
                f"is {found.get('preemptionPolicy')}, so user work evicts other pods",
                PreemptionPolicy.NEVER.value,
                f"{_AGAIN} {contract.up}",
            )
            for tier, found in zip(UserPriority, users, strict=True)
            if found and found.get("preemptionPolicy") != PreemptionPolicy.NEVER
        ),
        *_order(contract, live),
    ]
    return Outcome(f"{len(live)} priority classes", tuple(deviations))


def _order(contract: Contract, live: Mapping[str, Mapping[str, Any]]) -> Iterator[Deviation]:
    values = {tier: int(live[tier]["value"]) for tier in UserPriority if tier in live}
    for (lower, below), (tier, value) in pairwise(values.items()):
        if value <= below:
            wrong, is_, than = (tier, value, f"more than {below}, the value of {lower}")
            if below != lower.priority:  # the one that is not ours
                wrong, is_, than = (lower, below, f"less than {value}, the value of {tier}")
            yield Deviation(Place(_CLASS, wrong, path="value"), f"is {is_}", than, f"{_AGAIN} {contract.up}")
    for name, value in values.items():
        if value < 0:
            expected = "0 or more: the autoscaler may ignore pods below"
            yield Deviation(Place(_CLASS, name, path="value"), f"is {value}", expected, f"{_AGAIN} {contract.up}")
        if value >= USER_PRIORITY_LIMIT:
            limit = f"less than {USER_PRIORITY_LIMIT}, where classes of core services begin"
            yield Deviation(Place(_CLASS, name, path="value"), f"is {value}", limit, f"{_AGAIN} {contract.up}")
    for system in SystemPriority:
        if system in live and int(live[system]["value"]) <= (highest := max(values.values(), default=0)):
            problem, expected = f"is {live[system]['value']}", f"more than {highest}, the highest value of user work"
            yield Deviation(Place(_CLASS, system, path="value"), problem, expected, f"{_AGAIN} {contract.up}")


def global_default(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that no class is the default of pods without one: core services may be among them."""
    classes = snapshot.of(_CLASS)
    deviations = (
        Deviation(
            Place(_CLASS, each.name, path="globalDefault"),
            "is true, so core services without a class get its priority",
            "no default class",
            contract.up
            if (_CLASS, "", each.name) in contract.declared
            else f"Ask its owner to set it to false: `kubectl patch priorityclass {each.name} "
            """-p '{"globalDefault":false}'`.""",
        )
        for each in classes
        if each.content.get("globalDefault")
    )
    return Outcome(f"{len(classes)} priority classes", tuple(deviations))


def admission(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that every admission policy of the stack is bound; an unbound one does nothing."""
    policies = [
        (kind, name)
        for kind, _, name in contract.declared
        if kind.endswith("AdmissionPolicy") and snapshot.get(kind, name)
    ]
    deviations = (
        Deviation(
            Place(f"{kind}Binding", name),
            "no binding names the policy, so it does nothing",
            "a binding",
            contract.up,
        )
        for kind, name in policies
        if not any(each.content["spec"].get("policyName") == name for each in snapshot.of(f"{kind}Binding"))
    )
    found = (*deviations, *(each for key in contract.declared for each in _narrowed(contract, snapshot, key)))
    return Outcome(f"{len(policies)} admission policies", found)


_MATCHED: Final = ("excludeResourceRules", "namespaceSelector", "objectSelector")
_NARROWING: Final = {
    "AdmissionPolicy": (("matchConditions",), *(("matchConstraints", each) for each in _MATCHED)),
    "AdmissionPolicyBinding": tuple(("matchResources", each) for each in (*_MATCHED, "resourceRules")),
}
"""Fields below ``spec`` in which an addition exempts requests from a policy."""


def _narrowed(contract: Contract, snapshot: Snapshot, key: ObjectKey) -> Iterator[Deviation]:
    """Yield what was added to a policy or its binding so that it judges less than the stack declares."""
    kind, _, name = key
    live = snapshot.get(kind, name)
    if live is None:
        return
    for path in next((paths for end, paths in _NARROWING.items() if kind.endswith(end)), ()):
        declared, found = (at(content["spec"], path) for content in (contract.declared[key], live.content))
        added = found not in (MISSING, None) and list(differing(found, None if declared is MISSING else declared))
        if added:
            where = "/".join(("", "spec", *path))
            yield Deviation(
                Place(kind, name, path=f"spec.{'.'.join(path)}"),
                "exempts requests that the stack wants judged",
                "no more than the stack declares",
                f"`kubectl edit {kind.lower()} {name}` and remove what was added at {where}. {contract.up}",
            )


def marks(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that user namespaces have the mark by which admission finds them, and user work is nowhere else."""
    path = spelled("metadata.labels", LabelKey.USER_WORKLOADS)
    marked = {each.name for each in snapshot.of("Namespace") if each.labels.get(LabelKey.USER_WORKLOADS) == TRUE}
    deviations = []
    for name in contract.config.namespaces:
        if name not in marked:
            is_there = snapshot.get("Namespace", name) is not None
            problem = "is not true, so no admission policy judges its pods" if is_there else "does not exist"
            expected = f"'{TRUE}'" if is_there else "a namespace of the stack"
            deviations.append(
                Deviation(Place("Namespace", name, path=path if is_there else ""), problem, expected, contract.up)
            )
    work = {
        place for (kind, place, _), each in snapshot.objects.items() if kind == "Pod" and _is_user_work(each.labels)
    }
    deviations += [
        Deviation(
            Place("Namespace", name, path=path),
            "has pods of MLRun or Nuclio functions but no mark, so no admission policy judges them",
            "user work in namespaces of the stack",
            f"Add it to namespaces in the stack file. {contract.up}",
        )
        for name in sorted(work - marked - set(contract.config.namespaces))
    ]
    return Outcome(f"{len(contract.config.namespaces)} user namespaces", tuple(deviations))


def _is_user_work(labels: Mapping[str, str]) -> bool:
    return "mlrun/class" in labels or labels.get("nuclio.io/class") == "function"


def networks(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that user namespaces have a network policy that denies by default, and none that allows everything."""
    return Outcome(
        f"{len(snapshot.of('NetworkPolicy'))} network policies",
        tuple(each for name in contract.config.namespaces for each in _network(contract, snapshot, name)),
    )


def _network(contract: Contract, snapshot: Snapshot, namespace: str) -> Iterator[Deviation]:
    live = {each.name: each.content["spec"] for each in snapshot.of("NetworkPolicy", namespace)}
    ours = {
        name
        for (kind, place, name), manifest in contract.declared.items()
        if (kind, place) == ("NetworkPolicy", namespace) and _denies(manifest["spec"])
    }
    lost = set() if any(map(_denies, live.values())) else ours
    for name in sorted(lost):
        problem = "allows more than it should" if name in live else "does not exist"
        place = Place("NetworkPolicy", name, namespace)
        yield Deviation(place, f"{problem}: pods are open to others", "a policy that denies by default", contract.up)
    for name, spec in live.items():
        ways = [way for way in ("ingress", "egress") if {} in (spec.get(way) or ())]
        if ways and not spec.get("podSelector") and name not in lost:
            yield Deviation(
                Place("NetworkPolicy", name, namespace),
                f"allows every pod all {' and '.join(ways)}",
                "only what the stack file allows",
                f"`kubectl delete networkpolicy {name} -n {namespace}`. {contract.up}",
            )


def _denies(spec: Mapping[str, Any]) -> bool:
    """Return whether a policy isolates every pod in both directions and allows nothing."""
    is_for_all = not spec.get("podSelector") and {"Ingress", "Egress"} <= set(spec.get("policyTypes") or ())
    return is_for_all and not spec.get("ingress") and not spec.get("egress")
