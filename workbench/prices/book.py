"""Looks up prices: the shipped ones and the account's own."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final

from components.contract.aks.config import AksConfig
from components.contract.eks.config import EksConfig
from components.contract.environments import Provider
from components.contract.lifecycle import Lifecycle
from infra.config import StackConfig
from workbench.prices import price_file
from workbench.prices.price_file import OWN_FILE, PriceFile, RegionPrices, Table

STAND_INS: Final[Mapping[Provider, str]] = {Provider.AWS: "us-east-1", Provider.AZURE: "eastus"}
"""Regions whose prices apply to clusters without a region: local and existing ones."""

ASSUMED_SPOT_SHARES: Final[Mapping[Provider, float]] = {Provider.AWS: 0.4, Provider.AZURE: 0.2}
"""Spot as a share of on-demand for types without a known one. Assumed: the medians of the shipped shares of 2025-05 are
0.24 to 0.45 per region on AWS, and 0.13 to 0.19 on Azure."""

MAX_AGE_DAYS: Final = 180
"""Age in days from which prices are called old. Assumed: a list price of a type rarely changes within half a year."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one node.

    Parameters
    ----------
    usd_per_hour
        List price in USD per hour: Linux, shared tenancy, without discounts.
    date
        The day on which it was read; the older one if it rests on two figures.
    source
        Where it comes from.
    region
        The region that it applies to.
    is_assumed
        Whether the region stands in for an unknown one, or the spot share is the general one.
    """

    usd_per_hour: float
    date: date
    source: str
    region: str
    is_assumed: bool = False


def region_of(config: StackConfig) -> str | None:
    """Return the cloud's region of a stack; None for local and existing clusters."""
    match config.cluster:
        case EksConfig(region=region):
            return region
        case AksConfig(location=location):
            return location
        case _:
            return None


class PriceBook:
    """Prices by provider, region, machine type and lifecycle.

    Parameters
    ----------
    files
        Contents, the most preferred last. A table applies to the types that it lists if none before it is newer.
    """

    def __init__(self, files: Iterable[PriceFile]) -> None:
        self._files = tuple(files)

    @classmethod
    def load(cls, folder: Path | None = None) -> "PriceBook":
        """Return the shipped prices, together with the account's own.

        Parameters
        ----------
        folder
            Folder of the stack files, with or without a ``prices.json``. Default: shipped prices only.

        Raises
        ------
        UserError
            The account's own file is invalid.
        """
        own = folder / OWN_FILE if folder else None
        return cls([*price_file.shipped(), *([price_file.read(own)] if own and os.path.lexists(own) else [])])

    def of(self, provider: Provider, region: str | None, machine_type: str, lifecycle: Lifecycle) -> Price | None:
        """Return the price of a machine type; None if it is unknown, as for the user's own machines and reserved ones.

        Reserved capacity costs the same with and without nodes, or was paid for upfront.

        Parameters
        ----------
        provider
            Who sells the type.
        region
            The cloud's region. None applies the prices of the provider's region in ``STAND_INS``; they are assumed.
        machine_type
            The provider's name for it.
        lifecycle
            On demand, spot or reserved.
        """
        place = region or STAND_INS.get(provider)
        if place is None or lifecycle is Lifecycle.RESERVED:
            return None
        on_demand = self._listed(provider, place, machine_type, Lifecycle.ON_DEMAND)
        found = on_demand if lifecycle is Lifecycle.ON_DEMAND else self._spot(provider, place, machine_type, on_demand)
        return replace(found, is_assumed=True) if found and region is None else found

    def regions(self, provider: Provider) -> list[str]:
        """Return the regions with prices of a provider."""
        return sorted({name for file in self._files for name in file.regions(provider)})

    def _spot(self, provider: Provider, region: str, machine_type: str, on_demand: Price | None) -> Price | None:
        listed = self._listed(provider, region, machine_type, Lifecycle.SPOT)
        table = self._table(provider, region, Lifecycle.SPOT, lambda table: machine_type in table.share_of_on_demand)
        if listed and (table is None or listed.date >= table.date):
            return listed
        if on_demand is None:
            return listed
        if table is None:
            share = ASSUMED_SPOT_SHARES[provider]
            usd = round(on_demand.usd_per_hour * share, 6)
            return replace(on_demand, usd_per_hour=usd, source=f"{share:.0%} of on-demand, assumed", is_assumed=True)
        share = table.share_of_on_demand[machine_type]
        source = f"typical share of on-demand: {table.source}"
        usd = round(on_demand.usd_per_hour * share, 6)
        return Price(usd, min(on_demand.date, table.date), source, region)

    def _listed(self, provider: Provider, region: str, machine_type: str, lifecycle: Lifecycle) -> Price | None:
        table = self._table(provider, region, lifecycle, lambda table: machine_type in table.usd_per_hour)
        return Price(table.usd_per_hour[machine_type], table.date, table.source, region) if table else None

    def _table(
        self, provider: Provider, region: str, lifecycle: Lifecycle, has: Callable[[Table], bool]
    ) -> Table | None:
        """Return the newest table with a type; of equally new ones the most preferred."""
        regions = (file.regions(provider).get(region) for file in self._files)
        tables = (_table_of(each, lifecycle) for each in regions if each)
        found: Table | None = None
        for table in tables:
            if table and has(table) and (found is None or table.date >= found.date):
                found = table
        return found


def _table_of(prices: RegionPrices, lifecycle: Lifecycle) -> Table | None:
    return prices.on_demand if lifecycle is Lifecycle.ON_DEMAND else prices.spot
