"""Files of prices: the shipped ones in ``data/``, and the account's own, ``prices.json`` next to the stack files."""

import json
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from components.contract.environments import Provider
from workbench.system.errors import UserError
from workbench.system.files import write_private

OWN_FILE: Final = "prices.json"
"""Name of the account's own file, in the folder of the stack files; ``prices refresh`` writes it."""

SHIPPED: Final = Path(__file__).with_name("data")

READABLE: Final = 0o644
"""Mode of the account's own file: it belongs in the repository and holds nothing secret."""

_SIZE_MAX: Final = 20_000_000
"""Maximum size of a file in bytes. All types of AWS in all its regions take about 6 million."""

_PROBLEMS_SHOWN: Final = 10

Usd = Annotated[float, Field(gt=0, lt=100_000, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=2, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)


class Table(_Part):
    """Figures that were read together.

    Parameters
    ----------
    date
        The day on which they were read.
    source
        Where they come from.
    usd_per_hour
        Price by machine type.
    share_of_on_demand
        Price by machine type as a share of the one on demand, such as 0.4; only for spot.
    """

    date: date
    source: Annotated[str, Field(min_length=1, max_length=300)]
    usd_per_hour: dict[str, Usd] = {}
    share_of_on_demand: dict[str, Share] = {}


class RegionPrices(_Part):
    """Prices in one region: Linux, shared tenancy, without discounts."""

    on_demand: Table
    spot: Table | None = None


class PriceFile(_Part):
    """The content of a file: tables by provider and region."""

    format: Literal[1] = 1
    providers: dict[Literal[Provider.AWS, Provider.AZURE], dict[str, RegionPrices]]

    def regions(self, provider: Provider) -> dict[str, RegionPrices]:
        """Return the prices of a provider by region; empty if the file has none."""
        return next((regions for name, regions in self.providers.items() if name is provider), {})


def read(file: Path) -> PriceFile:
    """Return the content of a file.

    Raises
    ------
    UserError
        The file cannot be read or is invalid; the message lists at most ten problems.
    """
    if file.exists() and not file.is_file():  # opening a pipe would wait
        raise UserError(f"{file}: cannot be read: not a regular file.", _RENEW)
    try:
        with file.open("rb") as opened:
            content = opened.read(_SIZE_MAX + 1)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}.") from None
    if len(content) > _SIZE_MAX:
        raise UserError(f"{file}: is larger than {_SIZE_MAX:,} bytes.", _RENEW)
    try:
        return PriceFile.model_validate_json(content)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, each['loc'])) or 'file'}: {each['msg']}" for each in error.errors()]
        rest = [f"and {len(found) - _PROBLEMS_SHOWN} more"] if len(found) > _PROBLEMS_SHOWN else []
        raise UserError("\n".join([f"{file} is invalid:", *found[:_PROBLEMS_SHOWN], *rest]), _RENEW) from None


_RENEW: Final = "Delete the file, or correct it; `igz-clusters prices refresh STACK` writes a new one."


@cache
def shipped() -> tuple[PriceFile, ...]:
    """Return the shipped files."""
    return tuple(read(file) for file in sorted(SHIPPED.glob("*.json")))


def write(file: Path, content: PriceFile) -> bool:
    """Write a file atomically, sorted, and return whether that changed it."""
    shape = content.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text = json.dumps({"format": content.format, **shape}, indent=1, sort_keys=True) + "\n"
    try:
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            return False
        write_private(file, text)
        file.chmod(READABLE)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}.") from None
    return True
