"""Figures of AWS: answers of EC2's DescribeInstanceTypes, which the package moto ships as data.

A wheel of the version below is read as an archive; nothing of it is installed or run. To move to newer figures raise
``MOTO_VERSION``. p3 is not wanted any more: in the data of moto 5.2.5 no region offers it.
"""

import gzip
import json
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final

import yaml
from pydantic import TypeAdapter

from tools.facts.machines import GB, GIB, Figures, Row, SourceError, run

MOTO_VERSION: Final = "5.2.5"
MOTO_MEMBER: Final = "moto/ec2/resources/instance_types.json.gz"

WANTED: Final = TypeAdapter(dict[str, tuple[int, ...]]).validate_python(
    yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
)


def wanted() -> list[str]:
    """Return the wanted types, series by series, small to large."""
    return [f"{series}.{size if size > 1 else ''}xlarge" for series, sizes in WANTED.items() for size in sizes]


def read(at_hand: Path | None) -> Figures:
    """Return the figures of the wanted types.

    Parameters
    ----------
    at_hand
        A wheel of moto; None downloads the pinned version.
    """
    with TemporaryDirectory() as folder:
        version, types = read_moto(at_hand or _download_moto(Path(folder)))
    return Figures({"moto": version}, {name: aws_row(name, types[name]) for name in wanted() if name in types})


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
        raise SourceError("The wheel of moto does not tell its version")
    return version[1], types


def aws_row(name: str, facts: Mapping[str, Any]) -> Row:
    """Return the figures of one type from EC2's description of it."""
    gpus = facts.get("GpuInfo", {}).get("Gpus", [])
    storage = facts.get("InstanceStorageInfo", {})
    nvme_gb = storage.get("TotalSizeInGB", 0) if storage.get("NvmeSupport") == "required" else 0
    architectures = facts["ProcessorInfo"]["SupportedArchitectures"]
    return Row(
        name=name,
        vcpus=facts["VCpuInfo"]["DefaultVCpus"],
        memory_mib=facts["MemoryInfo"]["SizeInMiB"],
        architecture="arm64" if "arm64" in architectures else "amd64",
        gpus=sum(gpu["Count"] for gpu in gpus),
        gpu_model="/".join(sorted({gpu["Name"] for gpu in gpus})),
        local_nvme_gib=nvme_gb * GB // GIB,
    )


def _download_moto(folder: Path) -> Path:
    """Download the wheel of the pinned version into a folder and return its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    run(
        [*command, "--dest", str(folder), f"moto=={MOTO_VERSION}"],
        folder,
        "Give a wheel with --source aws=PATH instead.",
    )
    return next(folder.glob("moto-*.whl"))
