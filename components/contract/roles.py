"""Roles of node pools."""

from enum import StrEnum
from typing import Final


class PoolRole(StrEnum):
    """Purpose of a pool (Iguazio best practices, node groups)."""

    INITIAL = "initial"
    """The platform's core services: static and on-demand."""

    WORKLOAD = "workload"
    """MLRun jobs, Nuclio functions and application services."""

    JUPYTER = "jupyter"
    """Interactive notebooks; its own pool in development."""

    GPU = "gpu"
    """Work that requests a GPU, and nothing else."""

    DATA = "data"
    """V3IO data nodes: their NVMe disks lose all data when an instance stops."""

    @property
    def holds_user_work(self) -> bool:
        """Whether users' pods may run there."""
        return self in (PoolRole.WORKLOAD, PoolRole.JUPYTER, PoolRole.GPU)

    @property
    def has_zonal_volumes(self) -> bool:
        """Whether its pods usually have a disk that exists in a single zone."""
        return self in (PoolRole.JUPYTER, PoolRole.DATA)

    @property
    def takes_plain_jobs(self) -> bool:
        """Whether jobs, functions and services without special needs run there."""
        return self is PoolRole.WORKLOAD

    @property
    def takes_notebooks(self) -> bool:
        """Whether notebooks may run there if jobs have separate nodes."""
        return self in (PoolRole.JUPYTER, PoolRole.GPU)

    @property
    def needs_a_device(self) -> bool:
        """Whether only pods that request a device run there."""
        return self is PoolRole.GPU

    @property
    def separate_work(self) -> str | None:
        """Work that should have this role's nodes to itself in development; None if there is none."""
        return {PoolRole.JUPYTER: "notebooks", PoolRole.WORKLOAD: "jobs and functions"}.get(self)

    @property
    def is_static(self) -> bool:
        """Whether the size never changes by itself."""
        return self in (PoolRole.INITIAL, PoolRole.DATA)


JOB_ROLES: Final = " or ".join(role for role in PoolRole if role.takes_plain_jobs)
"""Roles of the pools for plain jobs, in words."""

USER_ROLES: Final = tuple(role for role in PoolRole if role.holds_user_work)
"""Roles of the pools that user work may choose."""

GPU_ROLES: Final = tuple(role for role in PoolRole if role.needs_a_device)
"""Roles of the pools whose nodes have GPUs."""
