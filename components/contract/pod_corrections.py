"""What the API server corrects in pods of user namespaces from Kubernetes 1.36 on, in CEL.

It corrects placements that no node can satisfy, because MLRun sets the same placement on all pods of a function:
- the role in the selector follows the GPU request. A function may then request a GPU without any selector, and helpers
  that request none (MPI launcher, image build, pipeline step, Spark driver, Dask scheduler) run on nodes for jobs;
- a pod that selects spot nodes gets the toleration of their taint;
- if spot nodes have no taint, a pod that chooses no lifecycle is kept off them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from components.contract.admission import is_marked, says_lifecycle
from components.contract.clusters import SPOT_TAINTS
from components.contract.groups import NodeGroup, gpu_names, role_for_jobs
from components.contract.labels import AnnotationKey, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.placement import (
    BY_THE_CLUSTER,
    CHOICE_VARIABLES,
    has_untainted_spot,
    lists_gpu,
    set_entry,
    uses_gpu,
)
from components.contract.taints import Taint


@dataclass(frozen=True, slots=True, kw_only=True)
class PodCorrections:
    """Corrections that pods of user namespaces need with these groups."""

    gpu_resources: tuple[str, ...] = ()
    """Names under which GPUs are requested. Default: none, and no role is corrected."""
    gpu_role: str = ""
    job_role: str = ""
    spot_taint: Taint | None = None
    """Taint of spot nodes. Default: no toleration is added."""
    has_untainted_spot: bool = False
    """Whether pods that choose no lifecycle must be kept off spot nodes here. Default: a taint does that."""

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to correct."""
        return bool(self.gpu_resources or self.spot_taint or self.has_untainted_spot)


def pod_corrections(groups: Iterable[NodeGroup]) -> PodCorrections:
    """Return the corrections for these groups; a role is corrected only if there are groups of both roles."""
    groups = tuple(groups)
    gpu = next((group.role for group in groups if group.role.needs_a_device), None)
    jobs = role_for_jobs(groups)
    spot = [group for group in groups if group.lifecycle is Lifecycle.SPOT]
    return PodCorrections(
        gpu_resources=gpu_names(groups) if gpu and jobs else (),
        gpu_role=gpu.value if gpu else "",
        job_role=jobs,
        spot_taint=next((taint for group in spot for taint in group.taints if taint in SPOT_TAINTS), None),
        has_untainted_spot=has_untainted_spot(groups),
    )


CORRECTED: Final = {"not-a-core-service": f"!({is_marked('object.metadata', LabelKey.CORE_SERVICE)})"}
"""Conditions by name under which a pod is corrected: core services choose their nodes themselves."""


def correction_variables(needs: PodCorrections) -> dict[str, str]:
    """Return the variables of the corrections; each may use those before it."""
    return {
        "selector": "object.spec.?nodeSelector.orValue({})",
        "tolerations": "object.spec.?tolerations.orValue([])",
        "role": f"variables.selector[?'{LabelKey.ROLE}'].orValue('')",
        "gpu": uses_gpu("object.spec", needs.gpu_resources),
        "newRole": _new_role(needs),
        "needsToleration": _needs_toleration(needs.spot_taint),
        "template": "object",
        "path": "''",
        **CHOICE_VARIABLES,
        # The placement mutation handles bare pods without a place. The API server runs both in any order.
        "needsLifecycle": f"!{says_lifecycle()} && (variables.chosen || {BY_THE_CLUSTER})"
        if needs.has_untainted_spot
        else "false",
    }


def correction_patches(needs: PodCorrections) -> str:
    """Return the expression for the JSON patches, using ``correction_variables``.

    It is one expression, because the API server drops empty maps between two mutations.
    """
    on_demand = Lifecycle.ON_DEMAND.label_value
    taint = needs.spot_taint
    toleration = (
        "{" + ", ".join(f"'{key}': '{value}'" for key, value in taint.toleration().items()) + "}" if taint else ""
    )
    parts = [
        f"variables.newRole != '' ? {set_entry('spec', 'nodeSelector', LabelKey.ROLE, 'variables.newRole')} : []",
        f"variables.needsLifecycle ? {set_entry('spec', 'nodeSelector', LabelKey.LIFECYCLE, repr(on_demand))} : []",
    ]
    if toleration:
        parts.append(
            "variables.needsToleration ? (has(object.spec.tolerations) ? []"
            " : [JSONPatch{op: 'add', path: '/spec/tolerations', value: []}])"
            f" + [JSONPatch{{op: 'add', path: '/spec/tolerations/-', value: {toleration}}}] : []"
        )
    parts.append(f"{ANY} ? {set_entry('metadata', 'annotations', AnnotationKey.CORRECTED, WHAT)} : []")
    return " + ".join(f"({part})" for part in parts)


ANY: Final = "(variables.newRole != '' || variables.needsToleration || variables.needsLifecycle)"
"""True if the pod is corrected."""

WHAT: Final = (
    "[variables.newRole == '' ? '' : 'role ' + variables.newRole + ' by its GPU request',"
    " variables.needsToleration ? 'toleration of spot nodes' : '',"
    " variables.needsLifecycle ? 'on-demand nodes' : ''].filter(text, text != '').join(', ')"
)
"""Expression for the value of the annotation ``CORRECTED``."""


def _new_role(needs: PodCorrections) -> str:
    """Return the expression for the role that must replace that of the selector; empty if it is right.

    A pod that also names a pool, or tolerates the GPU taint by itself, chose its nodes. A pod that requests 0 GPUs,
    such as MLRun's builds for GPU functions, got the toleration from the API server.
    """
    if not needs.gpu_resources:
        return "''"
    given = lists_gpu("object.spec", needs.gpu_resources)
    tolerates = f"variables.tolerations.exists(t, t.?key.orValue('') in {['', *needs.gpu_resources]})"
    return (
        f"'{LabelKey.POOL}' in variables.selector ? ''"
        f" : variables.role == '{needs.job_role}' && variables.gpu ? '{needs.gpu_role}'"
        f" : variables.role == '{needs.gpu_role}' && !variables.gpu && ({given} || !{tolerates})"
        f" ? '{needs.job_role}' : ''"
    )


def _needs_toleration(taint: Taint | None) -> str:
    if taint is None:
        return "false"
    spot = Lifecycle.SPOT.label_value
    return (
        f"variables.selector[?'{LabelKey.LIFECYCLE}'].orValue('') == '{spot}'"
        f" && !variables.tolerations.exists(t, t.?key.orValue('') in ['', '{taint.key}'])"
    )
