"""GPU requests of pods."""

from typing import Final

from policies.cel import words
from policies.rule import Context
from policies.values import some
from policies.views.node_groups.facts import GPU_RESOURCES
from policies.views.pods import PodFacts

GPU_NAMES: Final = f"(params.spec.gpuResources + {words(GPU_RESOURCES)})"
"""The same names in CEL."""

ASKS_FOR_GPU: Final = (
    "variables.containers.exists(container, string(container.?resources.?limits[gpu].orValue('0')) != '0')"
)
"""Whether the pod requests ``gpu``, in CEL."""


def gpu_names(context: Context) -> tuple[str, ...]:
    """Return the names under which GPUs are requested; also the keys of the GPU nodes' taints."""
    return tuple(dict.fromkeys((*GPU_RESOURCES, *context.gpu_resources)))


def asks_for(pod: PodFacts, resource: str) -> bool:
    """Return whether a container requests ``resource``. The API server requires devices as limits."""
    return some(pod.containers(), lambda container: bool(container.at("resources", "limits", resource).quantity()))


def asked_gpus(pod: PodFacts, context: Context) -> list[str]:
    """Return the names of the GPUs that the pod requests."""
    return [name for name in gpu_names(context) if asks_for(pod, name)]
