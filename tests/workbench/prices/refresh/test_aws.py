import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError, NoCredentialsError
from botocore.stub import ANY, Stubber

from workbench.prices.refresh import aws
from workbench.system.errors import UserError

DAY = date(2026, 11, 23)
REGION = "eu-west-1"
ATTRIBUTES = {**aws.PRODUCTS, "regionCode": REGION}
FILTERS = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in ATTRIBUTES.items()]
CREDENTIALS = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
ACTIONS = ("pricing:GetProducts", "ec2:DescribeSpotPriceHistory")
NO_ROUTE = 'Could not connect to the endpoint URL: "https://x"'


def product(name: str, usd: str, unit: str = "Hrs") -> str:
    dimension = {"unit": unit, "pricePerUnit": {"USD": usd}}
    terms = {"OnDemand": {"X.Y": {"priceDimensions": {"X.Y.Z": dimension}}}}
    return json.dumps({"product": {"attributes": {"instanceType": name}}, "terms": terms})


def spot(name: str, zone: str, usd: str, hour: int = 1) -> dict[str, Any]:
    at = datetime(2026, 11, 22, hour, tzinfo=UTC)
    return {"InstanceType": name, "AvailabilityZone": REGION + zone, "SpotPrice": usd, "Timestamp": at}


class Account:
    """Clients of AWS with prepared answers; each question must be the expected one."""

    def __init__(self) -> None:
        self._clients = {
            name: boto3.client(name, region_name=region, **CREDENTIALS)
            for name, region in (("pricing", aws.PRICE_LIST_REGION), ("ec2", REGION))
        }
        self.pricing, self.ec2 = (Stubber(self._clients[name]) for name in ("pricing", "ec2"))

    def client(self, service: str, region: str) -> Any:
        assert region == (aws.PRICE_LIST_REGION if service == "pricing" else REGION)
        return self._clients[service]

    @contextmanager
    def answering(self) -> Iterator[None]:
        with self.pricing, self.ec2:
            yield
            self.pricing.assert_no_pending_responses()
            self.ec2.assert_no_pending_responses()

    def lists(self, *pages: list[str]) -> None:
        for number, page in enumerate(pages):
            asked: dict[str, Any] = {"ServiceCode": "AmazonEC2", "Filters": FILTERS}
            asked |= {"NextToken": str(number)} if number else {}
            more = {"NextToken": str(number + 1)} if number + 1 < len(pages) else {}
            self.pricing.add_response("get_products", {"PriceList": page, **more}, asked)

    def history(self, types: list[str], *rows: dict[str, Any]) -> None:
        asked = {"InstanceTypes": types, "ProductDescriptions": list(aws.SPOT_PRODUCTS), "StartTime": ANY}
        self.ec2.add_response("describe_spot_price_history", {"SpotPriceHistory": list(rows)}, asked)


@pytest.fixture
def account() -> Account:
    return Account()


def test_prices_of_all_pages_are_read_for_wanted_types_only(account: Account) -> None:
    account.lists([product("m6i.xlarge", "0.2140000000")], [product("x9.huge", "9"), product("g5.xlarge", "1.1230")])
    account.history(["g5.xlarge", "m6i.xlarge"])
    said = list[str]()
    with account.answering():
        found = aws.read(REGION, {"m6i.xlarge", "g5.xlarge", "p4d.24xlarge"}, DAY, said.append, account.client)
    assert found.on_demand.usd_per_hour == {"m6i.xlarge": 0.214, "g5.xlarge": 1.123}
    assert (found.on_demand.date, found.on_demand.source) == (DAY, "AWS Price List API")
    assert found.spot is None
    assert said == [
        "eu-west-1: on-demand prices, page 1: 1 of 3 machine types",
        "eu-west-1: on-demand prices, page 2: 2 of 3 machine types",
        "eu-west-1: spot prices, 2 of 2 machine types",
    ]


def test_free_and_other_units_are_no_price_of_an_hour(account: Account) -> None:
    account.lists([product("m6i.xlarge", "0.214"), product("m6i.xlarge", "0"), product("m6i.xlarge", "99", "Quantity")])
    account.history(["m6i.xlarge"])
    with account.answering():
        found = aws.read(REGION, {"m6i.xlarge"}, DAY, lambda _: None, account.client)
    assert found.on_demand.usd_per_hour == {"m6i.xlarge": 0.214}


def test_a_spot_price_is_the_mean_of_the_newest_prices_of_the_zones(account: Account) -> None:
    account.lists([product("m6i.xlarge", "0.214")])
    rows = [spot("m6i.xlarge", "a", "0.10"), spot("m6i.xlarge", "b", "0.20"), spot("m6i.xlarge", "b", "0.05", hour=0)]
    account.history(["m6i.xlarge"], *rows)
    with account.answering():
        found = aws.read(REGION, {"m6i.xlarge"}, DAY, lambda _: None, account.client)
    assert found.spot
    assert found.spot.usd_per_hour == {"m6i.xlarge": 0.15}


def test_spot_prices_of_many_types_are_asked_for_in_parts(account: Account) -> None:
    names = [f"m{number:03d}.xlarge" for number in range(aws.AT_ONCE + 1)]
    account.lists([product(name, "1") for name in names])
    account.history(names[: aws.AT_ONCE], spot(names[0], "a", "0.1"))
    account.history(names[aws.AT_ONCE :], spot(names[-1], "a", "0.2"))
    with account.answering():
        found = aws.read(REGION, set(names), DAY, lambda _: None, account.client)
    assert found.spot
    assert found.spot.usd_per_hour == {names[0]: 0.1, names[-1]: 0.2}


def refused(ask: Callable[[], Any]) -> UserError:
    with pytest.raises(UserError) as caught:
        ask()
    return caught.value


def test_both_refusals_are_named_at_once_with_the_permissions(account: Account) -> None:
    account.pricing.add_client_error("get_products", "AccessDeniedException", "not authorized to GetProducts", 400)
    account.ec2.add_client_error("describe_spot_price_history", "UnauthorizedOperation", "not authorized", 403)
    with account.answering():
        error = refused(lambda: aws.read(REGION, {"m6i.xlarge"}, DAY, lambda _: None, account.client))
    assert error.message.splitlines() == [
        "AWS refused pricing:GetProducts: not authorized to GetProducts",
        "AWS refused ec2:DescribeSpotPriceHistory: not authorized",
    ]
    assert error.hint == "The role needs pricing:GetProducts and ec2:DescribeSpotPriceHistory."


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (NoCredentialsError(), "No AWS credentials found: Unable to locate credentials", aws.LOG_IN),
        (
            EndpointConnectionError(endpoint_url="https://x"),
            "\n".join(f"AWS did not answer {action}: {NO_ROUTE}" for action in ACTIONS),
            "Check the network, then run the command again.",
        ),
    ],
    ids=["no-credentials", "no-network"],
)
def test_an_account_that_cannot_be_asked_is_a_clear_error(error: Exception, message: str, hint: str) -> None:
    def clients(*_: str) -> Any:
        raise error

    found = refused(lambda: aws.read(REGION, {"m6i.xlarge"}, DAY, lambda _: None, clients))
    assert (found.message, found.hint) == (message, hint)


def test_expired_credentials_are_named_once(account: Account) -> None:
    account.pricing.add_client_error("get_products", "ExpiredTokenException", "expired", 400)
    account.ec2.add_client_error("describe_spot_price_history", "ExpiredTokenException", "expired", 400)
    with account.answering():
        error = refused(lambda: aws.read(REGION, {"m6i.xlarge"}, DAY, lambda _: None, account.client))
    assert error.message == "Your AWS credentials have expired or are invalid (ExpiredTokenException)."


def test_an_answer_in_an_unknown_form_is_no_traceback(account: Account) -> None:
    account.lists(["{}", "no JSON"])
    account.history(["m6i.xlarge"])
    with account.answering():
        error = refused(lambda: aws.read(REGION, {"m6i.xlarge"}, DAY, lambda _: None, account.client))
    assert error.message.startswith("AWS answered pricing:GetProducts in an unknown form: JSONDecodeError")


def test_a_region_without_instances_is_refused(account: Account) -> None:
    account.lists([])
    account.history(["m6i.xlarge"])
    with account.answering():
        error = refused(lambda: aws.read(REGION, {"m6i.xlarge"}, DAY, lambda _: None, account.client))
    assert error.message == "The AWS Price List API has no instances in eu-west-1."
