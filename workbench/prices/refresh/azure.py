"""Reads prices of virtual machines from Azure's Retail Prices API, which needs no login.

The API: https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices.
"""

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from http.client import HTTPException
from typing import Annotated, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from workbench.prices.price_file import RegionPrices, Table
from workbench.system.errors import UserError

URL: Final = "https://prices.azure.com/api/retail/prices"
VERSION: Final = "2023-01-01-preview"

NOT_PLAIN: Final = (" Windows", " Cloud Services", " CloudServices")
"""Endings of the names of products that include more than a Linux machine."""

TIMEOUT: Final = 60.0
"""Seconds to wait for a page."""

ATTEMPTS: Final = 6
"""Attempts for a page."""

PAGES_MAX: Final = 500
"""Maximum pages of an answer; a region has about 20 pages of 1,000 prices."""

_PAUSE: Final = 1.0
"""Seconds before the second attempt; doubles for each further one."""

_PAUSE_MAX: Final = 60.0
_PASSING: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
_PAGE_BYTES_MAX: Final = 20_000_000

_Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A text; null in prices of other products."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


class Item(_Part):
    """A price."""

    arm_sku_name: _Text = ""
    product_name: _Text = ""
    sku_name: _Text = ""
    retail_price: float
    unit_of_measure: _Text = ""
    currency_code: _Text = ""
    type: _Text = ""

    @property
    def is_plain(self) -> bool:
        """Whether it is the price of an hour of a Linux machine, on demand or spot."""
        return (
            self.type == "Consumption"
            and self.currency_code == "USD"
            and self.unit_of_measure == "1 Hour"
            and self.retail_price > 0
            and not self.product_name.endswith(NOT_PLAIN)
            and not self.sku_name.endswith(" Low Priority")
        )


class _Page(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    items: list[Item] = Field(alias="Items")
    next_page: str | None = Field(None, alias="NextPageLink")


@dataclass(frozen=True)
class Api:
    """How the API is queried.

    Parameters
    ----------
    url
        Its address.
    sleep
        Waits between two attempts, for the given seconds.
    """

    url: str = URL
    sleep: Callable[[float], None] = time.sleep


_AZURE: Final = Api()


def read(
    region: str, types: Collection[str], today: date, tell: Callable[[str], None], api: Api = _AZURE
) -> RegionPrices:
    """Return the prices in a region.

    Parameters
    ----------
    region
        Azure's name for it, such as ``westeurope``.
    types
        Wanted sizes; those that the region does not offer are left out.
    today
        The day that the prices are dated with.
    tell
        Receives progress messages.
    api
        How the API is queried. Default: Azure's.

    Raises
    ------
    UserError
        The API does not answer, refuses, answers in an unknown form, or has no prices in the region.
    """
    on_demand, spot = dict[str, float](), dict[str, float]()
    for number, page in enumerate(_pages(region, api), start=1):
        for item in page.items:
            if item.is_plain and item.arm_sku_name in types:
                prices = spot if item.sku_name.endswith(" Spot") else on_demand
                # A size may be listed under several products; the machine alone is the cheapest.
                prices[item.arm_sku_name] = min(item.retail_price, prices.get(item.arm_sku_name, item.retail_price))
        tell(f"{region}: page {number}: {len(on_demand)} of {len(types)} machine types")
    if not on_demand:
        raise UserError(f"The Azure Retail Prices API has no machines in {region}.", "Check the stack's location.")
    source = "Azure Retail Prices API"
    return RegionPrices(
        on_demand=Table(date=today, source=source, usd_per_hour=on_demand),
        spot=Table(date=today, source=source, usd_per_hour=spot) if spot else None,
    )


def _pages(region: str, api: Api) -> Iterator[_Page]:
    wanted = f"serviceName eq 'Virtual Machines' and armRegionName eq '{region}' and priceType eq 'Consumption'"
    query = {"api-version": VERSION, "currencyCode": "USD", "$filter": wanted}
    following: str | None = f"{api.url}?{urlencode(query)}"
    for _ in range(PAGES_MAX):
        if not following:
            return
        # Do not follow a link to another host.
        if _host(following) != _host(api.url):
            raise UserError(f"The Azure Retail Prices API links to a page of another host: {following[:200]!r}.")
        try:
            page = _Page.model_validate_json(_get(following, api.sleep))
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"]))
            raise UserError(f"The Azure Retail Prices API answered in an unknown form: {where}.") from None
        yield page
        following = page.next_page
    raise UserError(f"The Azure Retail Prices API has more than {PAGES_MAX} pages for {region}.")


def _host(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of an address; Azure's links name the default port."""
    parts = urlsplit(url)
    try:
        return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else None)
    except ValueError:
        return parts.scheme, None, None


def _get(url: str, sleep: Callable[[float], None]) -> bytes:
    """Return a page; retry after temporary failures."""
    problem = ""
    for attempt in range(ATTEMPTS):
        pause = min(_PAUSE * 2**attempt, _PAUSE_MAX)
        try:
            with urlopen(Request(url, headers={"Accept": "application/json"}), timeout=TIMEOUT) as answer:  # noqa: S310 the host is checked
                content: bytes = answer.read(_PAGE_BYTES_MAX)
                return content
        except HTTPError as error:
            problem = f"HTTP {error.code} {error.reason}"
            if error.code not in _PASSING and error.code < HTTPStatus.INTERNAL_SERVER_ERROR:
                raise UserError(f"The Azure Retail Prices API refused: {problem}.") from None
            after = error.headers.get("Retry-After", "")
            pause = min(float(after), _PAUSE_MAX) if after.isdigit() else pause
        except (URLError, HTTPException, OSError) as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        if attempt + 1 < ATTEMPTS:
            sleep(pause)
    raise UserError(
        f"The Azure Retail Prices API did not answer in {ATTEMPTS} attempts: {problem}.",
        "Check the network and the proxy, then run the command again.",
    )
