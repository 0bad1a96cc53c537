"""Generates ``workbench/prices/data/*.json``, dated prices of the common machine types.

Run ``python -m tools.facts.prices --check`` to compare the checked-in files with their sources, ``--write`` to replace
them. Only figures are taken: USD per hour on demand, and spot as a share of it. ``tools/facts/prices_sources.py`` reads
the sources; ``prices.yaml`` lists the wanted regions.

The sources were read at different times, so each is checked with another one:

AWS
    us-east-1 is the newer source's. The other regions are those of 2025-05; a type whose price in us-east-1 changed
    since then has none there, because its price changed in all regions (p4d, p4de and p5 became cheaper in June 2025).
    Spot is the average saving that AWS's Spot Instance Advisor stated for the type in the region.
Azure
    The file lists prices of Windows for some types. The licence costs 0.046 USD per vCPU and hour, so a price that is
    higher than the other source's by just that is reduced by it. A price that the other source contradicts is left out.
    Types that it does not list (GPUs A100 and A10) are as listed: of the 237 prices of N-series that both list in these
    regions, 3 are of Windows. Spot is the price that the other source states, as a share of its price on demand.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from components.contract.instances import INSTANCE_TYPES, Provider
from tools.facts.instances import PROVIDERS
from tools.facts.machines import SourceError
from tools.facts.prices_sources import KARPENTER_AWS, KARPENTER_AZURE, VANTAGE, Offer, Source, karpenter, vantage
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

TARGET: Final = PROJECT_ROOT / "workbench" / "prices" / "data"
WANTED: Final = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))

WINDOWS_PER_VCPU: Final = 0.046
"""USD per vCPU and hour of a Windows licence on Azure; the difference of both prices of every size of these series."""

_SAME: Final = 0.002
"""Prices that differ by less are equal: Azure's are rounded to three decimals."""

Region = dict[str, Any]


def aws(newer: Mapping[str, Mapping[str, float]], older: Mapping[str, Mapping[str, Offer]]) -> dict[str, Region]:
    """Return the prices of AWS by region.

    Parameters
    ----------
    newer
        Prices in us-east-1, by region and type.
    older
        Offers by type and region.
    """
    home = "us-east-1"
    types = _types(Provider.AWS)
    settled = {
        name
        for name in types
        if (old := older.get(name, {}).get(home)) and abs(old.on_demand - newer[home][name]) < _SAME
    }
    found = {}
    for region in WANTED["aws"]:
        offers = {name: offer for name in types if (offer := older.get(name, {}).get(region))}
        if region == home:
            table = _table(KARPENTER_AWS, {name: newer[home][name] for name in types if name in newer[home]})
        else:
            table = _table(VANTAGE, {name: offer.on_demand for name, offer in offers.items() if name in settled})
        spot = {name: offer.spot_share for name, offer in offers.items() if offer.spot_share}
        found[region] = {"onDemand": table, "spot": _shares(spot)}
    return found


def azure(newer: Mapping[str, Mapping[str, float]], older: Mapping[str, Mapping[str, Offer]]) -> dict[str, Region]:
    """Return the prices of Azure by region; the parameters are those of ``aws``, ``older`` with its own names."""
    found = {}
    for region, alias in WANTED["azure"].items():
        prices, spot = {}, {}
        for name in _types(Provider.AZURE):
            listed = newer[region].get(name)
            offers = older.get(name.removeprefix("Standard_").replace("_", "").lower())
            if listed and offers is None:
                prices[name] = listed
            offer = (offers or {}).get(alias)
            if not listed or not offer:
                continue
            if linux := linux_price(listed, offer.on_demand, INSTANCE_TYPES[name].vcpus):
                prices[name] = linux
                if offer.spot_share and offer.spot_share < 1:  # it repeats the price on demand if there is no spot
                    spot[name] = offer.spot_share
        found[region] = {"onDemand": _table(KARPENTER_AZURE, prices), "spot": _shares(spot)}
    return found


def linux_price(listed: float, confirmed: float, vcpus: int) -> float | None:
    """Return a price without the licence of Windows; None if the other source does not confirm it."""
    return next(
        (price for price in (listed, round(listed - vcpus * WINDOWS_PER_VCPU, 6)) if abs(price - confirmed) < _SAME),
        None,
    )


def _types(provider: Provider) -> list[str]:
    return [name for name in PROVIDERS[provider].COMMON if name in INSTANCE_TYPES]


def _table(source: Source, prices: Mapping[str, float]) -> dict[str, Any]:
    return {"date": source.date, "source": source.text, "usdPerHour": _sorted(prices)}


def _shares(shares: Mapping[str, float]) -> dict[str, Any]:
    return {"date": VANTAGE.date, "source": VANTAGE.text, "shareOfOnDemand": _sorted(shares)}


def _sorted(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(figure, 6) for name, figure in sorted(figures.items())}


def generate(at_hand: Mapping[str, Path]) -> dict[str, str]:
    """Return the texts of the files by name.

    Parameters
    ----------
    at_hand
        Sources at hand by name, each a module's folder or zip file; the others are downloaded.
    """
    offers = {name: vantage(at_hand.get(VANTAGE.name), name) for name in ("aws", "azure")}
    found = {
        "aws": aws(karpenter(KARPENTER_AWS, at_hand.get(KARPENTER_AWS.name)), offers["aws"]),
        "azure": azure(karpenter(KARPENTER_AZURE, at_hand.get(KARPENTER_AZURE.name)), offers["azure"]),
    }
    empty = [
        f"{provider} {name}"
        for provider, regions in found.items()
        for name, region in regions.items()
        if not region["onDemand"]["usdPerHour"]
    ]
    if empty:
        raise SourceError(
            f"No prices in {', '.join(empty)}.", "Correct the names of regions in tools/facts/prices.yaml."
        )
    return {
        f"{provider}.json": json.dumps({"format": 1, "providers": {provider: regions}}, indent=1) + "\n"
        for provider, regions in found.items()
    }


def main(arguments: Sequence[str] | None = None, target: Path = TARGET) -> int:
    """Check or write the files and return the exit code: 0 fine, 1 outdated, 2 a source fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.facts.prices", description="Prices of machine types.")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="compare the checked-in files with the sources")
    mode.add_argument("--write", action="store_true", help="replace the checked-in files")
    names = ", ".join(each.name for each in (KARPENTER_AWS, KARPENTER_AZURE, VANTAGE))
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help=f"a source at hand ({names}): the module's folder or zip file; default: downloaded with `go mod download`",
    )
    options = parser.parse_args(arguments)
    try:
        texts = generate({name: Path(path) for name, _, path in (each.partition("=") for each in options.source)})
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    outdated = [name for name, text in texts.items() if _content(target / name) != text]
    if options.write:
        for name in outdated:
            (target / name).write_text(texts[name], encoding="utf-8")
        return 0
    for name in outdated:
        sys.stderr.write(f"{name} differs from its sources; run with --write and look at the difference.\n")
    return 1 if outdated else 0


def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
