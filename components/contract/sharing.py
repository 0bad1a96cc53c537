"""Sharing of GPUs among pods: they take turns on a GPU, or each has a slice of it.

A pool that shares its GPUs offers more devices than it has GPUs, under another name. Capacity, taint, labels, quotas
and the autoscaler's hints follow from this one setting.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Findings
from components.contract.gpus import DEFAULT_GPU_RESOURCE, MIG_PREFIX, RESOURCES, TURNS
from components.contract.instances import INSTANCE_TYPES, InstanceType, Variant
from components.contract.roles import PoolRole

REPLICAS_BOUNDS: Final = (2, 8)
"""Fewest and most pods on one GPU. NVIDIA sets no upper bound; with more, each gets too little memory and time."""

_MODE: Final = "Whether pods take turns on each GPU (time-slicing), or have slices with their own memory (mig)."

_PATTERN: Final = r"^\d+g\.\d+gb$"

_SEVENTHS: Final = (("1g", 7), ("1g", 4), ("2g", 3), ("3g", 2), ("4g", 1), ("7g", 1))
"""Slices of a GPU with seven compute units, and how many of each kind fit; the second has twice the memory."""

_MEMORY: Final = {
    ("A100", 40): (5, 10, 10, 20, 20, 40),
    ("A100", 80): (10, 20, 20, 40, 40, 80),
    ("H100", 80): (10, 20, 20, 40, 40, 80),
    ("H100", 94): (12, 24, 24, 47, 47, 94),
    ("H200", 141): (18, 35, 35, 71, 71, 141),
    ("B200", 180): (23, 45, 45, 90, 90, 180),
    ("B300", 269): (34, 67, 67, 135, 135, 269),
}
"""GB in the name of each of ``_SEVENTHS``, by model and memory in GiB.

NVIDIA/gpu-operator 0b0b6b15, ``assets/state-mig-manager/0400_configmap.yaml``; B300: aws/sagemaker-hyperpod-cli, pull
request 403.
"""

_QUARTERS: Final = {
    ("A30", 24): {"1g.6gb": 4, "2g.12gb": 2, "4g.24gb": 1},
    ("RTX PRO Server 6000", 96): {"1g.24gb": 4, "2g.48gb": 2, "4g.96gb": 1},
}
"""Slices of GPUs with four compute units: the first of the files above."""

PROFILES: Final[Mapping[tuple[str, int], Mapping[str, int]]] = {
    **{
        gpu: {f"{units}.{gigabytes}gb": count for (units, count), gigabytes in zip(_SEVENTHS, memory, strict=True)}
        for gpu, memory in _MEMORY.items()
    },
    **_QUARTERS,
}
"""MIG profiles, and the number of slices of a GPU with one profile only, by model and memory in GiB."""

_NEAR_GIB: Final = 2
"""Maximum difference between a GPU's memory and its rounded figure in ``PROFILES``."""


def profiles_of(machine: InstanceType) -> Mapping[str, int]:
    """Return the MIG profiles of a machine's GPUs, with the slices per GPU; empty if they have none."""
    gib = machine.gpu_memory_mib / 1024
    known = (
        profiles
        for (model, memory), profiles in PROFILES.items()
        if model == machine.gpu_model and abs(memory - gib) <= _NEAR_GIB
    )
    return next(known, {})


def _profile(text: str) -> str:
    if not re.fullmatch(_PATTERN, text):
        raise ValueError("must be a MIG profile, such as 1g.10gb")
    return text


class Shares(NamedTuple):
    """What each GPU of a node offers to pods."""

    resource: str
    """Name under which pods request a share."""
    per_gpu: int
    """Shares of one GPU."""

    @property
    def profile(self) -> str:
        """MIG profile of all slices; empty if pods take turns."""
        return self.resource.removeprefix(MIG_PREFIX) if self.resource != TURNS else ""

    @property
    def label(self) -> str:
        """Value of the node label ``GPU_SHARING``: ``time-slicing-4``, ``mig-1g.10gb-7``."""
        return f"{f'mig-{self.profile}' if self.profile else 'time-slicing'}-{self.per_gpu}"


def shares_of(label: str | None) -> Shares | None:
    """Return the shares that a value of the node label ``GPU_SHARING`` means; None if it is missing or invalid."""
    found = re.fullmatch(r"(?:time-slicing|mig-(\d+g\.\d+gb))-([1-9]\d?)", label or "")
    return Shares(f"{MIG_PREFIX}{found[1]}" if found[1] else TURNS, int(found[2])) if found else None


class TimeSlicing(ContractModel):
    """Pods take turns on each GPU. They share its memory, and nothing prevents a pod from using all of it."""

    mode: Literal["time-slicing"] = Field(description=_MODE, examples=["mig"])
    replicas: int = Field(
        ge=REPLICAS_BOUNDS[0],
        le=REPLICAS_BOUNDS[1],
        strict=True,
        description="Pods that take turns on one GPU.",
        examples=[4],
    )

    @property
    def resource(self) -> str:
        """Name under which pods request a share."""
        return TURNS

    def on(self, _: InstanceType) -> Shares:
        """Return the shares of each GPU of a machine."""
        return Shares(self.resource, self.replicas)


class MigSlices(ContractModel):
    """Each GPU is divided into slices of one profile, with their own memory and compute units."""

    mode: Literal["mig"] = Field(description=_MODE, examples=["mig"])
    profile: Annotated[str, AfterValidator(_profile), Field(json_schema_extra={"pattern": _PATTERN})] = Field(
        description="MIG profile of all slices: compute units and memory of one.", examples=["1g.10gb"]
    )

    @property
    def resource(self) -> str:
        """Name under which pods request a slice."""
        return f"{MIG_PREFIX}{self.profile}"

    def on(self, machine: InstanceType) -> Shares:
        """Return the slices of each GPU of a machine that has the profile."""
        return Shares(self.resource, profiles_of(machine)[self.profile])


Sharing: TypeAlias = TimeSlicing | MigSlices
"""How the pods of a pool share its GPUs; ``mode`` distinguishes the variants."""


def gpu_resource_of(choices: Mapping[str, Any]) -> str | None:
    """Return the default name of a pool's GPUs, from its valid fields so far; None without GPUs."""
    if choices.get("role") is not PoolRole.GPU:
        return None
    if sharing := choices.get("sharing"):
        return str(sharing.resource)
    types = choices.get("instance_types")
    return RESOURCES.get(INSTANCE_TYPES[types[0]].gpu_maker, DEFAULT_GPU_RESOURCE) if types else DEFAULT_GPU_RESOURCE


def shared_resource(pool: Mapping[str, Any]) -> str:
    """Return the name of the shares of a pool as a stack file spells it, valid or not; empty if it shares no GPUs."""
    sharing = pool.get("sharing")
    if not isinstance(sharing, Mapping):
        return ""
    return f"{MIG_PREFIX}{sharing['profile']}" if sharing.get("profile") else TURNS


def require_shareable(sharing: Sharing, role: PoolRole | None, machines: Sequence[InstanceType]) -> None:
    """Refuse sharing that the GPUs of a pool do not support.

    Parameters
    ----------
    sharing
        The pool's setting.
    role
        The pool's role; None if the stack file names none or an unknown one.
    machines
        Its machine types; none if they are invalid.

    Raises
    ------
    ValidationError
        With every problem.
    """
    if role not in (PoolRole.GPU, None):
        raise ValueError("is allowed in pools of role 'gpu' only; remove it")
    findings = Findings()
    for message in (unfit := list(_unfit(machines))):
        findings.add(message)
    if isinstance(sharing, MigSlices) and machines and not unfit:
        _require_profile(sharing, machines[0], findings)
    findings.raise_if_any()


def _unfit(machines: Sequence[InstanceType]) -> Iterator[str]:
    if others := [each for each in machines if each.gpu_maker not in ("nvidia", "")]:
        names, models = _named(others), ", ".join(dict.fromkeys(each.gpu_model for each in others))
        yield f"needs NVIDIA GPUs, and {names} have {models} devices; remove it, or use other machine types"
    if parts := [each for each in machines if Variant.FRACTION in each.variants]:
        yield f"is impossible with {_named(parts)}, which have part of a GPU only; use types with whole GPUs"
    if len(kinds := dict.fromkeys(map(_gpu, machines))) > 1:
        yield (
            "needs machine types with one kind of GPU, so that all shares are alike; these have "
            f"{', '.join(kinds)}; make a pool for each"
        )


def _require_profile(sharing: MigSlices, machine: InstanceType, findings: Findings) -> None:
    profiles = profiles_of(machine)
    if profiles and sharing.profile not in profiles:
        findings.add(f"is not a profile of {_gpu(machine)}", "profile", given=sharing.profile, allowed=tuple(profiles))
    elif not (machine.gpu_model and machine.gpu_memory_mib):
        findings.add("needs machine.gpuModel and machine.gpuMemoryGib, which say how many slices a GPU has", "mode")
    elif not profiles:
        known = ", ".join(dict.fromkeys(model for model, _ in PROFILES))
        findings.add(
            f"{_gpu(machine)} cannot be divided, only {known} can; set mode: time-slicing, or use other machines",
            "mode",
        )


def _gpu(machine: InstanceType) -> str:
    return f"{machine.gpu_model} GPUs with {machine.gpu_memory_mib // 1024} GiB"


def _named(machines: Sequence[InstanceType]) -> str:
    return ", ".join(each.name for each in machines)
