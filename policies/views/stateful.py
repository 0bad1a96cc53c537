"""Stateful work: pods of controllers that give them an identity, and pods that write to a claim, in Python and CEL."""

from typing import Final

from policies.values import Value, some
from policies.views.pods import PodFacts
from policies.views.spot import made_by, makers

_CONTROLLERS: Final = ("StatefulSet", "StrimziPodSet")
"""Controllers of databases and brokers."""


def stateful_kind(pod: PodFacts) -> str | None:
    """Return why the pod is stateful, as the end of a sentence about it; None if it is not.

    A job is stateful only by its claim: a volume that dies with the pod holds nothing that a new pod could miss.
    """
    if controllers := makers(pod) & set(_CONTROLLERS):
        return f"belongs to a {min(controllers)}"
    return "writes to a claim" if some(pod.spec.at("volumes").elements(), lambda v: _is_written(pod, v)) else None


def _is_written(pod: PodFacts, volume: Value) -> bool:
    claim = volume.at("persistentVolumeClaim")
    if claim.is_absent or claim.at("readOnly").flag():
        return False
    name = volume.at("name").text()
    uses = (
        use
        for container in pod.containers()
        for field in ("volumeMounts", "volumeDevices")
        for use in container.at(field).elements()
    )
    return some(tuple(uses), lambda use: use.at("name").text() == name and not use.at("readOnly").flag())


IS_STATEFUL: Final = (
    f"({made_by(_CONTROLLERS)} || variables.spec.?volumes.orValue([]).exists(volume, has(volume.persistentVolumeClaim)"
    " && !volume.persistentVolumeClaim.?readOnly.orValue(false) && variables.containers.exists(container,"
    " container.?volumeMounts.orValue([]).exists(use, use.name == volume.name && !use.?readOnly.orValue(false))"
    " || container.?volumeDevices.orValue([]).exists(use, use.name == volume.name))))"
)
"""The CEL of ``stateful_kind``."""
