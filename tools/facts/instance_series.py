"""The machine types that are wanted, from ``instances.yaml``, for ``instances.py``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class AzureSeries:
    """Wanted sizes of one Azure series, and what only its documentation tells.

    Parameters
    ----------
    pattern
        Name of a size, with ``{}`` for its vCPUs.
    vcpus
        The wanted sizes.
    gpu_model
        Empty without a GPU.
    disk_bytes, vcpus_per_disk
        One local NVMe disk of this size comes with that many vCPUs. The SCSI temp disk does not count.
    """

    pattern: str
    vcpus: tuple[int, ...]
    gpu_model: str = ""
    disk_bytes: int = 0
    vcpus_per_disk: int = 1


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Wanted:
    """The file of wanted types.

    Parameters
    ----------
    aws
        Wanted sizes per series, as multiples of ``xlarge``.
    azure
        The wanted series.
    """

    aws: Mapping[str, tuple[int, ...]]
    azure: tuple[AzureSeries, ...]


WANTED: Final = TypeAdapter(Wanted).validate_python(
    yaml.safe_load(Path(__file__).with_name("instances.yaml").read_text(encoding="utf-8"))
)
