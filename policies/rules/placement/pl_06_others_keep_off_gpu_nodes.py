"""PL-06: pods that use no GPU do not tolerate the taint of GPU nodes."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.pod_security import MPI_ROLE_LABELS
from policies.cel import TOLERATIONS, label
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.gpus import GPU_NAMES, USES_GPU, gpu_names, uses
from policies.views.node_choice import tolerated_keys
from policies.views.pods import USER_PODS, PodFacts

HELPERS: Final = (
    *((key, "launcher") for key in MPI_ROLE_LABELS),
    ("mlrun/class", "build"),
    ("spark-role", "driver"),
    ("dask.org/component", "scheduler"),
)
"""Labels of pods that inherit the tolerations of a GPU function without using a GPU."""

STEPS: Final = "workflows.argoproj.io/workflow"
"""Label of the steps of ML Pipelines, which inherit them too; its value is the workflow's name."""


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Reject tolerations of GPU taints whose GPU the pod does not request."""
    tolerated = set(tolerated_keys(pod))
    for gpu in gpu_names(context):
        if gpu in tolerated and not uses(pod, gpu) and not _helps(pod):
            yield Finding(f"{pod} tolerates {gpu} but requests neither it nor a part of it; expected no toleration.")


def _helps(pod: PodFacts) -> bool:
    return bool(pod.label(STEPS)) or any(pod.label(key) == value for key, value in HELPERS)


RULE = Rule(
    id="PL-06",
    slug="others-keep-off-gpu-nodes",
    title="Pods that use no GPU must not tolerate GPU nodes",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=USER_PODS,
    why="They would fill the most expensive machines while GPU work waits next to idle GPUs.",
    fix="Remove the toleration; the API server adds it to pods that request a GPU.",
    check=check,
    admission=Admission(
        culprits=" || ".join(f"{label(key)} == '{value}'" for key, value in HELPERS)
        + f" || {label(STEPS)} != '' ? [] : {GPU_NAMES}.filter(gpu, !{USES_GPU}"
        f" && {TOLERATIONS}.exists(toleration, toleration.?key.orValue('') == gpu)).map(gpu, 'toleration of ' + gpu)"
    ),
)
