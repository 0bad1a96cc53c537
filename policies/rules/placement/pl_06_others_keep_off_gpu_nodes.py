"""PL-06: pods without a GPU do not tolerate the taint of GPU nodes."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.cel import TOLERATIONS, label
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.gpus import ASKS_FOR_GPU, GPU_NAMES, asks_for, gpu_names
from policies.views.node_choice import tolerated_keys
from policies.views.operators import MPI_ROLE_LABELS
from policies.views.pods import USER_PODS, PodFacts

HELPERS: Final = (*((key, "launcher") for key in MPI_ROLE_LABELS), ("mlrun/class", "build"))
"""Labels of pods that inherit a GPU function's node selection without using a GPU: MPI launchers, image builds."""


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Reject tolerations of GPU taints whose GPU the pod does not request."""
    tolerated = set(tolerated_keys(pod))
    for gpu in gpu_names(context):
        if gpu in tolerated and not asks_for(pod, gpu) and not any(pod.label(key) == value for key, value in HELPERS):
            yield Finding(f"{pod} tolerates {gpu} but requests no such GPU; expected no toleration.")


RULE = Rule(
    id="PL-06",
    slug="others-keep-off-gpu-nodes",
    title="Pods without a GPU must not tolerate GPU nodes",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=USER_PODS,
    why="They would fill the most expensive machines while GPU work waits next to idle GPUs.",
    fix="Remove the toleration; the API server adds it to pods that request a GPU.",
    check=check,
    admission=Admission(
        expression=" || ".join(f"{label(key)} == '{value}'" for key, value in HELPERS)
        + f" || {GPU_NAMES}.all(gpu, {ASKS_FOR_GPU}"
        f" || !{TOLERATIONS}.exists(toleration, toleration.?key.orValue('') == gpu))"
    ),
)
