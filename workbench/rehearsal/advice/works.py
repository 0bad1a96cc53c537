"""Candidates for the works of a scenario: what its author could write differently, never how much work there is."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.mlrun_choices import PreemptionMode
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from infra.config.problems import nearest
from workbench.rehearsal.advice.candidate import Candidate, fixed, work_edit
from workbench.rehearsal.record import TAKEN, PodEnd
from workbench.rehearsal.scenario.expectations import LandsOn
from workbench.rehearsal.verdicts.hints_traffic import replicas_needed
from workbench.rehearsal.verdicts.miss import Miss
from workbench.rehearsal.verdicts.specs import labels_of, matches, taint_of, untolerated
from workbench.rehearsal.verdicts.verdict import Hint


def for_work(miss: Miss, hint: Hint) -> Iterator[Candidate]:
    """Yield the changes of a work that a hint leads to, likeliest first."""
    section, name, key = [*hint.path.split(".", 2), "", ""][:3]
    find = _BY_KEY.get(key.removeprefix("pod."))
    if section == "works" and name in miss.scenario.works and find:
        yield from find(miss, hint, name)


def _mode(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    """Yield the modes that suit what was missed: not lost, on spot nodes, or anywhere."""
    is_lost = any(pod.end in TAKEN for pod in miss.finding.pods)
    wants_spot = isinstance(miss.expectation, LandsOn) and miss.expectation.place.lifecycle == "spot"
    order = [PreemptionMode.ALLOW, PreemptionMode.CONSTRAIN, PreemptionMode.PREVENT]
    if is_lost or (not wants_spot and any(pod.node for pod in miss.finding.pods)):
        order.reverse()
    elif wants_spot:
        order = [PreemptionMode.CONSTRAIN, PreemptionMode.ALLOW]
    for mode in order:
        if mode != miss.scenario.works[work].mode:
            yield fixed(work_edit(hint.cause, work, mode.value, "mode"))


def _role(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    if miss.scenario.works[work].role is not None:
        yield fixed(work_edit(hint.cause, work, None, "role"))


def _given(miss: Miss, hint: Hint, work: str) -> tuple[tuple[str, ...], Any]:
    """Return the keys below the work that a hint names, and what its author wrote there."""
    keys = tuple(hint.path.split(".")[2:])
    given: Any = miss.scenario.works[work].model_dump(by_alias=True)
    for key in keys:
        given = given.get(key)
    return keys, given


def _selector(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    """Yield the nearest label that exists, then no selector."""
    path, selector = _given(miss, hint, work)
    selector = selector or {}
    labels = [labels_of(group) for group in miss.record.groups]
    corrected = {}
    for key, value in selector.items():
        known = {name for each in labels for name in each}
        right = key if key in known else nearest(key, known) or key
        values = {each[right] for each in labels if right in each}
        corrected[right] = value if value in values else nearest(value, values) or value
    if corrected != selector:
        yield fixed(work_edit(hint.cause, work, corrected, *path))
    for key in selector if len(selector) > 1 else ():
        rest = {other: value for other, value in selector.items() if other != key}
        yield fixed(work_edit(hint.cause, work, rest, *path))
    if selector:
        yield fixed(work_edit(hint.cause, work, None, *path))
    if any(pod.end is PodEnd.LOST for pod in miss.finding.pods):
        safe = {**selector, LabelKey.LIFECYCLE.value: Lifecycle.ON_DEMAND.label_value}
        yield fixed(work_edit(hint.cause, work, safe, *path))


def _tolerations(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    """Yield tolerations of exactly the taints that keep the pods off, then none."""
    path, given = _given(miss, hint, work)
    for pod in miss.shapes[:1]:
        for group in miss.record.groups:
            missing = untolerated(pod.spec, group) if matches(pod.spec, group) else ()
            if missing and group.labels.get(LabelKey.USER_WORKLOADS.value):
                yield fixed(work_edit(hint.cause, work, [taint_of(each).toleration() for each in missing], *path))
    if given:
        yield fixed(work_edit(hint.cause, work, None, *path))


def _better(given: str | None) -> Iterator[str]:
    """Yield the user classes of higher priority; else the one that was meant, or the default."""
    if given in list(UserPriority):
        yield from (each.value for each in UserPriority if each.priority > UserPriority(given).priority)
    else:
        yield str(nearest(given, UserPriority) or DEFAULT_USER_PRIORITY.value)


def _class(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    path, given = _given(miss, hint, work)
    for name in _better(given):
        if miss.scenario.works[work].pod is not None:
            yield fixed(work_edit(hint.cause, work, name, *path))
        else:
            unset = work_edit(hint.cause, work, None, "priorityClass")
            yield fixed(unset, work_edit(hint.cause, work, name, "priority"))


def _priority(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    for name in _better(miss.scenario.works[work].priority or DEFAULT_USER_PRIORITY.value):
        yield fixed(work_edit(hint.cause, work, name, "priority"))


def _namespace(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    meant = nearest(miss.scenario.works[work].namespace, miss.config.namespaces)
    if meant:
        yield fixed(work_edit(hint.cause, work, meant, "namespace"))
    yield fixed(work_edit(hint.cause, work, None, "namespace"))


def _volume_zone(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    volume = miss.scenario.works[work].volume
    if volume and volume.zone:
        yield fixed(work_edit(hint.cause, work, None, "volume", "zone"))


def _most_replicas(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    if need := replicas_needed(miss):
        yield fixed(work_edit(hint.cause, work, need, "scales", "max"))


def _default_target(miss: Miss, hint: Hint, work: str) -> Iterator[Candidate]:
    scales = miss.scenario.works[work].scales
    if scales and scales.cpu_utilization:
        yield fixed(work_edit(hint.cause, work, None, "scales", "cpuUtilization"))


_BY_KEY: Final[Mapping[str, Callable[[Miss, Hint, str], Iterator[Candidate]]]] = {
    "mode": _mode,
    "role": _role,
    "nodeSelector": _selector,
    "tolerations": _tolerations,
    "priorityClass": _class,
    "priority": _priority,
    "priorityClassName": _class,
    "namespace": _namespace,
    "volume.zone": _volume_zone,
    "scales.max": _most_replicas,
    "scales.cpuUtilization": _default_target,
}
