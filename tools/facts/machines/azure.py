"""Figures of Azure: the SKU list in the cluster autoscaler's Go module, and what only Azure's pages say.

The module is the one that ``toolchain/cluster-autoscaler`` pins, so these are the figures that the autoscaler itself
plans with: vCPUs, memory and number of GPUs. GPUs and local NVMe disks are kept by hand in ``azure.yaml``: no package
carries them. They were read on ``READ_ON`` in the source of the pages that it names (repository
MicrosoftDocs/azure-compute-docs, pages dated 2024 to 2026). All else is read from a size's name, as Azure builds it:
https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions.

Sizes with premium storage (``s``) are taken, because nodes here have such disks. Not taken: constrained vCPUs,
promotions, confidential machines, which do not support these nodes' encryption at host (*assumed*), FPGAs, sizes
with a GPU that ``azure.yaml`` does not have, such as retired ones and those whose driver AKS does not install, and
sizes of the M series with a number before their version. The list ends in mid-2025: it lacks newer series.

To move to newer figures raise the toolchain's pin, read the pages again and set ``READ_ON``.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import yaml
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from components.contract.instances import Variant
from tools.facts.machines import GIB, MEMORY_MIN_MIB, VCPUS_MIN, Figures, Row, SourceError, run
from workbench.system.paths import PROJECT_ROOT

AUTOSCALER_MODULE: Final = "k8s.io/autoscaler/cluster-autoscaler"
AUTOSCALER_FILE: Final = "cloudprovider/azure/azure_instance_types.go"
TOOLCHAIN: Final = PROJECT_ROOT / "toolchain" / "cluster-autoscaler"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class AzureSeries:
    """Common sizes of one Azure series, and facts that only its documentation has.

    Parameters
    ----------
    pattern
        Name of a size, with ``{}`` for its vCPUs.
    vcpus
        The sizes.
    gpus
        Number of GPUs where the SKU list is wrong. Default: the list's.
    gpu_model, gpu_maker, gpu_memory_gib
        Model, its maker, and memory of one GPU, 0 if only a part of it is the machine's. No model without a GPU.
    is_fraction
        Whether the machine has a part of a GPU.
    disk_bytes, vcpus_per_disk
        One local NVMe disk of this size comes with that many vCPUs. The SCSI temp disk does not count.
    """

    pattern: str
    vcpus: tuple[int, ...]
    gpus: int | None = None
    gpu_model: str = ""
    gpu_maker: str = "nvidia"
    gpu_memory_gib: int = 0
    is_fraction: bool = False
    disk_bytes: int = 0
    vcpus_per_disk: int = 1


SERIES: Final = {
    series.pattern.format(vcpus): series
    for series in TypeAdapter(tuple[AzureSeries, ...]).validate_python(
        yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    )
    for vcpus in series.vcpus
}
"""What is kept by hand, by size."""

COMMON: Final = tuple(SERIES)

_NONE: Final = AzureSeries("", ())
_SKU: Final = re.compile(
    r'InstanceType:\s*"(?P<name>[^"]+)",'
    r'\s*SkuFamily:\s*"[^"]*",'
    r"\s*VCPU:\s*(?P<vcpus>\d+),"
    r"\s*MemoryMb:\s*(?P<memory>\d+),"
    r"\s*GPU:\s*(?P<gpus>\d+),"
)
_NAME: Final = re.compile(
    r"Standard_(?P<family>[A-Z]+?)(?P<premium>S?)\d+(?P<features>[a-z]*)(?:_[A-Z]\w*?)?(?:_v(?P<generation>\d+))?"
)
_CPU_FAMILIES: Final = ("B", "D", "E", "F", "FX", "HB", "HC", "HX", "L", "M")
_BY_FAMILY: Final = {
    "B": Variant.BURSTABLE,
    "FX": Variant.FREQUENCY,
    **dict.fromkeys(("HB", "HC", "HX"), Variant.HPC),
}
_BY_FEATURE: Final = {"b": Variant.STORAGE, "d": Variant.DISK, "i": Variant.ISOLATED}
_NO_SPOT: Final = ("B",)
"""https://learn.microsoft.com/azure/virtual-machines/spot-vms#limitations."""


class Sku(NamedTuple):
    """What the autoscaler knows of an Azure size."""

    vcpus: int
    memory_mib: int
    gpus: int


def read(at_hand: Path | None) -> Figures:
    """Return the figures of the sizes that AKS accepts.

    Parameters
    ----------
    at_hand
        Folder of the autoscaler's Go module; None: the module that the toolchain pins, as Go finds it.

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
    return Figures(
        {AUTOSCALER_MODULE: version}, {name: azure_row(name, sku) for name, sku in skus.items() if fits(name, sku)}
    )


def read_autoscaler(source: str) -> dict[str, Sku]:
    """Return every Azure size by name, from the text of the autoscaler's generated Go file."""
    return {
        match["name"]: Sku(int(match["vcpus"]), int(match["memory"]), int(match["gpus"]))
        for match in _SKU.finditer(source)
    }


def fits(name: str, sku: Sku) -> bool:
    """Return whether AKS accepts a size."""
    match = _NAME.fullmatch(name)
    is_premium = bool(match and (match["premium"] or "s" in match["features"]))
    is_known = name in SERIES or bool(match and match["family"] in _CPU_FAMILIES and not sku.gpus)
    is_large_enough = sku.vcpus >= VCPUS_MIN and sku.memory_mib >= MEMORY_MIN_MIB
    return is_premium and is_known and is_large_enough and not name.endswith("_Promo")


def azure_row(name: str, sku: Sku) -> Row:
    """Return the figures of one size: those of the SKU list, those kept by hand, and those in the name."""
    series, match = SERIES.get(name, _NONE), _NAME.fullmatch(name)
    if bool(sku.gpus) != bool(series.gpu_model):
        raise SourceError(f"{name}: the source counts {sku.gpus} GPUs, azure.yaml says '{series.gpu_model}'")
    if match is None:
        raise SourceError(f"{name}: the name does not follow Azure's convention")
    has_disks = bool(series.disk_bytes)
    return Row(
        name=name,
        vcpus=sku.vcpus,
        memory_mib=sku.memory_mib,
        architecture="arm64" if "p" in match["features"] else "amd64",
        gpus=series.gpus or sku.gpus,
        gpu_maker=series.gpu_maker if series.gpu_model else "",
        gpu_model=series.gpu_model,
        gpu_memory_mib=series.gpu_memory_gib * 1024,
        local_nvme_gib=sku.vcpus // series.vcpus_per_disk * series.disk_bytes // GIB,
        generation=int(match["generation"] or 1),
        variants=" ".join(sorted({*_variants(match, series), *([Variant.DISK] if has_disks else [])})),
        offers_spot=int(match["family"] not in _NO_SPOT),
    )


def _variants(match: Mapping[str, str] | re.Match[str], series: AzureSeries) -> Iterator[Variant]:
    yield from (variant for letter, variant in _BY_FEATURE.items() if letter in match["features"])
    if match["family"] in _BY_FAMILY:
        yield _BY_FAMILY[match["family"]]
    if series.is_fraction:
        yield Variant.FRACTION


def find_autoscaler() -> tuple[str, Path]:
    """Return version and folder of the Go module that the toolchain pins."""
    hint = f"Run `go mod download {AUTOSCALER_MODULE}` in toolchain/cluster-autoscaler."
    answer = run(["go", "list", "-m", "-f", "{{.Version}}\t{{.Dir}}", AUTOSCALER_MODULE], TOOLCHAIN, hint)
    version, _, folder = answer.strip().partition("\t")
    if not folder:
        raise SourceError(f"{AUTOSCALER_MODULE} {version} is not in the module cache", hint)
    return version, Path(folder)
