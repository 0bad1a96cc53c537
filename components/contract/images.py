"""Image registries in a stack file, and their mirrors."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator

from components.contract.choices import one_of

REGISTRY_K8S: Final = "registry.k8s.io"
REGISTRY_NVIDIA: Final = "nvcr.io"

IMAGE_REGISTRIES: Final = (REGISTRY_K8S, REGISTRY_NVIDIA)
"""Registries of the images in our own manifests; each may be replaced by a mirror."""


def _mirror(registry: str) -> str:
    if not re.fullmatch(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._/-]*[a-z0-9])?", registry):
        raise ValueError("give HOST or HOST/PATH, without https://")
    return registry


Mirror = Annotated[str, AfterValidator(_mirror)]
"""A registry that replaces another."""

RegistryName = Annotated[str, *one_of(IMAGE_REGISTRIES, "registry")]
