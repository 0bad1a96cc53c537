"""Figures of Azure: the SKU list in the cluster autoscaler's Go module, and what only Azure's pages say.

The module is the one that ``toolchain/cluster-autoscaler`` pins, so these are the figures that the autoscaler itself
plans with: vCPUs, memory and number of GPUs. GPU models and local NVMe are kept by hand in ``azure.yaml``: no package
carries them. They were read on ``READ_ON`` in the source of the pages that it names (repository
MicrosoftDocs/azure-compute-docs, pages dated 2024 to 2026). All listed series are x86-64 by those pages.

To move to newer figures raise the toolchain's pin, read the pages again and set ``READ_ON``.
"""

import re
from pathlib import Path
from typing import Final, NamedTuple

import yaml
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from tools.facts.machines import GIB, Figures, Row, SourceError, run
from workbench.system.paths import PROJECT_ROOT

AUTOSCALER_MODULE: Final = "k8s.io/autoscaler/cluster-autoscaler"
AUTOSCALER_FILE: Final = "cloudprovider/azure/azure_instance_types.go"
TOOLCHAIN: Final = PROJECT_ROOT / "toolchain" / "cluster-autoscaler"


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


WANTED: Final = TypeAdapter(tuple[AzureSeries, ...]).validate_python(
    yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
)

_SKU: Final = re.compile(
    r'InstanceType:\s*"(?P<name>[^"]+)",'
    r'\s*SkuFamily:\s*"[^"]*",'
    r"\s*VCPU:\s*(?P<vcpus>\d+),"
    r"\s*MemoryMb:\s*(?P<memory>\d+),"
    r"\s*GPU:\s*(?P<gpus>\d+),"
)


class Sku(NamedTuple):
    """What the autoscaler knows of an Azure size."""

    vcpus: int
    memory_mib: int
    gpus: int


def wanted() -> list[str]:
    """Return the wanted types, series by series, small to large."""
    return [series.pattern.format(vcpus) for series in WANTED for vcpus in series.vcpus]


def read(at_hand: Path | None) -> Figures:
    """Return the figures of the wanted types.

    Parameters
    ----------
    at_hand
        Folder of the autoscaler's Go module; None asks Go where the module is that the toolchain pins.

    Raises
    ------
    SourceError
        The module is missing or has another layout.
    """
    version, module = ("at hand", at_hand) if at_hand else find_autoscaler()
    try:
        skus = read_autoscaler((module / AUTOSCALER_FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"{AUTOSCALER_MODULE} {version} has no {AUTOSCALER_FILE}: {error}") from error
    found = ((series, series.pattern.format(vcpus)) for series in WANTED for vcpus in series.vcpus)
    return Figures(
        {AUTOSCALER_MODULE: version},
        {name: azure_row(series, name, skus[name]) for series, name in found if name in skus},
    )


def read_autoscaler(source: str) -> dict[str, Sku]:
    """Return every Azure size by name, from the text of the autoscaler's generated Go file."""
    return {
        match["name"]: Sku(int(match["vcpus"]), int(match["memory"]), int(match["gpus"]))
        for match in _SKU.finditer(source)
    }


def azure_row(series: AzureSeries, name: str, sku: Sku) -> Row:
    """Return the figures of one size: the SKU list's, and the series' GPU model and disks."""
    if bool(sku.gpus) != bool(series.gpu_model):
        raise SourceError(f"{name}: the source counts {sku.gpus} GPUs, azure.yaml says '{series.gpu_model}'")
    disks = sku.vcpus // series.vcpus_per_disk
    return Row(
        name=name,
        vcpus=sku.vcpus,
        memory_mib=sku.memory_mib,
        architecture="amd64",
        gpus=sku.gpus,
        gpu_model=series.gpu_model,
        local_nvme_gib=disks * series.disk_bytes // GIB,
    )


def find_autoscaler() -> tuple[str, Path]:
    """Return version and folder of the Go module that the toolchain pins."""
    hint = f"Run `go mod download {AUTOSCALER_MODULE}` in toolchain/cluster-autoscaler."
    answer = run(["go", "list", "-m", "-f", "{{.Version}}\t{{.Dir}}", AUTOSCALER_MODULE], TOOLCHAIN, hint)
    version, _, folder = answer.strip().partition("\t")
    if not folder:
        raise SourceError(f"{AUTOSCALER_MODULE} {version} is not in the module cache", hint)
    return version, Path(folder)
