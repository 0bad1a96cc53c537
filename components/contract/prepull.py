"""Images that nodes of a pool pull when they start, before a pod needs them."""

import re
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field

from components.contract.choices import Explained, Findings

IMAGES_MAX: Final = 8
"""Maximum number of images of a pool: each node needs disk space and traffic for all of them."""

SINCE: Final = "1.35"
"""First minor whose nodes mount an image as a volume, which pulls it without running it: feature ``ImageVolume``.

kubernetes v1.36.3, ``pkg/features/kube_features.go``; pulled by ``getImageVolumes`` in
``pkg/kubelet/kuberuntime/kuberuntime_manager.go``, and kept by ``handleImageVolumes`` in
``pkg/kubelet/images/image_gc_manager.go``.
"""

_HOST: Final = r"(?=[^/]*[.:])[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?"
_PATH: Final = r"(/[a-z0-9]+([._-]+[a-z0-9]+)*)+"
_TAG: Final = r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
_DIGEST: Final = r"(@sha256:[0-9a-f]{64})?"
_REFERENCE: Final = f"{_HOST}{_PATH}{_TAG}{_DIGEST}"
"""https://github.com/distribution/reference/blob/main/regexp.go, with a required registry."""


def _reference(image: str) -> str:
    if not re.fullmatch(_REFERENCE, image, re.ASCII):
        raise ValueError("must be a whole reference with its registry, such as docker.io/library/python:3.12-slim")
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    if not digest and tag in ("", "latest"):
        raise ValueError("HK-08: needs a version or a digest, because nodes would pull different images")
    return image


def _differing(images: tuple[str, ...]) -> tuple[str, ...]:
    findings = Findings()
    for index, image in enumerate(images):
        if image in images[:index]:
            findings.add("lists an image twice; remove one", index, given=image)
    findings.raise_if_any()
    return images


ImageReference: TypeAlias = Annotated[
    str, AfterValidator(_reference), Field(json_schema_extra={"pattern": f"^{_REFERENCE}$"})
]

PrepullImages: TypeAlias = Annotated[
    tuple[ImageReference, ...],
    AfterValidator(_differing),
    Explained(
        "Every node would need disk space and traffic for them.",
        "A DaemonSet on the pool's nodes that mounts each image, which pulls it and keeps it there.",
    ),
]
