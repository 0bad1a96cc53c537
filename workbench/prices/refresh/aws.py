"""Reads prices of EC2 instances: on demand from the AWS Price List API, spot from EC2's price history.

The role needs ``pricing:GetProducts`` and ``ec2:DescribeSpotPriceHistory``.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from statistics import fmean
from typing import Any, Final

import boto3
from botocore import exceptions as boto
from botocore.config import Config

from workbench.prices.price_file import RegionPrices, Table
from workbench.system.aws_sign_in import EXPIRED, NO_CREDENTIALS
from workbench.system.errors import UserError

PRICE_LIST_REGION: Final = "us-east-1"
"""Region of the endpoint; it lists the prices of all regions:
https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-price-list-query-api.html."""

PRODUCTS: Final[Mapping[str, str]] = {
    "operatingSystem": "Linux",
    "preInstalledSw": "NA",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
    "productFamily": "Compute Instance",
}
"""Attributes of plain Linux instances, as Karpenter filters them: aws/karpenter-provider-aws,
``pkg/providers/pricing/pricing.go``, v1.15.1."""

SPOT_PRODUCTS: Final = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
"""Descriptions of Linux in the price history, as in the same file."""

AT_ONCE: Final = 100
"""Machine types per request for spot prices."""

LOG_IN: Final = "Log in with a role of the account, then run the command again."
_RETRIES: Final = Config(retries={"mode": "standard", "max_attempts": 8}, connect_timeout=10, read_timeout=60)

Clients = Callable[[str, str], Any]
"""Returns the client of a service in a region."""


def _clients(service: str, region: str) -> Any:
    return boto3.Session(region_name=region).client(service, config=_RETRIES)


def read(
    region: str, types: Collection[str], today: date, tell: Callable[[str], None], clients: Clients = _clients
) -> RegionPrices:
    """Return the prices in a region.

    Parameters
    ----------
    region
        AWS's name for it.
    types
        Wanted instance types; those that the region does not offer are left out.
    today
        The day that the prices are dated with.
    tell
        Receives progress messages.
    clients
        Returns the clients. Default: those of the user's credentials.

    Raises
    ------
    UserError
        AWS refuses or does not answer; the message has both problems if on-demand and spot prices cannot be read.
    """
    problems = list[UserError]()
    on_demand, spot = dict[str, float](), dict[str, float]()
    try:
        on_demand = _on_demand(clients, region, types, tell)
    except UserError as error:
        problems.append(error)
    try:
        spot = _spot(clients, region, sorted(on_demand or types), tell)
    except UserError as error:
        problems.append(error)
    if problems:
        messages = dict.fromkeys(problem.message for problem in problems)
        raise UserError("\n".join(messages), problems[0].hint)
    if not on_demand:
        raise UserError(f"The AWS Price List API has no instances in {region}.", "Check the stack's region.")
    return RegionPrices(
        on_demand=Table(date=today, source="AWS Price List API", usd_per_hour=on_demand),
        spot=Table(date=today, source="EC2 spot price history, mean of the zones", usd_per_hour=spot) if spot else None,
    )


def _on_demand(clients: Clients, region: str, types: Collection[str], tell: Callable[[str], None]) -> dict[str, float]:
    attributes = {**PRODUCTS, "regionCode": region}
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in attributes.items()]
    found = dict[str, float]()
    with _Asking("pricing:GetProducts"):
        pages = clients("pricing", PRICE_LIST_REGION).get_paginator("get_products")
        for number, page in enumerate(pages.paginate(ServiceCode="AmazonEC2", Filters=filters), start=1):
            found |= {name: usd for name, usd in _products(page["PriceList"]) if name in types}
            tell(f"{region}: on-demand prices, page {number}: {len(found)} of {len(types)} machine types")
    return found


def _products(listed: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Return type and USD per hour of every product of a page."""
    for text in listed:
        product = json.loads(text)
        for term in product.get("terms", {}).get("OnDemand", {}).values():
            for dimension in term["priceDimensions"].values():
                usd = float(dimension["pricePerUnit"].get("USD", 0))
                if usd > 0 and dimension.get("unit") == "Hrs":
                    yield product["product"]["attributes"]["instanceType"], usd


def _spot(clients: Clients, region: str, types: list[str], tell: Callable[[str], None]) -> dict[str, float]:
    """Return the current spot price by type, the mean of its zones."""
    newest = dict[tuple[str, str], tuple[datetime, float]]()
    with _Asking("ec2:DescribeSpotPriceHistory"):
        pages = clients("ec2", region).get_paginator("describe_spot_price_history")
        now = datetime.now(UTC)  # returns the prices that apply now
        for start in range(0, len(types), AT_ONCE):
            names = types[start : start + AT_ONCE]
            asked = {"InstanceTypes": names, "ProductDescriptions": list(SPOT_PRODUCTS), "StartTime": now}
            for page in pages.paginate(**asked):
                for row in page["SpotPriceHistory"]:
                    key = row["InstanceType"], row["AvailabilityZone"]
                    price = row["Timestamp"], float(row["SpotPrice"])
                    newest[key] = max(price, newest.get(key, price))
            tell(f"{region}: spot prices, {min(start + AT_ONCE, len(types))} of {len(types)} machine types")
    by_type = defaultdict[str, list[float]](list)
    for (name, _), (_, usd) in newest.items():
        by_type[name].append(usd)
    return {name: round(fmean(each), 6) for name, each in by_type.items() if fmean(each) > 0}


class _Asking:
    """Converts AWS's errors into ``UserError``."""

    def __init__(self, action: str) -> None:
        self._action = action

    def __enter__(self) -> None:
        """Begin the request."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Convert the error."""
        match error:
            case boto.ClientError():
                raise self._refused(error) from None
            case boto.BotoCoreError() if isinstance(error, NO_CREDENTIALS):
                raise UserError(f"No AWS credentials found: {error}", LOG_IN) from None
            case boto.BotoCoreError():
                message = f"AWS did not answer {self._action}: {error}"
                raise UserError(message, "Check the network, then run the command again.") from None
            case KeyError() | ValueError() | TypeError():
                raise UserError(f"AWS answered {self._action} in an unknown form: {error!r}") from None
            case _:
                return

    def _refused(self, error: Any) -> UserError:
        code = str(error.response["Error"].get("Code"))
        if code in EXPIRED:
            return UserError(f"Your AWS credentials have expired or are invalid ({code}).", LOG_IN)
        message = error.response["Error"].get("Message") or code
        needed = "The role needs pricing:GetProducts and ec2:DescribeSpotPriceHistory."
        return UserError(f"AWS refused {self._action}: {message}", needed)
