"""Figures of AWS: answers of EC2's DescribeInstanceTypes, which the package moto ships as data.

A wheel of the version below is read as an archive; nothing of it is installed or run. To move to newer figures raise
``MOTO_VERSION``.

A managed node group takes virtual machines of the Nitro system, and of i3, which came before it. Not taken, although
EC2 has them: bare metal, Mac, machines whose accelerators (FPGA, video, Qualcomm) no common device plug-in offers,
UltraServers, which are sold as a whole, and p3dn, which no region of the data offers.
"""

import gzip
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final

import yaml
from pydantic import TypeAdapter

from components.contract.instances import Variant
from tools.facts.machines import GB, GIB, MEMORY_MIN_MIB, VCPUS_MIN, Figures, Row, SourceError, run

MOTO_VERSION: Final = "5.2.5"
MOTO_MEMBER: Final = "moto/ec2/resources/instance_types.json.gz"

COMMON: Final = tuple(
    f"{series}.{size if size > 1 else ''}xlarge"
    for series, sizes in TypeAdapter(dict[str, tuple[int, ...]])
    .validate_python(yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")))
    .items()
    for size in sizes
)

_OLDER_THAN_NITRO: Final = ("i3",)
_NOT_TAKEN: Final = ("dl2q", "f2", "p3dn", "trn2u", "vt1")
_FAMILY: Final = re.compile(
    r"(?P<letters>[a-z]+?)(?:-\d+tb)?(?P<generation>\d+)(?P<features>[a-z]*)(?:-(?P<suffix>\w+))?"
)
_BY_FEATURE: Final = {"b": Variant.STORAGE, "n": Variant.NETWORK, "z": Variant.FREQUENCY}
"""https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html."""


def read(at_hand: Path | None) -> Figures:
    """Return the figures of the types that node groups accept.

    Parameters
    ----------
    at_hand
        A wheel of moto; None downloads the pinned version.
    """
    with TemporaryDirectory() as folder:
        version, types = read_moto(at_hand or _download_moto(Path(folder)))
    return Figures(
        {"moto": version}, {name: aws_row(name, facts) for name, facts in types.items() if fits(name, facts)}
    )


def read_moto(wheel: Path | IO[bytes]) -> tuple[str, dict[str, Any]]:
    """Return the version of a moto wheel, and EC2's description of every instance type by name.

    Raises
    ------
    SourceError
        The file is not a wheel of moto, or keeps its data elsewhere.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            types: dict[str, Any] = json.loads(gzip.decompress(archive.read(MOTO_MEMBER)))
            metadata = [name for name in archive.namelist() if re.fullmatch(r"moto-[^/]+\.dist-info/METADATA", name)]
            version = re.search(r"^Version: (\S+)$", archive.read(metadata[0]).decode(), re.MULTILINE)
    except (zipfile.BadZipFile, KeyError, IndexError, OSError, ValueError) as error:
        raise SourceError(f"Not a wheel of moto with {MOTO_MEMBER}: {error}") from error
    if version is None:
        raise SourceError("The wheel of moto does not name its version")
    return version[1], types


def fits(name: str, facts: Mapping[str, Any]) -> bool:
    """Return whether a node group accepts a type, by EC2's description of it."""
    family = name.partition(".")[0]
    is_nitro = facts.get("Hypervisor") == "nitro" or family in _OLDER_THAN_NITRO
    is_large_enough = (
        facts["VCpuInfo"]["DefaultVCpus"] >= VCPUS_MIN and facts["MemoryInfo"]["SizeInMiB"] >= MEMORY_MIN_MIB
    )
    return is_nitro and is_large_enough and not facts.get("BareMetal") and family not in _NOT_TAKEN


def aws_row(name: str, facts: Mapping[str, Any]) -> Row:
    """Return the figures of one type from EC2's description of it."""
    storage = facts.get("InstanceStorageInfo", {})
    nvme_gb = storage.get("TotalSizeInGB", 0) if storage.get("NvmeSupport") == "required" else 0
    return Row(
        name=name,
        vcpus=facts["VCpuInfo"]["DefaultVCpus"],
        memory_mib=facts["MemoryInfo"]["SizeInMiB"],
        architecture="arm64" if "arm64" in facts["ProcessorInfo"]["SupportedArchitectures"] else "amd64",
        **_accelerators(facts),
        local_nvme_gib=nvme_gb * GB // GIB,
        generation=int(_family(name)["generation"]),
        variants=" ".join(sorted(_variants(name, facts))),
        offers_spot=int("spot" in facts["SupportedUsageClasses"]),
        pod_addresses=_pod_addresses(facts["NetworkInfo"]),
        fabric=facts["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
    )


def _family(name: str) -> re.Match[str]:
    if not (match := _FAMILY.fullmatch(name.partition(".")[0])):
        raise SourceError(f"{name}: the name does not contain the generation")
    return match


def _accelerators(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return GPUs, or Neuron devices, which Kubernetes knows as devices too.

    Of a machine with a part of a GPU EC2 counts 0 GPUs and 1 logical GPU.
    """
    gpus, neuron = facts.get("GpuInfo", {}).get("Gpus", []), facts.get("NeuronInfo", {}).get("NeuronDevices", [])
    if not (devices := gpus or neuron):
        return {}
    first, *others = devices
    if others:
        raise SourceError(f"{facts['InstanceType']}: has devices of several models")
    return {
        "gpus": first.get("LogicalGpuCount", first["Count"]),
        "gpu_maker": first.get("Manufacturer", "AWS").lower(),
        "gpu_model": first["Name"],
        "gpu_memory_mib": first["MemoryInfo"]["SizeInMiB"],
    }


def _variants(name: str, facts: Mapping[str, Any]) -> Iterator[Variant]:
    family = _family(name)
    yield from (variant for letter, variant in _BY_FEATURE.items() if letter in family["features"])
    if family["letters"] == "hpc":
        yield Variant.HPC
    if family["letters"] == "z":
        yield Variant.FREQUENCY
    if family["suffix"] == "flex":
        yield Variant.FLEX
    if facts.get("BurstablePerformanceSupported") or family["letters"] == "t":
        yield Variant.BURSTABLE
    if disks := facts.get("InstanceStorageInfo", {}).get("Disks", []):
        yield Variant.HDD if disks[0]["Type"] == "hdd" else Variant.DISK
    if any(gpu.get("GpuPartitionSize", 1) < 1 for gpu in facts.get("GpuInfo", {}).get("Gpus", [])):
        yield Variant.FRACTION


def _pod_addresses(network: Mapping[str, Any]) -> int:
    """Return for how many pods there are addresses: one of each interface's is the interface's own, two pods need none.

    Only of card 0: awslabs/amazon-eks-ami 26412050, ``nodeadm/internal/kubelet/eni-max-pods.txt``, which says the same
    of the 195 types that were compared.
    """
    card = next(each for each in network["NetworkCards"] if each["NetworkCardIndex"] == 0)
    return int(card["MaximumNetworkInterfaces"] * (network["Ipv4AddressesPerInterface"] - 1) + 2)


def _download_moto(folder: Path) -> Path:
    """Download the wheel of the pinned version into a folder and return its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    run(
        [*command, "--dest", str(folder), f"moto=={MOTO_VERSION}"],
        folder,
        "Give a wheel with --source aws=PATH instead.",
    )
    return next(folder.glob("moto-*.whl"))
