"""A missed expectation, as the finders of hints read it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from components.contract.instances import INSTANCE_TYPES, InstanceType
from components.contract.labels import LabelKey
from components.contract.shapes import preference, unusual
from infra.config import StackConfig
from workbench.rehearsal.record import GroupFacts, PodRecord, Record
from workbench.rehearsal.scenario.kinds import WorkKind, key_problem
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.scenario.work import Work
from workbench.rehearsal.settings import default_namespace
from workbench.rehearsal.verdicts.finding import Case, Finding
from workbench.rehearsal.verdicts.specs import devices, may_use, shape_of, too_small
from workbench.rehearsal.verdicts.verdict import Hint

BARE_KINDS: Final = (WorkKind.MLRUN_JOB, WorkKind.NOTEBOOK, WorkKind.DASK, WorkKind.POD)
"""Kinds whose pods have no controller that creates lost ones again."""

_IN_POD: Final = {
    **{name: name for name in ("nodeSelector", "tolerations")},
    **dict.fromkeys(("cpu", "cpuLimit", "memory", "memoryLimit", "gpus"), "containers"),
    **dict.fromkeys(("priority", "priorityClass"), "priorityClassName"),
    "role": "nodeSelector",
    "volume": "volumes",
}
"""Fields of a pod's spec that replace a work's keys for kind ``pod``."""


@dataclass(frozen=True)
class Miss:
    """A missed expectation with everything that can explain it."""

    case: Case
    expectation: Any
    finding: Finding

    @property
    def record(self) -> Record:
        """What happened."""
        return self.case.record

    @property
    def scenario(self) -> Scenario:
        """What was expected."""
        return self.case.scenario

    @property
    def config(self) -> StackConfig:
        """The stack's choices."""
        return self.case.config

    @cached_property
    def waiting(self) -> tuple[PodRecord, ...]:
        """Pods that miss the expectation and waited: never got a node, or should have run sooner. In their order."""
        is_late = getattr(self.expectation, "expect", "") in ("waits-at-most", "completes")
        return tuple(pod for pod in self.finding.pods if pod.node is None or is_late)

    @cached_property
    def shapes(self) -> tuple[PodRecord, ...]:
        """One of the waiting pods for each different demand, since equal pods wait for equal reasons."""
        seen: dict[tuple[str, str], PodRecord] = {}
        for pod in self.waiting:
            seen.setdefault((pod.work, shape_of(pod)), pod)
        return tuple(seen.values())

    @property
    def work(self) -> Work | None:
        """The work that the expectation names; None for expectations about nodes."""
        return self.scenario.works.get(getattr(self.expectation, "work", ""))

    @property
    def work_name(self) -> str:
        """Its name; empty for expectations about nodes."""
        return str(getattr(self.expectation, "work", ""))

    def has(self, work: str, key: str) -> bool:
        """Return whether the kind of a work has a key; a pod of the cluster itself has none."""
        found = self.scenario.works.get(work)
        return found is not None and not key_problem(key.partition(".")[0], found.kind)

    def field(self, work: str, *keys: str) -> str:
        """Return the path of the first of some keys that a work can have, or of its place in the work's own ``pod``.

        The path of the work itself if it can have none of them; empty for a pod of the cluster itself.
        """
        if not work:
            return ""
        for key in keys:
            if self.has(work, key):
                return f"works.{work}.{key}"
            if self.scenario.works[work].pod is not None and (inner := _IN_POD.get(key.partition(".")[0])):
                return f"works.{work}.pod.{inner}"
        return f"works.{work}"

    def selector(self, pod: PodRecord, label: str) -> str:
        """Return the path of what selects a label for a pod: its work's role, or else its node selector."""
        work = self.scenario.works.get(pod.work)
        is_role = label == LabelKey.ROLE and work is not None and work.role is not None
        return self.field(pod.work, "role" if is_role else "nodeSelector")

    def kind_of(self, pod: PodRecord) -> WorkKind | None:
        """Return the kind of work that a pod belongs to; None for a pod of the cluster itself."""
        work = self.scenario.works.get(pod.work)
        return work.kind if work else None

    def namespace(self, work: str) -> str:
        """Return the namespace of a work: its own, else that of all work without one."""
        chosen = self.scenario.works[work].namespace if work in self.scenario.works else None
        return chosen or default_namespace(self.config)

    def said(self, *words: str) -> Iterator[tuple[PodRecord, str]]:
        """Yield the pods of the finding, and what was said about them, if that contains one of the words."""
        for pod in self.finding.pods:
            for reason in pod.reasons:
                if any(word in reason.text for word in words):
                    yield pod, reason.text

    def open_groups(self, pod: PodRecord) -> tuple[GroupFacts, ...]:
        """Return the groups whose labels and taints let a pod in, whatever their size."""
        return tuple(group for group in self.record.groups if may_use(pod, group))

    def fitting(self, pod: PodRecord) -> tuple[GroupFacts, ...]:
        """Return those of the open groups on whose empty nodes a pod fits."""
        return tuple(group for group in self.open_groups(pod) if not too_small(pod, group))


Finders = tuple[Callable[[Miss], Iterable[Hint]], ...]
"""Each recognises one mistake."""


def named(pod: PodRecord) -> str:
    """Return a pod's work for a sentence; its own name if it belongs to none."""
    return pod.work or pod.name


def machine_path(group: GroupFacts) -> str:
    """Return the path of what decides a group's machines."""
    return f"pools.{group.pool}.{'instanceTypes' if group.instance_type in INSTANCE_TYPES else 'machine'}"


def larger_type(group: GroupFacts, pod: PodRecord) -> InstanceType | None:
    """Return the smallest known machine type similar to a group's on which a pod would fit; None if none is known."""
    own = INSTANCE_TYPES.get(group.instance_type)
    if own is None:  # a machine that the stack file describes itself
        return None
    gpus = max(devices(pod.spec).values(), default=pod.gpus)
    is_shared = LabelKey.GPU_SHARING.value in group.labels
    return smallest_type(
        pod,
        (
            each
            for each in INSTANCE_TYPES.values()
            if (each.provider, each.architecture) == (own.provider, own.architecture)
            and bool(each.gpus) == bool(gpus)
            and each.gpus >= gpus
            and each.local_nvme_gib == (each.local_nvme_gib if gpus else own.local_nvme_gib)
            and (each.gpu_maker == own.gpu_maker or not own.gpus)
            and (each.gpu_model == own.gpu_model or not is_shared)
            and unusual(each) <= own.variants
        ),
        own.family,
    )


def smallest_type(pod: PodRecord, types: Iterable[InstanceType], family: str = "") -> InstanceType | None:
    """Return the smallest of some machine types on which a pod fits; None if it fits on none.

    Among equally large ones, prefer that of ``family``, else the first in the order of `igz-clusters machines`.

    A machine must have a tenth more than requested, and half a core and 2 GiB: what kubelet reserves on small and
    large machines (https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/config.go).
    """
    fits = (
        each
        for each in types
        if each.vcpus * 1000 >= pod.cpu_millis * 1.1 + 500 and each.memory_mib >= pod.memory_mib * 1.1 + 2048
    )
    return min(
        fits,
        key=lambda each: (each.gpus, each.vcpus, each.memory_mib, each.family != family, *preference(each)),
        default=None,
    )


def such_as(group: GroupFacts, pod: PodRecord) -> str:
    """Return ``, such as TYPE`` with a larger machine type for a sentence; empty if none is known."""
    larger = larger_type(group, pod)
    return f", such as {larger.name}" if larger else ""
