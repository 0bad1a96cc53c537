"""Generates ``components/contract/instance_facts.py``, the dated figures of AWS and Azure machine types.

Run ``python -m tools.facts.instances --check`` to compare the checked-in file with its sources, ``--write`` to
replace it. What comes from where:

- AWS, all columns, generated: answers of EC2's DescribeInstanceTypes, which the package moto ships as data. A wheel
  of the version below is read as an archive; nothing of it is installed or run.
- Azure, vCPUs, memory and number of GPUs, generated: the SKU list inside the cluster autoscaler's Go module, in the
  version that ``toolchain/cluster-autoscaler`` pins. So these are the figures that the autoscaler itself plans with.
- Azure, GPU model and local NVMe, kept by hand in ``instances.yaml``: no package carries them. Read on ``READ_ON`` in
  the source of the pages that it names (repository MicrosoftDocs/azure-compute-docs, pages dated 2024 to 2026).
- Azure, architecture, kept by hand: all listed series are x86-64 by those pages.

Which types are wanted is a choice, kept by hand there too: what one picks for node groups of an ML platform, on
Linux, from 4 vCPUs up, without bare metal. AWS's p3 is not wanted any more: in the data of moto 5.2.5 no region offers
it.

To move to newer sources raise ``MOTO_VERSION`` or the toolchain's pin, read the pages again and set ``READ_ON``.
"""

import argparse
import gzip
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final, NamedTuple

from tools.facts.instance_series import WANTED, AzureSeries
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

READ_ON: Final = "2026-11-21"
"""When the pinned sources and the linked pages were last read; a constant, so that a run on another day is equal."""

MOTO_VERSION: Final = "5.2.5"
MOTO_MEMBER: Final = "moto/ec2/resources/instance_types.json.gz"

AUTOSCALER_MODULE: Final = "k8s.io/autoscaler/cluster-autoscaler"
AUTOSCALER_FILE: Final = "cloudprovider/azure/azure_instance_types.go"
TOOLCHAIN: Final = PROJECT_ROOT / "toolchain" / "cluster-autoscaler"

TARGET: Final = PROJECT_ROOT / "components" / "contract" / "instance_facts.py"

GB: Final = 10**9
GIB: Final = 2**30


class SourceError(UserError):
    """A source is missing or does not hold what is expected of it."""


class Row(NamedTuple):
    """One machine type, in the order of the generated tuples."""

    name: str
    vcpus: int
    memory_mib: int
    architecture: str
    gpus: int
    gpu_model: str
    local_nvme_gib: int


# --- AWS --------------------------------------------------------------------------------------------------------------


def aws_names() -> list[str]:
    """Return the wanted AWS types, series by series, small to large."""
    return [f"{series}.{size if size > 1 else ''}xlarge" for series, sizes in WANTED.aws.items() for size in sizes]


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


# --- Azure ------------------------------------------------------------------------------------------------------------

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


def azure_names() -> list[str]:
    """Return the wanted Azure types, series by series, small to large."""
    return [series.pattern.format(vcpus) for series in WANTED.azure for vcpus in series.vcpus]


def read_autoscaler(source: str) -> dict[str, Sku]:
    """Return every Azure size by name, from the text of the autoscaler's generated Go file."""
    return {
        match["name"]: Sku(int(match["vcpus"]), int(match["memory"]), int(match["gpus"]))
        for match in _SKU.finditer(source)
    }


def azure_row(series: AzureSeries, name: str, sku: Sku) -> Row:
    """Return the figures of one size: the SKU list's, and the series' GPU model and disks."""
    if bool(sku.gpus) != bool(series.gpu_model):
        raise SourceError(f"{name}: the source counts {sku.gpus} GPUs, instances.yaml says '{series.gpu_model}'")
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


# --- The file ---------------------------------------------------------------------------------------------------------


def collect(aws: Mapping[str, Any], azure: Mapping[str, Sku]) -> dict[str, list[Row]]:
    """Return the wanted rows by provider, sorted by series, size and name.

    Raises
    ------
    SourceError
        Wanted types are in no source; the message lists all of them.
    """
    missing = [
        *(f"aws {name}" for name in aws_names() if name not in aws),
        *(f"azure {name}" for name in azure_names() if name not in azure),
    ]
    if missing:
        raise SourceError(
            f"{len(missing)} wanted machine types are missing in the sources: {', '.join(missing)}",
            "Take sources that have them, or drop them from tools/facts/instances.yaml.",
        )
    azure_rows = [
        azure_row(series, name, azure[name])
        for series in WANTED.azure
        for name in map(series.pattern.format, series.vcpus)
    ]
    return {
        "aws": _sorted(aws_row(name, aws[name]) for name in aws_names()),
        "azure": _sorted(azure_rows),
    }


def _sorted(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (_series(row.name), row.vcpus, row.name))


def _series(name: str) -> str:
    """Return the name without its size: ``m6i`` of ``m6i.xlarge``, ``Standard_Ds_v5`` of ``Standard_D8s_v5``."""
    return re.sub(r"(?<=[A-Z])\d+", "", name.partition(".")[0], count=1)


def render(rows: Mapping[str, Sequence[Row]], sources: Mapping[str, str]) -> str:
    """Return the text of the generated module, as the formatter would leave it.

    Parameters
    ----------
    rows
        By provider.
    sources
        Version by source.
    """
    lines = [
        '"""Machine types of AWS and Azure. Generated by ``tools/facts/instances.py``; do not edit by hand.',
        "",
        "That script's docstring tells which figures come from which source and which are kept by hand. It is Python,",
        "not JSON: the contract does no I/O, and these figures are part of it.",
        '"""',
        "",
        "from typing import Final",
        "",
        f'FACTS_DATE: Final = "{READ_ON}"',
        "",
        "SOURCES: Final[dict[str, str]] = {",
        *(f'    "{source}": "{version}",' for source, version in sorted(sources.items())),
        "}",
        '"""Version of every source that was read."""',
        "",
        "FACTS: Final[dict[str, tuple[tuple[str, int, int, str, int, str, int], ...]]] = {",
        "    # name, vCPUs, memory MiB, architecture, GPUs, GPU model, local NVMe GiB",
    ]
    for provider, provided in sorted(rows.items()):
        lines += [f'    "{provider}": (', *map(_line, provided), "    ),"]
    return "\n".join([*lines, "}", ""])


def _line(row: Row) -> str:
    return f"        ({', '.join(json.dumps(value) for value in row)}),"


# --- Sources and command line -----------------------------------------------------------------------------------------


def download_moto(folder: Path) -> Path:
    """Download the wheel of the pinned version into a folder and return its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    _run([*command, "--dest", str(folder), f"moto=={MOTO_VERSION}"], folder, "Give a wheel with --moto-wheel instead.")
    return next(folder.glob("moto-*.whl"))


def find_autoscaler() -> tuple[str, Path]:
    """Return version and folder of the Go module that the toolchain pins."""
    hint = f"Run `go mod download {AUTOSCALER_MODULE}` in toolchain/cluster-autoscaler."
    answer = _run(["go", "list", "-m", "-f", "{{.Version}}\t{{.Dir}}", AUTOSCALER_MODULE], TOOLCHAIN, hint)
    version, _, folder = answer.strip().partition("\t")
    if not folder:
        raise SourceError(f"{AUTOSCALER_MODULE} {version} is not in the module cache", hint)
    return version, Path(folder)


def _run(command: Sequence[str], folder: Path, hint: str) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise SourceError(f"`{command[0]}` is not installed", hint) from error
    if done.returncode:
        # pip lists every version of the package in one line
        end = "\n".join(line[:300] for line in done.stderr.strip().splitlines()[-10:])
        raise SourceError(f"`{' '.join(command)}` failed:\n{end}", hint)
    return done.stdout


def generate(moto_wheel: Path | None = None) -> str:
    """Return the module's text from the sources.

    Parameters
    ----------
    moto_wheel
        A wheel at hand; by default the pinned version is downloaded.
    """
    with TemporaryDirectory() as folder:
        moto_version, aws = read_moto(moto_wheel or download_moto(Path(folder)))
    autoscaler_version, module = find_autoscaler()
    try:
        azure = read_autoscaler((module / AUTOSCALER_FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"{AUTOSCALER_MODULE} {autoscaler_version} has no {AUTOSCALER_FILE}: {error}") from error
    sources = {
        "moto": moto_version,
        AUTOSCALER_MODULE: autoscaler_version,
        "tools/facts/instances.yaml": READ_ON,
    }
    return render(collect(aws, azure), sources)


def main(arguments: Sequence[str] | None = None, target: Path = TARGET) -> int:
    """Check or write the generated module and return the exit code: 0 fine, 1 outdated, 2 a source fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.facts.instances", description="Facts of machine types.")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="compare the checked-in file with the sources")
    mode.add_argument("--write", action="store_true", help="replace the checked-in file")
    parser.add_argument("--moto-wheel", type=Path, metavar="PATH", help=f"default: download moto {MOTO_VERSION}")
    options = parser.parse_args(arguments)
    try:
        text = generate(options.moto_wheel)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.write:
        target.write_text(text, encoding="utf-8")
        return 0
    if target.read_text(encoding="utf-8") != text:
        sys.stderr.write(f"{target.name} differs from its sources; run with --write and look at the difference.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
