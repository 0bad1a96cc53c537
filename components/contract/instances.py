"""Machine types and their resources. The figures are dated facts, in the CSV files of ``machines``."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final

from typing_extensions import override

from components.contract.environments import Provider

ARM64: Final = "arm64"
"""Architecture of ARM machines, as in the label ``kubernetes.io/arch``; all others here are ``amd64``."""

FACTS: Final = Path(__file__).parent / "machines"
"""Folder of the generated files, one for each provider; ``tools/facts/instances.py`` says where figures come from."""

__all__ = ["ARM64", "FACTS", "INSTANCE_TYPES", "InstanceType", "Provider", "Variant"]


class Variant(StrEnum):
    """What distinguishes a machine type from the plain ones of its shape."""

    BURSTABLE = "burstable"
    """Full speed only as long as CPU credits last."""

    DISK = "disk"
    """Local solid-state disks."""

    FLEX = "flex"
    """Full speed for most of the time, at a lower price."""

    FRACTION = "fraction"
    """Part of a GPU."""

    FREQUENCY = "frequency"
    """Higher clock rate."""

    HDD = "hdd"
    """Local hard disks."""

    HPC = "hpc"
    """For tightly coupled computing."""

    ISOLATED = "isolated"
    """The only machine on its hardware."""

    NETWORK = "network"
    """More network bandwidth."""

    STORAGE = "storage"
    """More bandwidth to network disks."""


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One machine type."""

    name: str
    provider: Provider
    vcpus: int
    memory_mib: int
    architecture: str
    """``amd64`` or ``arm64``, as in the label ``kubernetes.io/arch``."""
    gpus: int = 0
    """GPUs or other accelerators that pods request as devices, parts of one included."""
    gpu_model: str = ""
    """GPU model such as ``A10G``; empty without a GPU."""
    local_nvme_gib: int = 0
    """NVMe instance storage in GiB, in total; lost when the machine stops. 0 if there is none or it is unknown."""
    gpu_maker: str = ""
    """Who makes its GPUs: ``nvidia``, ``amd``, or ``aws`` for Neuron devices. Empty without a GPU or if unknown."""
    gpu_memory_mib: int = 0
    """Memory of one GPU; 0 if unknown."""
    generation: int = 0
    """Number in its name: 6 of ``m6i``, 5 of ``Standard_D8s_v5``. 0 if there is none."""
    variants: frozenset[Variant] = field(default_factory=frozenset)
    offers_spot: bool = True
    """Whether the cloud sells its spare capacity."""
    pod_addresses: int = 0
    """On AWS: the number of pods for which its first network card has addresses."""
    fabric: int = 0
    """On AWS: the maximum number of Elastic Fabric Adapters."""

    @property
    def shape(self) -> tuple[int, int, int, str]:
        """Properties that must be equal within a node group, because the autoscaler assumes them for all its nodes."""
        return self.vcpus, self.memory_mib, self.gpus, self.architecture

    @property
    def shape_name(self) -> str:
        """Shape for names of nodes and node groups, such as ``16cpu-64gib`` or ``48cpu-192gib-4gpu``.

        The architecture is left out: a pool has only one.
        """
        whole, rest = divmod(self.memory_mib, 1024)
        memory = f"{self.memory_mib}mib" if rest else f"{whole}gib"
        return f"{self.vcpus}cpu-{memory}" + (f"-{self.gpus}gpu" if self.gpus else "")

    @property
    def gpu_label(self) -> str:
        """GPU model as the value of a label, which has no spaces."""
        return self.gpu_model.replace(" ", "-")

    @property
    def family(self) -> str:
        """Name without its size: ``m6i`` of ``m6i.2xlarge``, ``Standard_Ds_v5`` of ``Standard_D8s_v5``."""
        if "." in self.name:
            return self.name.partition(".")[0]
        return self.name.replace(str(self.vcpus), "", 1)


class _InstanceTypes(Mapping[str, InstanceType]):
    """All types by name. The files are read at the first look-up; each type is created at its first look-up."""

    def __init__(self) -> None:
        self._made = dict[str, InstanceType]()

    @override
    def __getitem__(self, name: str) -> InstanceType:
        if name not in self._made:
            self._made[name] = _made(*self._rows[name])
        return self._made[name]

    @override
    def __contains__(self, name: object) -> bool:
        return name in self._rows

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    @override
    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def _rows(self) -> dict[str, tuple[Provider, list[str]]]:
        return {row[0]: (Provider(file.stem), row) for file in sorted(FACTS.glob("*.csv")) for row in _rows_of(file)}


def _rows_of(file: Path) -> Iterator[list[str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(line for line in lines if not line.startswith("#"))
        next(rows)  # the columns' names, for readers
        yield from rows


def _made(provider: Provider, row: Sequence[str]) -> InstanceType:
    name, vcpus, memory, architecture, gpus, maker, model, gpu_memory, nvme, generation, variants, *rest = row
    spot, addresses, fabric = rest
    return InstanceType(
        name,
        provider,
        int(vcpus),
        int(memory),
        architecture,
        int(gpus),
        model,
        int(nvme),
        gpu_maker=maker,
        gpu_memory_mib=int(gpu_memory),
        generation=int(generation),
        variants=frozenset(map(Variant, variants.split())),
        offers_spot=spot == "1",
        pod_addresses=int(addresses),
        fabric=int(fabric),
    )


INSTANCE_TYPES: Final[Mapping[str, InstanceType]] = _InstanceTypes()
"""Every type that a node group can have, by its provider's name for it."""
