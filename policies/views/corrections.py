"""Pods as the API server corrects them (``components.contract.pod_corrections``).

It corrects new pods, but not the templates of Kubernetes' own controllers: admission checks those unchanged.
"""

import re
from typing import Final

from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole
from policies.rule import Context
from policies.views.gpus import uses
from policies.views.node_choice import tolerated_keys
from policies.views.pods import PodFacts

_MADE_AS_PODS: Final = re.compile(r"Pod|PyTorchJob|TFJob|MPIJob|Ray\w+|(Scheduled)?SparkApplication")
"""Kinds whose pods are not created by Kubernetes' own controllers."""


def corrected(pod: PodFacts, context: Context) -> PodFacts:
    """Return the pod with the role that the API server makes it select because of its GPU request."""
    role = _corrected_role(pod, context)
    return pod.selecting({LabelKey.ROLE.value: role}) if role else pod


def is_given_toleration(pod: PodFacts, context: Context) -> bool:
    """Return whether the API server makes the pod tolerate the taint of spot nodes, if they have one."""
    return _is_corrected(pod, context) and pod.selected(LabelKey.LIFECYCLE) == Lifecycle.SPOT.label_value


def _is_corrected(pod: PodFacts, context: Context) -> bool:
    return context.gives_places and bool(_MADE_AS_PODS.fullmatch(pod.kind)) and pod.is_user_work(context)


def _corrected_role(pod: PodFacts, context: Context) -> PoolRole | None:
    gpus = context.corrected_gpus
    if not gpus or not _is_corrected(pod, context):
        return None
    role = pod.selected(LabelKey.ROLE)
    if role not in (PoolRole.WORKLOAD, PoolRole.GPU) or pod.selected(LabelKey.POOL) is not None:
        return None
    requests, lists = (any(uses(pod, gpu, zero=zero) for gpu in gpus) for zero in (False, True))
    if role == PoolRole.WORKLOAD:
        return PoolRole.GPU if requests else None
    tolerates = not lists and any(key in ("", *gpus) for key in tolerated_keys(pod))
    return None if requests or tolerates else PoolRole.WORKLOAD
