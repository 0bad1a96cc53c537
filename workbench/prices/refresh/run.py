"""Reads the prices of a stack's region and writes them next to the stack files."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from components.contract.aks.config import AksConfig
from components.contract.clusters import ClusterChoices
from components.contract.eks.config import EksConfig
from components.contract.environments import Provider
from components.contract.instances import INSTANCE_TYPES
from workbench.prices import price_file
from workbench.prices.book import STAND_INS
from workbench.prices.price_file import OWN_FILE, PriceFile, RegionPrices
from workbench.prices.refresh import azure
from workbench.stacks import Stack
from workbench.system.errors import UserError

Tell = Callable[[str], None]
"""Receives progress messages."""


@dataclass(frozen=True)
class Refreshed:
    """What was read and written.

    Parameters
    ----------
    file
        The account's own file.
    region
        The region whose prices were read.
    on_demand, spot
        Number of machine types with a price.
    is_changed
        Whether the file is different from before.
    """

    file: Path
    region: str
    on_demand: int
    spot: int
    is_changed: bool


def refresh(stack: Stack, folder: Path, today: date, tell: Tell = lambda _: None) -> Refreshed:
    """Read the prices of all known machine types in a stack's region and write them to the account's own file.

    Prices of other regions stay in the file. A second run on the same day changes nothing if the prices are the same.

    Parameters
    ----------
    stack
        The stack.
    folder
        Folder of the stack files.
    today
        The day that the prices are dated with.
    tell
        Receives progress messages. Default: none.

    Raises
    ------
    UserError
        The cluster has no region, the cloud refuses or does not answer, or the account's own file is invalid. The file
        is then unchanged.
    """
    file = folder / OWN_FILE
    kept = price_file.read(file) if file.is_file() else PriceFile(providers={})
    provider, region, found = _read(stack.config.cluster, stack.name, today, tell)
    regions = {**kept.regions(provider), region: found}
    others = {name: each for name, each in kept.providers.items() if name is not provider}
    content = PriceFile.model_validate({"providers": {**others, provider: regions}})
    spot = len(found.spot.usd_per_hour) if found.spot else 0
    return Refreshed(file, region, len(found.on_demand.usd_per_hour), spot, price_file.write(file, content))


def _read(cluster: ClusterChoices, name: str, today: date, tell: Tell) -> tuple[Provider, str, RegionPrices]:
    match cluster:
        case EksConfig(region=region):
            from workbench.prices.refresh import aws  # noqa: PLC0415 - boto3 is slow to import

            return Provider.AWS, region, aws.read(region, types_of(Provider.AWS), today, tell)
        case AksConfig(location=location):
            return Provider.AZURE, location, azure.read(location, types_of(Provider.AZURE), today, tell)
        case _:
            raise UserError(
                f"'{name}' is a stack on {cluster.kind}: it has no region, so it has no prices of its own.",
                f"Its pools are priced as in {' and '.join(STAND_INS.values())}. Refresh a stack on eks or aks.",
            )


def types_of(provider: Provider) -> frozenset[str]:
    """Return the known machine types of a provider."""
    return frozenset(name for name, machine in INSTANCE_TYPES.items() if machine.provider is provider)
