"""Selection of machine types by shape.

A stack file names a shape, `igz-clusters machines` lists the types that have it, and the reviewed list stays in the
stack file: the program itself selects nothing, so newer facts about machine types never change a cluster.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from components.contract.choices import ContractModel, Explained, Findings
from components.contract.instances import INSTANCE_TYPES, InstanceType, Provider, Variant

Price: TypeAlias = Callable[[InstanceType], float | None]
"""Price of a machine type; None if it is unknown."""

VARIANTS: Final = tuple(each for each in Variant if each not in (Variant.DISK, Variant.FRACTION))
"""Variants that a shape may name: disks have their own key, and parts of GPUs differ in size."""

_OF_GPU_MACHINES: Final = frozenset({Variant.DISK, Variant.ISOLATED, Variant.NETWORK})
"""Variants that machines with GPUs have anyway, so that a shape need not name them."""


def _model(name: str) -> str:
    known = sorted({each.gpu_model for each in INSTANCE_TYPES.values() if each.gpu_model})
    findings = Findings()
    if name not in known:
        findings.add("is not the model of a known machine type", given=name, allowed=tuple(known))
    findings.raise_if_any()
    return name


class GpuShape(ContractModel):
    """The GPUs or other accelerators of a machine."""

    model: str = Field(description="Model, such as A10G, H100 or Trainium.", examples=["A10G"])
    count: Annotated[int, Explained("Most work needs one.")] = Field(
        1, ge=1, le=64, strict=True, description="Number per machine.", examples=[8]
    )

    @field_validator("model", mode="after")
    @classmethod
    def _is_known(cls, model: str) -> str:
        return _model(model)


class MachineShape(ContractModel):
    """Properties that a machine type must have to be selected."""

    vcpus: Annotated[int | None, Explained("The smallest that fits the rest.")] = Field(
        None, ge=2, le=1024, strict=True, description="Number of vCPUs.", examples=[8]
    )
    memory_gib: Annotated[int | None, Explained("The smallest that fits the rest.")] = Field(
        None, ge=2, le=65536, strict=True, description="Memory in GiB.", examples=[32]
    )
    architecture: Annotated[Literal["amd64", "arm64"], Explained("Most images are built for it.")] = Field(
        "amd64", description="Architecture, as in the label kubernetes.io/arch.", examples=["arm64"]
    )
    generation: Annotated[int, Explained("Any generation; newer ones come first.")] = Field(
        1, ge=1, le=99, strict=True, description="Oldest generation: the number in a type's name.", examples=[6]
    )
    gpu: Annotated[GpuShape | None, Explained("Machines without accelerators.")] = Field(
        None, description="Accelerators; pools of role gpu only.", examples=[{"model": "A10G", "count": 1}]
    )
    local_nvme: Annotated[bool, Explained("Only data nodes need local disks.")] = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether only machines with local NVMe disks are selected; without it none are.",
        examples=[True],
    )
    variants: Annotated[
        tuple[Literal[VARIANTS], ...],  # type: ignore[valid-type] # the members of a tuple are literals at run time
        Explained("Plain machines cost least; each variant has a price or a limit."),
    ] = Field(
        (),
        description="Variants that are selected too, besides plain machines.",
        examples=[["flex", "network"]],
    )

    @field_validator("variants", mode="after")
    @classmethod
    def _name_each_once(cls, variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        findings = Findings()
        for index, variant in enumerate(variants):
            if variant in variants[:index]:
                findings.add("lists a variant twice; remove one", index, given=str(variant))
        findings.raise_if_any()
        return variants

    @model_validator(mode="after")
    def _narrows(self) -> "MachineShape":
        if self.vcpus is None and self.memory_gib is None and self.gpu is None:
            raise ValueError("needs at least one of vcpus, memoryGib and gpu")
        return self

    def problem(self, machine: InstanceType) -> str | None:
        """Return why a machine type does not have this shape, in words; None if it has it."""
        return next(self._problems(machine), None)

    def _problems(self, machine: InstanceType) -> Iterator[str]:
        gpus = self.gpu.count if self.gpu else 0
        if self.vcpus not in (None, machine.vcpus):
            yield f"has {machine.vcpus} vCPUs, not {self.vcpus}"
        if self.memory_gib is not None and machine.memory_mib != self.memory_gib * 1024:
            yield f"has {machine.memory_mib / 1024:g} GiB of memory, not {self.memory_gib}"
        if machine.architecture != self.architecture:
            yield f"is {machine.architecture}, not {self.architecture}"
        if machine.generation < self.generation:
            yield f"is of generation {machine.generation}, older than {self.generation}"
        if self.gpu and machine.gpu_model != self.gpu.model:
            yield f"has {machine.gpu_model or 'no'} GPUs, not {self.gpu.model}"
        if machine.gpus != gpus:
            yield f"has {machine.gpus} GPU{'' if machine.gpus == 1 else 's'}, not {gpus}"
        if self.local_nvme and not machine.local_nvme_gib:
            yield "has no local NVMe disks, or their size is unknown"
        if unasked := sorted(unusual(machine) - {*self.variants, *([Variant.DISK] if self.local_nvme else [])}):
            yield f"is a variant that shape does not ask for: {', '.join(unasked)}"


def unusual(machine: InstanceType) -> frozenset[Variant]:
    """Return the variants of a machine type that a shape must name; disks need no mention if it has GPUs."""
    return machine.variants - (_OF_GPU_MACHINES if machine.gpus else frozenset())


def select(
    shape: MachineShape, provider: Provider, *, is_spot: bool = False, price: Price = lambda _: None
) -> list[InstanceType]:
    """Return the types of a provider that have a shape, in the order of ``preference``.

    All have the same vCPUs, memory and number of GPUs: the smallest, if the shape allows several.

    Parameters
    ----------
    shape
        The shape.
    provider
        Provider of the types.
    is_spot
        Whether only types with spot capacity are wanted.
    price
        Prices, all in the same unit. Default: unknown.
    """
    fits = [
        each
        for each in INSTANCE_TYPES.values()
        if each.provider is provider and shape.problem(each) is None and (each.offers_spot or not is_spot)
    ]
    smallest = min((each.shape for each in fits), default=None)
    return sorted((each for each in fits if each.shape == smallest), key=lambda each: preference(each, price))


def preference(machine: InstanceType, price: Price = lambda _: None) -> tuple[object, ...]:
    """Return the sort key of types of one shape: plain ones, newest generation, lowest known price, name."""
    usd = price(machine)
    return len(unusual(machine)), -machine.generation, usd is None, usd or 0.0, machine.name


def obstacles(shape: MachineShape, provider: Provider) -> list[str]:
    """Return the keys of an unmet shape such that changing one of them alone would let types be selected."""
    loose: dict[str, dict[str, Any]] = {
        "vcpus": {"vcpus": None},
        "memoryGib": {"memory_gib": None},
        "architecture": {"architecture": "arm64" if shape.architecture == "amd64" else "amd64"},
        "generation": {"generation": 1},
        "gpu": {"gpu": None},
        "localNvme": {"local_nvme": not shape.local_nvme},
        "variants": {"variants": VARIANTS},
    }
    return [key for key, change in loose.items() if select(shape.model_copy(update=change), provider)]
