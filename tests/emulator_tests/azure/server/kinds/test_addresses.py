from typing import Any

import pytest

from support.aks_account import LOCATION, Account

STANDARD = {"location": LOCATION, "sku": {"name": "Standard"}}
STATIC = {**STANDARD, "properties": {"publicIPAllocationMethod": "Static"}}


def made(own: Account, zones: list[str] | None) -> tuple[str, dict[str, Any]]:
    """Make a public address and return its id and the zones that Azure says."""
    body = STATIC if zones is None else {**STATIC, "zones": zones}
    told = own.put(own.network("publicIPAddresses"), body)
    return str(told.body["id"]), told.body


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (["1"], ["2"], "constraint 1 and the request has availability zone constraint 2"),
        (["1", "2", "3"], None, "constraint 1, 2, 3 and the request has availability zone constraint NoZone"),
        (["1"], [], "constraint 1 and the request has availability zone constraint NoZone"),
        (None, ["1", "2", "3"], "constraint NoZone and the request has availability zone constraint 1, 2, 3"),
    ],
)
def test_zones_of_an_address_stay(own: Account, before: list[str] | None, after: list[str] | None, words: str) -> None:
    id_, _ = made(own, before)
    told = own.refused("PUT", id_, STATIC if after is None else {**STATIC, "zones": after})
    assert (told.status, told.code) == (400, "ResourceAvailabilityZonesCannotBeModified")
    assert words in told.message


def test_an_address_asked_for_in_two_zones_is_in_all_three(own: Account) -> None:
    id_, told = made(own, ["1", "2"])
    assert told["zones"] == ["1", "2", "3"]
    assert own.ask("PUT", id_, {**STATIC, "zones": ["1", "2"]}).status == 200
    assert own.get(id_)["zones"] == ["1", "2", "3"]


def test_zones_of_a_gateway_stay(own: Account) -> None:
    id_ = own.network("natGateways")
    body = {**STANDARD, "properties": {}}
    own.put(id_, {**body, "zones": ["1"]})
    assert own.refused("PUT", id_, body).code == "ResourceAvailabilityZonesCannotBeModified"


def test_a_name_needs_a_label(own: Account) -> None:
    id_, _ = made(own, None)
    named = {"publicIPAllocationMethod": "Static", "dnsSettings": {"domainNameLabel": "mlrun"}}
    own.put(id_, {**STANDARD, "properties": named})
    for settings in ({}, {"reverseFqdn": "mlrun.example.com."}, {"domainNameLabel": ""}):
        told = own.refused("PUT", id_, {**STANDARD, "properties": {**named, "dnsSettings": settings}})
        assert (told.status, "its domain name label must not be null or empty" in told.message) == (400, True)
    own.put(id_, STATIC)
    assert "dnsSettings" not in own.properties(id_)
