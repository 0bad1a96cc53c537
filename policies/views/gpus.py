"""GPU requests of pods."""

from collections.abc import Callable
from typing import Final

from components.contract.gpus import WHOLE_GPUS, is_part_of_gpu
from policies.cel import words
from policies.rule import Context
from policies.values import Value, some
from policies.views.pods import PodFacts

GPU_NAMES: Final = f"(params.spec.gpuResources + {words(WHOLE_GPUS)})"
"""The same names in CEL."""

ASKS_FOR_GPU: Final = (
    "variables.containers.exists(container, string(container.?resources.?limits[gpu].orValue('0')) != '0')"
)
"""Whether the pod requests ``gpu``, in CEL."""


USES_GPU: Final = (
    "(variables.containers.exists(container, container.?resources.?limits[?gpu].hasValue())"
    " || variables.spec.?resourceClaims.orValue([]).size() > 0"
    " || variables.containers.exists(container, container.?resources.?limits.orValue({})"
    ".exists(name, name.startsWith(gpu.split('/')[0] + '/mig-'))))"
)
"""The CEL of ``uses``, for ``gpu``."""


def gpu_names(context: Context) -> tuple[str, ...]:
    """Return the names under which GPUs are requested; also the keys of the GPU nodes' taints."""
    return tuple(dict.fromkeys((*WHOLE_GPUS, *context.gpu_resources)))


def parts_of_gpus(pod: PodFacts) -> tuple[str, ...]:
    """Return the names of turns on GPUs and slices of them that the pod has limits for."""
    limits = (container.at("resources", "limits") for container in pod.containers())
    return tuple(dict.fromkeys(name for each in limits for name, _ in each.items() if is_part_of_gpu(name)))


def asks_for(pod: PodFacts, resource: str) -> bool:
    """Return whether a container requests ``resource``. The API server requires devices as limits."""
    return some(pod.containers(), lambda container: bool(container.at("resources", "limits", resource).quantity()))


def uses(pod: PodFacts, resource: str, *, zero: bool = True) -> bool:
    """Return whether the pod requests whole GPUs named ``resource``, slices of them (MIG), or devices by claims (DRA).

    With ``zero``, a request of zero counts too: the API server adds the toleration of the GPU's taint to such a pod as
    well (kubernetes v1.36.3, ``plugin/pkg/admission/extendedresourcetoleration/admission.go``). A claim does not show
    what it is for, so any claim counts. Slices have names such as ``nvidia.com/mig-1g.5gb``
    (https://docs.nvidia.com/datacenter/cloud-native/kubernetes/latest/index.html).
    """

    def requests(container: Value) -> bool:
        limits = container.at("resources", "limits").items()
        sliced = f"{resource.partition('/')[0]}/mig-"
        asked = [each for name, each in limits if name == resource or name.startswith(sliced)]
        return any((zero and not each.is_absent) or each.quantity() for each in asked)

    claims = pod.spec.at("resourceClaims")
    ways: tuple[Callable[[], bool], ...] = (lambda: some(pod.containers(), requests), lambda: bool(claims.elements()))
    return some(ways, lambda way: way())


def asked_gpus(pod: PodFacts, context: Context) -> list[str]:
    """Return the names of the GPUs that the pod requests."""
    return [name for name in gpu_names(context) if asks_for(pod, name)]
