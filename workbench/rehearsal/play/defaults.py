"""Defaults that the services of a stack's platform set on pods."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from components.contract.gpus import DEFAULT_GPU_RESOURCE, TURNS, is_part_of_gpu
from components.contract.groups import gpu_names
from components.contract.labels import LabelKey
from components.contract.mlrun_choices import MlrunChoices, PreemptionMode
from components.contract.priorities import DEFAULT_USER_PRIORITY
from components.contract.systems.platform_cluster import PlatformCluster
from infra.config import StackConfig
from infra.config.platform_cluster import platform_cluster
from workbench.rehearsal.play.preemption import Placement, with_mode
from workbench.rehearsal.scenario.kinds import KINDS_OF_KEY
from workbench.rehearsal.scenario.work import Work

_SIDES: Final = ("requests", "limits")
_NAMES: Final = ("cpu", "memory")


@dataclass(frozen=True)
class PlatformDefaults:
    """Defaults of MLRun, Nuclio, JupyterHub and application services on the cluster of a stack."""

    config: StackConfig

    @cached_property
    def cluster(self) -> PlatformCluster:
        """The cluster as the systems' settings see it."""
        return platform_cluster(self.config)

    @cached_property
    def gpu(self) -> str:
        """Name under which work requests GPUs: the first of the stack's for whole ones, else the first."""
        names = sorted(gpu_names(self.config.groups), key=is_part_of_gpu)
        return next(iter(names), DEFAULT_GPU_RESOURCE)

    @cached_property
    def gpu_slice(self) -> str:
        """Name under which work requests parts of GPUs: the first of the stack's."""
        return next(filter(is_part_of_gpu, gpu_names(self.config.groups)), TURNS)

    def mlrun(self, namespace: str) -> MlrunChoices:
        """Return the settings of the MLRun that runs in a namespace."""
        own = self.config.namespaces.get(namespace)
        return self.config.platform.mlrun.with_own(own.mlrun if own else None)

    def by_mlrun(self, work: Work, namespace: str) -> dict[str, Any]:
        """Return placement and class of a pod that MLRun or Nuclio creates.

        From 1.7 on MLRun merges its default selector with the function's own, whose values win.
        """
        chosen = {**self.cluster.job_selector, **own_selector(work)}
        has_mode = work.kind in KINDS_OF_KEY["mode"]
        mode = (work.mode or self.mlrun(namespace).preemption_mode) if has_mode else PreemptionMode.NONE
        placed = with_mode(
            Placement(chosen, work.tolerations), mode, has_spot=self.cluster.has_spot, taint=self.config.spot_taint
        )
        return {**placed.fields, **priority(work, DEFAULT_USER_PRIORITY.value)}

    def resources(self, work: Work, *, has_defaults: bool = True, gpus: bool = True) -> dict[str, Any]:
        """Return requests and limits of a pod's main container.

        Parameters
        ----------
        work
            The work, with its requests.
        has_defaults
            Whether the service that creates the pod sets the stack's default pod resources. If not, admission may.
        gpus
            Whether this pod gets the work's GPUs, or its parts of GPUs.
        """
        found = self.default_resources if has_defaults else {side: {} for side in _SIDES}
        for name in _NAMES:
            request, limit = getattr(work, name), getattr(work, f"{name}_limit")
            if request:
                found["requests"][name] = request
                found["limits"][name] = limit or request
            elif limit:
                found["limits"][name] = limit
        if work.devices and gpus:
            for side in _SIDES:
                found[side][self.gpu if work.gpus else self.gpu_slice] = str(work.devices)
        return {side: amounts for side, amounts in found.items() if amounts}

    @property
    def default_resources(self) -> dict[str, Any]:
        """The stack's default requests and limits."""
        chosen = self.config.pod_resources
        return {side: {name: getattr(getattr(chosen, side), name) for name in _NAMES} for side in _SIDES}


def own_selector(work: Work) -> dict[str, str]:
    """Return the node selector that the author of a work adds."""
    return {**({LabelKey.ROLE.value: work.role.value} if work.role else {}), **work.node_selector}


def placed(work: Work, selector: Mapping[str, str], default_class: str = "") -> dict[str, Any]:
    """Return placement and class of a pod whose creator has these defaults."""
    return {
        **Placement({**selector, **own_selector(work)}, work.tolerations).fields,
        **priority(work, default_class),
    }


def priority(work: Work, default: str = "") -> dict[str, str]:
    """Return the field of the priority class; none if there is neither a choice nor a default."""
    name = work.priority_class or (work.priority.value if work.priority else default)
    return {"priorityClassName": name} if name else {}
