from typing import Any

import pytest

from emulators.azure.server.validation import problems, settable

POOL = ("azure.mgmt.containerservice", "AgentPool")
SUBNET = ("azure.mgmt.network", "Subnet")


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"properties": {"count": 3, "spotMaxPrice": -1, "nodeLabels": {"a": "b"}, "nodeTaints": []}}, []),
        ({"properties": {"count": None}}, []),
        ({"propertys": {}}, ["propertys: AgentPool has no such member"]),
        ({"properties": {"count": "3"}}, ["properties.count must be a whole number, given '3'"]),
        ({"properties": {"count": True}}, ["properties.count must be a whole number, given True"]),
        ({"properties": {"spotMaxPrice": "-1"}}, ["properties.spotMaxPrice must be a number, given '-1'"]),
        ({"properties": {"mode": "system"}}, ["properties.mode must be one of System, User, Gateway, given 'system'"]),
        ({"properties": {"nodeLabels": {"a": 1}}}, ["properties.nodeLabels['a'] must be text, given 1"]),
        ({"properties": {"nodeLabels": []}}, ["properties.nodeLabels must be a map, given []"]),
        ({"properties": {"nodeTaints": [1]}}, ["properties.nodeTaints[0] must be text, given 1"]),
        ({"properties": {"upgradeSettings": "1"}}, ["properties.upgradeSettings must be an object, given '1'"]),
        ({"properties": []}, ["properties must be an object, given []"]),
    ],
    ids=str,
)
def test_names_kinds_and_enumerations_are_judged(given: dict[str, Any], wrong: list[str]) -> None:
    found = problems(given, *POOL)
    assert [text.replace(", ManagedSystem, Machines", "") for text in found] == wrong


def test_bytes_are_text_on_the_wire() -> None:
    kind = ("azure.mgmt.containerservice", "ManagedCluster")
    for certificates, wrong in ((["LS0t"], 0), ([1], 1)):
        given = {"properties": {"securityProfile": {"customCATrustCertificates": certificates}}}
        assert len(problems(given, *kind)) == wrong


def test_everything_that_is_wrong_is_told_at_once() -> None:
    given = {"properties": {"count": "3", "maxPods": "4", "vmsize": "x"}}
    assert len(problems(given, *POOL)) == 3


def test_what_only_azure_sets_is_dropped_unjudged() -> None:
    given = {"name": "a", "properties": {"addressPrefix": "10.0.0.0/24", "provisioningState": 3}}
    assert problems(given, *SUBNET) == []
    assert settable(given, *SUBNET) == {"name": "a", "properties": {"addressPrefix": "10.0.0.0/24"}}
