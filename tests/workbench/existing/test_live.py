"""What is read of a live cluster that the control plane of the tests cannot show."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.existing.live import LiveCluster, read
from workbench.system.errors import UserError

SERVICE = {"kind": "Service", "spec": {"clusterIPs": ["10.96.0.1", "fd00::1"], "ports": [{"port": 443}]}}
ENDPOINTS = {
    "kind": "EndpointSlice",
    "endpoints": [{"addresses": ["192.0.2.10"]}, {"addresses": ["192.0.2.11"]}],
    "ports": [{"name": "https", "port": 6443}],
}
EMPTY = {"items": [], "resources": [], "minor": "36"}


@dataclass(frozen=True)
class Fake:
    """An API server that answers questions about itself, and everything else with nothing."""

    itself: Mapping[str, Any] | None

    def run(self, *arguments: str) -> str:
        if "service/kubernetes" not in arguments:
            return json.dumps(EMPTY)
        if self.itself is None:
            raise UserError("forbidden")
        return json.dumps(self.itself)


def seen(itself: Mapping[str, Any] | None) -> LiveCluster:
    return read(Fake(itself), None)  # type: ignore[arg-type] all of an Api that is used here


def test_the_api_server_is_its_service_and_the_endpoints_behind_it() -> None:
    live = seen({"items": [SERVICE, ENDPOINTS]})
    assert live.api_server == ("10.96.0.1/32", "fd00::1/128", "192.0.2.10/32", "192.0.2.11/32")
    assert live.api_ports == (443, 6443)


def test_an_api_server_on_loopback_has_no_endpoints() -> None:
    live = seen({"items": [SERVICE]})
    assert (live.api_server, live.api_ports) == (("10.96.0.1/32", "fd00::1/128"), (443,))


def test_a_role_that_may_not_read_it_stops_nothing() -> None:
    live = seen(None)
    assert (live.api_server, live.api_ports) == ((), (443, 6443))
