"""Machines that a stack file describes itself, because they are not a cloud's machine types."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from components.contract.choices import ContractModel, Explained
from components.contract.instances import InstanceType, Provider
from components.contract.pool_names import LabelValue


class Machine(ContractModel):
    """A machine described by its resources instead of a cloud's machine type."""

    vcpus: int = Field(
        ge=1, le=1024, strict=True, description="Number of CPU cores, as Kubernetes counts them.", examples=[32]
    )
    memory_gib: int = Field(ge=1, le=65536, strict=True, description="Memory in GiB.", examples=[128])
    architecture: Annotated[Literal["amd64", "arm64"], Explained("Most images are built for it.")] = Field(
        "amd64", description="Architecture, as in the label kubernetes.io/arch.", examples=["arm64"]
    )
    gpus: Annotated[int, Explained("Most machines have none.")] = Field(
        0, ge=0, le=64, strict=True, description="Whole GPUs.", examples=[4]
    )
    gpu_model: Annotated[LabelValue, Explained("For information only, except if GPUs are divided (MIG).")] = Field(
        "", description="GPU model.", examples=["A100"]
    )
    gpu_memory_gib: Annotated[int, Explained("Only the division of GPUs (MIG) depends on it.")] = Field(
        0, ge=0, le=1024, strict=True, description="Memory of one GPU in GiB, required for sharing.mode mig.",
        examples=[80],
    )  # fmt: skip
    local_nvme_gib: Annotated[int, Explained("Only data nodes need local disks.")] = Field(
        0, ge=0, strict=True, description="Total local NVMe storage in GiB.", examples=[7680]
    )

    @property
    def instance(self) -> InstanceType:
        """The machine as a machine type, named by its shape."""
        facts = InstanceType(
            "",
            Provider.OWN,
            self.vcpus,
            self.memory_gib * 1024,
            self.architecture,
            self.gpus,
            self.gpu_model,
            self.local_nvme_gib,
            gpu_memory_mib=self.gpu_memory_gib * 1024,
        )
        return replace(facts, name=facts.shape_name)
