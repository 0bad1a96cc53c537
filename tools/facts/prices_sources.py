"""Reads the sources of ``tools/facts/prices.py``: Go modules that carry prices as data. Nothing of them is run."""

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from tools.facts.machines import SourceError


class Source(NamedTuple):
    """A pinned Go module with prices."""

    name: str
    """Name for ``--source``."""
    module: str
    version: str
    date: str
    """When the module's authors read the prices, as the file says, else the day of the commit."""
    about: str

    @property
    def text(self) -> str:
        """The source as the data names it."""
        return f"{self.about}, {self.module} {self.version}"


KARPENTER_AWS: Final = Source(
    "karpenter-aws",
    "github.com/aws/karpenter-provider-aws",
    "v1.15.1",
    "2026-07-20",
    "AWS Price List API",
)
"""``pkg/providers/pricing/zz_generated.pricing_aws.go``: on demand, Linux, shared tenancy, us-east-1 only."""

KARPENTER_AZURE: Final = Source(
    "karpenter-azure",
    "github.com/Azure/karpenter-provider-azure",
    "v1.14.2",
    "2026-06-18",
    "Azure Retail Prices API",
)
"""``pkg/providers/pricing/zz_generated.pricing.go``: all regions of Azure's public cloud."""

VANTAGE: Final = Source(
    "vantage",
    "github.com/cristim/ec2-instances-info",
    "v0.0.0-20250528091325-32acf84f42eb",
    "2025-05-28",
    "ec2instances.info",
)
"""``data/instances.json`` and ``data/azure-instances.json``: all regions, on demand and spot."""

_FILES: Final = {
    KARPENTER_AWS: "pkg/providers/pricing/zz_generated.pricing_aws.go",
    KARPENTER_AZURE: "pkg/providers/pricing/zz_generated.pricing.go",
}
_VANTAGE_FILES: Final = {"aws": "data/instances.json", "azure": "data/azure-instances.json"}

# A map of types for each region; the file of Azure fills it in init().
_REGION: Final = re.compile(
    r'"(?P<region>[a-z0-9-]+)"(?::|\] = map\[string\]float64) ?\{(?P<body>.*?)\n\t\}', re.DOTALL
)
_PRICE: Final = re.compile(r'"(?P<name>[^"]+)":\s*(?P<usd>[0-9.]+)')
_READ: Final = re.compile(r"^// generated at (\d{4}-\d\d-\d\d)T", re.MULTILINE)


class Offer(NamedTuple):
    """What the older source says of a type in a region."""

    on_demand: float
    """USD per hour."""
    spot_share: float | None
    """Spot as a share of ``on_demand``."""


def karpenter(source: Source, at_hand: Path | None) -> dict[str, dict[str, float]]:
    """Return USD per hour by region and type from a file that Karpenter's provider generates.

    Raises
    ------
    SourceError
        The file is missing, has another layout, or is of another day than the source's date.
    """
    text = _content(source, at_hand, _FILES[source]).decode()
    read = _READ.search(text)
    if not read or read[1] != source.date:
        raise SourceError(f"{_FILES[source]} is of {read[1] if read else 'an unknown day'}, expected {source.date}")
    regions = {
        each["region"]: {price["name"]: float(price["usd"]) for price in _PRICE.finditer(each["body"])}
        for each in _REGION.finditer(text)
    }
    if not regions:
        raise SourceError(f"{_FILES[source]} of {source.module} has another layout than expected")
    return regions


def vantage(at_hand: Path | None, provider: str) -> dict[str, dict[str, Offer]]:
    """Return the offers by type and region; the parameters are those of ``karpenter``."""
    listed = json.loads(_content(VANTAGE, at_hand, _VANTAGE_FILES[provider]))
    return {
        each["instance_type"]: {
            region: offer for region, prices in each["pricing"].items() if (offer := _offer(prices.get("linux", {})))
        }
        for each in listed
    }


def _offer(linux: dict[str, Any]) -> Offer | None:
    on_demand = float(linux.get("ondemand") or 0)
    if on_demand <= 0:
        return None
    if "pct_savings_od" in linux:
        return Offer(on_demand, 1 - linux["pct_savings_od"] / 100)
    spot = float(linux.get("spot_min") or 0)
    return Offer(on_demand, spot / on_demand if spot > 0 else None)


def _content(source: Source, at_hand: Path | None, path: str) -> bytes:
    """Return a file of a module, from its folder or zip file."""
    place = at_hand or _download(source)
    try:
        if place.is_dir():
            return (place / path).read_bytes()
        with zipfile.ZipFile(place) as archive:
            return archive.read(f"{source.module}@{source.version}/{path}")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise SourceError(f"{source.module} {source.version} at {place} has no {path}: {error}") from error


def _download(source: Source) -> Path:
    """Return the zip file of a module in Go's cache."""
    hint = f"Give its folder or zip file: --source {source.name}=PATH."
    command = ["go", "mod", "download", "-json", f"{source.module}@{source.version}"]
    with TemporaryDirectory() as folder:
        try:
            # Fails after the download if the module needs a newer Go; only its files are needed.
            done = subprocess.run(
                command,
                cwd=folder,
                env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"},
                capture_output=True,
                text=True,
                check=False,
            )
        except FileNotFoundError as error:
            raise SourceError("`go` is not installed", hint) from error
    answer = json.loads(done.stdout or "{}")
    if not answer.get("Zip"):
        raise SourceError(f"`{' '.join(command)}` failed: {answer.get('Error') or done.stderr.strip()}", hint)
    return Path(answer["Zip"])
