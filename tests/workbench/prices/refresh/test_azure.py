import json
import threading
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from typing_extensions import override

from workbench.prices.price_file import RegionPrices
from workbench.prices.refresh import azure
from workbench.prices.refresh.azure import Api
from workbench.system.errors import UserError

DAY = date(2026, 11, 23)
D8, D16 = "Standard_D8s_v5", "Standard_D16s_v5"


def item(size: str, usd: float, **more: Any) -> dict[str, Any]:
    name = size.removeprefix("Standard_").replace("_", " ")
    return {
        "armSkuName": size,
        "productName": "Virtual Machines Dsv5 Series",
        "skuName": name,
        "retailPrice": usd,
        "unitOfMeasure": "1 Hour",
        "currencyCode": "USD",
        "type": "Consumption",
        **more,
    }


class Service:
    """Azure's API on loopback: answers in turn, each a status, headers and a body; records what was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.asked: list[str] = []
        self.paused: list[float] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                service.asked.append(self.path)
                status, headers, body = service.answers.pop(0)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            @override
            def log_message(self, format: str, *args: Any) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/prices"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    def page(self, *items: dict[str, Any], following: str | None = None) -> None:
        body = json.dumps({"Items": items, "NextPageLink": following, "Count": len(items)}).encode()
        self.answers.append((200, {}, body))

    def fails(self, status: int, **headers: str) -> None:
        self.answers.append((status, headers, b"{}"))

    def read(self) -> RegionPrices:
        return azure.read("westeurope", {D8, D16}, DAY, lambda _: None, Api(self.url, self.paused.append))


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    found = Service()
    found.thread.start()
    yield found
    found.server.shutdown()
    found.thread.join()
    found.server.server_close()


def test_all_pages_are_read_and_only_the_region_is_asked_for(service: Service) -> None:
    service.page(item(D8, 0.46), item("Standard_X1", 9), following=f"{service.url}?$skip=1000")
    service.page(item(D16, 0.92), item(D8, 0.0629, skuName="D8s v5 Spot"))
    said = list[str]()
    found = azure.read("westeurope", {D8, D16}, DAY, said.append, Api(service.url, service.paused.append))
    assert found.on_demand.usd_per_hour == {D8: 0.46, D16: 0.92}
    assert found.spot
    assert found.spot.usd_per_hour == {D8: 0.0629}
    assert (found.on_demand.date, found.on_demand.source) == (DAY, "Azure Retail Prices API")
    query = parse_qs(urlsplit(service.asked[0]).query)
    assert query["$filter"] == [
        "serviceName eq 'Virtual Machines' and armRegionName eq 'westeurope' and priceType eq 'Consumption'"
    ]
    assert query["currencyCode"] == ["USD"]
    assert service.asked[1] == "/prices?$skip=1000"
    assert said == ["westeurope: page 1: 1 of 2 machine types", "westeurope: page 2: 2 of 2 machine types"]
    assert service.paused == []


@pytest.mark.parametrize(
    "other",
    [
        {"productName": "Virtual Machines Dsv5 Series Windows"},
        {"productName": "Dsv5 Series Cloud Services"},
        {"skuName": "D8s v5 Low Priority"},
        {"type": "Reservation"},
        {"unitOfMeasure": "1 Month"},
        {"currencyCode": "EUR"},
        {"retailPrice": 0},
        {"armSkuName": None},
    ],
    ids=str,
)
def test_what_is_not_an_hour_of_a_linux_machine_is_no_price(service: Service, other: dict[str, Any]) -> None:
    service.page(item(D8, 0.46), item(D8, 0.1, **other), item(D8, 0.1, **other))
    assert service.read().on_demand.usd_per_hour == {D8: 0.46}


def test_of_several_products_with_the_same_machine_the_cheapest_counts(service: Service) -> None:
    service.page(item(D8, 0.5, productName="Virtual Machines Dsv5 Series with support"), item(D8, 0.46), item(D8, 0.48))
    assert service.read().on_demand.usd_per_hour == {D8: 0.46}


def test_a_busy_service_is_asked_again_after_the_time_that_it_names(service: Service) -> None:
    service.fails(429, **{"Retry-After": "7"})
    service.fails(503)
    service.page(item(D8, 0.46))
    assert service.read().on_demand.usd_per_hour == {D8: 0.46}
    assert service.paused == [7, 2]


def test_a_service_that_stays_busy_is_given_up(service: Service) -> None:
    for _ in range(azure.ATTEMPTS):
        service.fails(500)
    with pytest.raises(UserError) as refused:
        service.read()
    assert refused.value.message == (
        "The Azure Retail Prices API did not answer in 6 attempts: HTTP 500 Internal Server Error."
    )
    assert service.paused == [1, 2, 4, 8, 16]


def test_a_refusal_is_not_repeated(service: Service) -> None:
    service.fails(400)
    with pytest.raises(UserError, match="refused: HTTP 400 Bad Request"):
        service.read()
    assert len(service.asked) == 1


def test_no_network_is_a_clear_error(service: Service) -> None:
    closed = Service()
    closed.server.server_close()
    with pytest.raises(UserError, match="did not answer in 6 attempts: ") as refused:
        azure.read("westeurope", {D8}, DAY, lambda _: None, Api(closed.url, service.paused.append))
    assert "refused" in refused.value.message
    assert refused.value.hint == "Check the network and the proxy, then run the command again."


@pytest.mark.parametrize("link", ["http://example.com/prices", "file:///etc/passwd", "http://127.0.0.1:x/prices"])
def test_a_link_to_another_host_is_not_followed(service: Service, link: str) -> None:
    service.page(item(D8, 0.46), following=link)
    with pytest.raises(UserError, match="links to a page of another host"):
        service.read()
    assert len(service.asked) == 1


def test_links_that_name_the_default_port_are_of_the_same_host() -> None:
    assert azure._host("https://prices.azure.com:443/api") == azure._host(azure.URL)


def test_an_answer_in_an_unknown_form_is_no_traceback(service: Service) -> None:
    service.answers.append((200, {}, b"<html>"))
    with pytest.raises(UserError, match="answered in an unknown form"):
        service.read()


def test_a_region_without_machines_is_refused(service: Service) -> None:
    service.page()
    with pytest.raises(UserError, match="has no machines in westeurope"):
        service.read()
