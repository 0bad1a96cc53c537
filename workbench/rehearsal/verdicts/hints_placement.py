"""Hints about labels, taints and tolerations: where a pod may not run, or where it should not have run.

The scheduler says ``node(s) didn't match Pod's node affinity/selector`` and ``node(s) had untolerated taint(s)``
(kubernetes v1.36.3, ``pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go`` and
``tainttoleration/taint_toleration.go``) without the label or taint; the groups of the record have it.
"""

from collections.abc import Iterator
from typing import Final

from components.contract.instances import ARM64
from components.contract.labels import TRUE, LabelKey, WellKnownLabel
from components.contract.lifecycle import LABEL_VALUES, Lifecycle
from components.contract.mlrun_choices import PreemptionMode
from components.contract.pools import PoolRole
from components.contract.taints import AKS_SPOT_TAINT, ARM_TAINT, OWN_SPOT_TAINT
from infra.config.problems import did_you_mean, nearest
from workbench.rehearsal.record import GroupFacts, PodRecord
from workbench.rehearsal.scenario.places import Place, is_in
from workbench.rehearsal.scenario.work import WorkKind
from workbench.rehearsal.verdicts.miss import Finders, Miss, named
from workbench.rehearsal.verdicts.specs import (
    ZONE_KEYS,
    demands,
    labels_of,
    matches,
    taint_of,
    too_small,
    untolerated,
)
from workbench.rehearsal.verdicts.verdict import Hint

_OF_KUBERNETES: Final = "node.kubernetes.io/"
"""Prefix of the taints of nodes that are not ready or under pressure, which every pod tolerates for a time."""

_ARCHITECTURES: Final = frozenset({"amd64", ARM64})

SPOT_KEYS: Final = (OWN_SPOT_TAINT.key, AKS_SPOT_TAINT.key)


def lifecycle(miss: Miss) -> Iterator[Hint]:
    """Recognise that pods need spot nodes, or on-demand nodes, and no pool for them is of that kind."""
    for pod in miss.shapes:
        values = demands(pod.spec).get(LabelKey.LIFECYCLE.value, ())
        for kind in Lifecycle:
            users = [group for group in miss.record.groups if group.labels.get(LabelKey.USER_WORKLOADS.value) == TRUE]
            labels = {Lifecycle(group.lifecycle).label_value for group in users}
            if kind is not Lifecycle.RESERVED and values == (kind.label_value,) and kind.label_value not in labels:
                other = "spot" if kind is Lifecycle.ON_DEMAND else "on-demand"
                mode = PreemptionMode.PREVENT if kind is Lifecycle.ON_DEMAND else PreemptionMode.CONSTRAIN
                has_mode = miss.has(pod.work, "mode")
                yield Hint(
                    cause=f"{named(pod)} runs on {kind} nodes only{f' (mode {mode})' if has_mode else ''}, and all "
                    f"pools for user work are {other}.",
                    action=f"Add a pool of role workload with lifecycle {kind}, or change the "
                    f"{'mode' if has_mode else 'selector'} of the work.",
                    path="pools",
                )
                if has_mode:
                    yield Hint(
                        cause=f"The mode {mode} of {named(pod)} needs {kind} nodes, which the stack does not have.",
                        action="Set mode: allow, which takes either.",
                        path=miss.field(pod.work, "mode"),
                    )


def unknown_label(miss: Miss) -> Iterator[Hint]:
    """Recognise that a selector names a label, or a value of it, that no group has."""
    groups = miss.record.groups
    known = {key for group in groups for key in labels_of(group)}
    skipped = (*ZONE_KEYS, LabelKey.LIFECYCLE.value, WellKnownLabel.HOSTNAME.value, WellKnownLabel.OS.value)
    for pod in miss.shapes:
        for key, values in demands(pod.spec).items():
            offered = {labels_of(group)[key] for group in groups if key in labels_of(group)}
            is_machine = key == WellKnownLabel.ARCH and _ARCHITECTURES.issuperset(values)
            if key in skipped or is_machine or offered & set(values):
                continue
            if not offered:
                cause = f"{named(pod)} selects the label {key}, which no pool has{did_you_mean(key, known) or '.'}"
            else:
                near = next((match for value in values if (match := nearest(value, offered))), None)
                cause = f"{named(pod)} selects {key}: {' or '.join(values)}, which no pool has" + (
                    f", did you mean '{near}'?" if near else f"; the pools have {', '.join(sorted(offered))}."
                )
            is_role = key == LabelKey.ROLE.value and values[0] in list(PoolRole)
            if is_role:
                yield Hint(cause=cause, action=f"Add a pool of role {values[0]}.", path="pools")
            own = key.rpartition("/")[0] not in (LabelKey.ROLE.value.rpartition("/")[0], "kubernetes.io")
            yield Hint(
                cause=cause,
                action="Correct the selector" + (", or add the label to a pool's labels." if own else "."),
                path=miss.selector(pod, key),
            )


def no_group_has_all(miss: Miss) -> Iterator[Hint]:
    """Recognise that each selected label exists, but no single pool has all of them."""
    for pod in miss.shapes:
        asked = {key: values for key, values in demands(pod.spec).items() if key not in ZONE_KEYS}
        has = [{key for key in asked if labels_of(group).get(key) in asked[key]} for group in miss.record.groups]
        each_exists = set().union(*has) == asked.keys()
        if len(asked) > 1 and each_exists and asked.keys() not in has:
            text = ", ".join(f"{key}: {' or '.join(values)}" for key, values in asked.items())
            yield Hint(
                cause=f"{named(pod)} selects {text}; each label exists, but no pool has all of them.",
                action="Remove the selectors that do not belong together.",
                path=miss.field(pod.work, "nodeSelector"),
            )


def initial_group(miss: Miss) -> Iterator[Hint]:
    """Recognise that a user's pod selects the nodes of core services."""
    for pod in miss.finding.pods:
        wanted = demands(pod.spec).get(LabelKey.ROLE.value, ())
        node = miss.record.node(pod.node)
        is_core = not pod.work or pod.kind == WorkKind.CORE_SERVICE
        if not is_core and (PoolRole.INITIAL.value in wanted or (node and node.role == PoolRole.INITIAL.value)):
            yield Hint(
                cause=f"{named(pod)} selects or reaches the initial group, which is for core services.",
                action="Select a pool for user work, or none: the platform then chooses one.",
                path=miss.selector(pod, LabelKey.ROLE),
            )
            return


def taints(miss: Miss) -> Iterator[Hint]:
    """Recognise that every group with the right labels and size has a taint that the pod does not tolerate."""
    for pod in miss.shapes:
        selected = [g for g in miss.record.groups if matches(pod.spec, g) and not too_small(pod, g)]
        if not selected or not all(untolerated(pod.spec, group) for group in selected):
            continue
        for group in selected:
            for taint in untolerated(pod.spec, group):
                yield from _taint(miss, pod, group, taint)


def _taint(miss: Miss, pod: PodRecord, group: GroupFacts, taint: str) -> Iterator[Hint]:
    key = taint_of(taint).key
    given = [str(each.get("key") or "") for each in pod.spec.get("tolerations") or ()]
    of_the_stack = {taint_of(each).key for other in miss.record.groups for each in other.taints}
    strange = [each for each in given if each and each not in of_the_stack and not each.startswith(_OF_KUBERNETES)]
    if key in given or strange:
        what = f"{key} with another value or effect" if key in given else f"{strange[0]}, no taint of the stack"
        yield Hint(
            cause=f"{named(pod)} tolerates {what}; the taint of pool {group.pool} is {taint}, did you mean it?",
            action=f"Correct the toleration to {taint}.",
            path=miss.field(pod.work, "tolerations"),
        )
        return
    cause = f"Pool {group.pool} has the taint {taint}, which {named(pod)} does not tolerate"
    if key == ARM_TAINT.key:
        yield Hint(
            cause=f"{cause}: its nodes are ARM, beside amd64 pools.",
            action="Add the toleration if the images run on arm64; else select kubernetes.io/arch: amd64.",
            path=miss.field(pod.work, "tolerations"),
        )
        return
    if key in SPOT_KEYS and miss.has(pod.work, "mode"):
        yield Hint(
            cause=f"{cause}.",
            action="Set mode: allow or constrain, which tolerates it.",
            path=miss.field(pod.work, "mode"),
        )
        return
    yield Hint(
        cause=f"{cause}.",
        action=f"Add the toleration {taint}, or run the work on a pool without a taint.",
        path=miss.field(pod.work, "tolerations"),
    )


def architecture(miss: Miss) -> Iterator[Hint]:
    """Recognise that pods select an architecture whose pools are missing, full or not where they should run."""
    key = WellKnownLabel.ARCH.value
    for pod in miss.shapes:
        wanted = demands(pod.spec).get(key, ())
        have = {labels_of(group).get(key) for group in miss.record.groups if group.role != PoolRole.INITIAL.value}
        if wanted and _ARCHITECTURES.issuperset(wanted) and not have & set(wanted):
            yield Hint(
                cause=f"{named(pod)} needs {' or '.join(wanted)} nodes, and the pools for user work have "
                f"{', '.join(sorted(filter(None, have)))}.",
                action=f"Add a pool with machine types of {wanted[0]}, or select an architecture that the pools have.",
                path="pools",
            )


def label_only_spot(miss: Miss) -> Iterator[Hint]:
    """Recognise that spot nodes have a label but no taint, so that pods land on either kind, whatever they tolerate."""
    place: Place | None = getattr(miss.expectation, "place", None)
    open_spot = [
        group
        for group in miss.record.groups
        if group.lifecycle == Lifecycle.SPOT and not {taint_of(each).key for each in group.taints} & set(SPOT_KEYS)
    ]
    for pod in miss.finding.pods if open_spot else ():
        node = miss.record.node(pod.node)
        if node is None or LabelKey.LIFECYCLE.value in demands(pod.spec) or not pod.work:
            continue
        is_outside = place is not None and place.lifecycle == Lifecycle.SPOT and not is_in(node, place)
        wants_spot = is_outside and pod.spec.get("tolerations")
        if node.lifecycle == Lifecycle.SPOT or wants_spot:
            pool = open_spot[0].pool
            yield Hint(
                cause=f"Pool {pool} has spot nodes with a label only and no taint: tolerations do not decide whether "
                f"{named(pod)} runs there.",
                action="Set mode: prevent for on-demand nodes or constrain for spot nodes."
                if miss.has(pod.work, "mode")
                else f"Select {LabelKey.LIFECYCLE}: {' or '.join(LABEL_VALUES)}.",
                path=miss.field(pod.work, "mode", "nodeSelector"),
            )
            return


def not_led_to_spot(miss: Miss) -> Iterator[Hint]:
    """Recognise that pods tolerate spot nodes and should run there, but do not require them."""
    place = getattr(miss.expectation, "place", None)
    if place is None or place.lifecycle != Lifecycle.SPOT or getattr(miss.expectation, "expect", "") != "lands-on":
        return
    for pod in miss.finding.pods:
        node = miss.record.node(pod.node)
        if node and node.lifecycle != Lifecycle.SPOT:
            work = miss.scenario.works.get(pod.work)
            prevents = work is not None and work.mode is PreemptionMode.PREVENT
            is_kept_off = prevents or LabelKey.LIFECYCLE.value in demands(pod.spec)
            own = "The mode prevent" if prevents else "The selector"
            yield Hint(
                cause=f"{own} of {named(pod)} keeps it off spot nodes."
                if is_kept_off
                else f"{named(pod)} may run on spot nodes but does not require them, and on-demand nodes had room.",
                action="Set mode: constrain, which requires spot nodes."
                if miss.has(pod.work, "mode")
                else f"Select {LabelKey.LIFECYCLE}: {Lifecycle.SPOT.label_value}.",
                path=miss.field(pod.work, "mode", "nodeSelector"),
            )
            return


FINDERS: Final[Finders] = (
    lifecycle,
    unknown_label,
    no_group_has_all,
    initial_group,
    taints,
    architecture,
    label_only_spot,
    not_led_to_spot,
)
