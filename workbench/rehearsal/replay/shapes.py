"""Reads from a pod's spec what scenarios express; environment, commands, images and annotations are never read."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import ROUND_UP, Decimal
from typing import Any, Final

from components.contract.gpus import is_gpu
from components.contract.labels import OWN_DOMAIN, LabelKey
from components.contract.mlrun_choices import PreemptionMode
from components.contract.priorities import RESERVED_CLASSES, SystemPriority, UserPriority
from infra.config.problems import printable
from workbench.rehearsal.amounts import pod_amounts
from workbench.rehearsal.replay.observed import Shape

KNOWN_CLASSES: Final = frozenset({*UserPriority, *SystemPriority, *RESERVED_CLASSES})
"""Priority classes that every stack has."""

_MIB: Final = Decimal(2) ** 20
_ADDED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""Tolerations that the API server adds by itself (kubernetes/kubernetes,
``plugin/pkg/admission/defaulttolerationseconds/admission.go``)."""
_NODE_NAME: Final = "kubernetes.io/hostname"
_NOT_EXPRESSED: Final = {
    "topologySpreadConstraints": "topology spread",
    "resourceClaims": "resource claims",
    "schedulingGates": "scheduling gates",
}


def shape_of(metadata: Mapping[str, Any], spec: Mapping[str, Any], counts: Counter[str]) -> Shape:
    """Return what a pod requests.

    Parameters
    ----------
    metadata, spec
        Of the pod.
    counts
        Receives what the model does not express, each with the number of pods.
    """
    requests, limits = pod_amounts(spec, "requests"), pod_amounts(spec, "limits")
    gpu = next((name for name in (*requests, *limits) if is_gpu(name)), "")
    class_name = str(spec.get("priorityClassName") or "")
    if class_name and class_name not in KNOWN_CLASSES:
        counts[
            f"Pods with the priority class {printable(class_name, 63)}, which stacks do not have (it is left out)"
        ] += 1
        class_name = ""
    selector = {str(key): str(value) for key, value in (spec.get("nodeSelector") or {}).items()}
    if selector.pop(_NODE_NAME, None):
        counts["Pods that select a node by its name (that is left out)"] += 1
    for key in selector:
        if OWN_DOMAIN not in key and key != LabelKey.LIFECYCLE and not key.startswith(("topology.", "kubernetes.io/")):
            counts[
                f"Pods that select nodes by {printable(key, 100)} (they wait if no node of the stack has the label)"
            ] += 1
    mode = _mode(spec.get("affinity") or {}, counts)
    _count_rest(spec, counts)
    labels = metadata.get("labels") or {}
    return Shape(
        cpu=_millis(requests.get("cpu", limits.get("cpu"))),
        cpu_limit=_millis(limits.get("cpu")),
        memory=_mib(requests.get("memory", limits.get("memory"))),
        memory_limit=_mib(limits.get("memory")),
        gpus=int(requests.get(gpu, limits.get(gpu, Decimal(0)))) if gpu else 0,
        gpu_resource=gpu,
        selector=tuple(sorted(selector.items())),
        tolerations=tuple(_tolerations(spec.get("tolerations") or ())),
        priority_class=class_name,
        mode=mode,
        labels=tuple(sorted((str(k), str(v)) for k, v in labels.items() if str(k).startswith(f"{OWN_DOMAIN}/"))),
    )


def _millis(amount: Decimal | None) -> int | None:
    return int((amount * 1000).to_integral_value(ROUND_UP)) if amount else None


def _mib(amount: Decimal | None) -> int | None:
    return int((amount / _MIB).to_integral_value(ROUND_UP)) if amount else None


def _tolerations(given: Iterable[Mapping[str, Any]]) -> list[str]:
    fields = ("key", "operator", "value", "effect", "tolerationSeconds")
    return sorted(
        json.dumps({name: each[name] for name in fields if name in each}, sort_keys=True)
        for each in given
        if each.get("key") not in _ADDED
    )


def _mode(affinity: Mapping[str, Any], counts: Counter[str]) -> str:
    """Return the preemption mode that a pod's node affinity shows, and count affinity of other kinds.

    MLRun writes ``constrain`` and ``prevent`` as required terms on the lifecycle label (mlrun/mlrun,
    ``mlrun/k8s_utils.py``, ``generate_preemptible_nodes_affinity_terms`` and ``..._anti_affinity_terms``).
    """
    found = ""
    node = affinity.get("nodeAffinity") or {}
    required = (node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
    operators = {
        each.get("operator")
        for term in required
        for each in term.get("matchExpressions") or ()
        if each.get("key") == LabelKey.LIFECYCLE
    }
    if operators == {"In"}:
        found = PreemptionMode.CONSTRAIN
    elif operators == {"NotIn"}:
        found = PreemptionMode.PREVENT
    if (node and not found) or affinity.get("podAffinity") or affinity.get("podAntiAffinity"):
        counts["Pods with an affinity, which scenarios do not express (it is left out)"] += 1
    return found


def _count_rest(spec: Mapping[str, Any], counts: Counter[str]) -> None:
    for name, words in _NOT_EXPRESSED.items():
        if spec.get(name):
            counts[f"Pods with {words}, which scenarios do not express (left out)"] += 1
    if any("persistentVolumeClaim" in volume or "ephemeral" in volume for volume in spec.get("volumes") or ()):
        counts["Pods with claims, whose sizes and zones the file does not have (they are left out)"] += 1
