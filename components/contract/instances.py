"""Machine types and their resources. The figures are dated facts in ``instance_facts``."""

from dataclasses import dataclass
from typing import Final

from components.contract.environments import Provider
from components.contract.instance_facts import FACTS

ARM64: Final = "arm64"
"""Architecture of ARM machines, as in the label ``kubernetes.io/arch``; all others here are ``amd64``."""


__all__ = ["ARM64", "INSTANCE_TYPES", "InstanceType", "Provider"]


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
    gpu_model: str = ""
    """GPU model such as ``A10G``; empty without a GPU."""
    local_nvme_gib: int = 0
    """NVMe instance storage in GiB, in total; lost when the machine stops. 0 if there is none."""

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


INSTANCE_TYPES: dict[str, InstanceType] = {
    row[0]: InstanceType(row[0], Provider(provider), *row[1:]) for provider, rows in FACTS.items() for row in rows
}
"""Every known type, by its provider's name for it."""
