"""Names under which device plug-ins offer GPUs, and parts of them, to pods."""

from typing import Final

from components.contract.labels import label_key_problem

DEFAULT_GPU_RESOURCE: Final = "nvidia.com/gpu"
"""Extended resource of NVIDIA's device plug-in."""

WHOLE_GPUS: Final = (DEFAULT_GPU_RESOURCE, "amd.com/gpu")
"""Names under which device plug-ins offer whole GPUs."""

RESOURCES: Final = {"nvidia": DEFAULT_GPU_RESOURCE, "amd": "amd.com/gpu", "aws": "aws.amazon.com/neuron"}
"""Extended resources of the makers' own device plug-ins: https://github.com/ROCm/k8s-device-plugin,
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html."""

TURNS: Final = f"{DEFAULT_GPU_RESOURCE}.shared"
"""Resource of turns on GPUs that pods share: NVIDIA/k8s-device-plugin 0.19.3, ``README.md`` (``renameByDefault``)."""

MIG_PREFIX: Final = "nvidia.com/mig-"
"""Prefix of resources of slices, followed by their profile: the same file (``migStrategy: mixed``)."""


def is_part_of_gpu(resource: str) -> bool:
    """Return whether a resource is a turn on a GPU or a slice of one."""
    return resource == TURNS or resource.startswith(MIG_PREFIX)


def is_gpu(resource: str) -> bool:
    """Return whether a resource is a GPU or a part of one, under a name that its maker's plug-in uses."""
    return resource.endswith("/gpu") or is_part_of_gpu(resource)


def resource_problem(name: str) -> str | None:
    """Return why nodes cannot offer GPUs under a name; None if they can."""
    return label_key_problem(name) if "/" in name else f"needs a domain, such as {DEFAULT_GPU_RESOURCE}"
