"""What Microsoft's description judges, and that its newer models say the same."""

from importlib import import_module
from typing import Any

import pytest

from workbench.offline.azure.facts import facts
from workbench.offline.azure.models import judge, loose, unmodelled
from workbench.offline.properties import UNKNOWN

POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
NAMED: dict[str, Any] = {"resourceGroupName": "g", "resourceName": "c"}


def test_values_are_counted_as_judged_unknown_and_not_described() -> None:
    subnet = {**NAMED, "virtualNetworkName": "v", "addressPrefix": UNKNOWN, "networkSecurityGroup": {"id": "x"}}
    del subnet["resourceName"]
    verdict = judge("azure-native:network:Subnet", subnet)
    assert verdict.problems == []
    assert verdict.figures == {"judged": 2, "unknown": 1, "unmodelled": 1}


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"addonProfiles": {"omsagent": {"enabled": "yes"}}},
         'addonProfiles["omsagent"].enabled: must be true or false, given \'yes\' (2025-09-01 of Azure\'s API)'),
        ({"addonProfiles": {"omsagent": {}}},
         f'addonProfiles["omsagent"].enabled: required by {CLUSTER}, but not given'),
        ({"agentPoolProfiles": [{"name": "a", "osSKU": "Windows95"}]},
         "agentPoolProfiles[0].osSKU: must be one of "),
        ({"identity": "SystemAssigned"}, "identity: must be an object, given 'SystemAssigned'"),
        ({"networkProfile": {"natGatewayProfile": {"idleTimeoutInMinutes": "4"}}},
         "networkProfile.natGatewayProfile.idleTimeoutInMinutes: must be a whole number, given '4'"),
        ({"networkProfile": {"ipFamilies": ["IPv5"]}},
         "networkProfile.ipFamilies[0]: must be one of IPv4, IPv6, given 'IPv5'"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_at_its_path(inputs: dict[str, Any], problem: str) -> None:
    verdict = judge(CLUSTER, {**NAMED, "location": "l", **inputs})
    (found,) = verdict.problems
    assert f"{found.path}: {found.reason}".startswith(problem)


def test_free_text_is_told_apart_from_names_with_a_form_and_enumerations() -> None:
    assert {"vmSize", "count"} < set(loose(POOL))
    assert not {"agentPoolName", "mode", "nodeTaints", "enableAutoScaling"} & set(loose(POOL))
    assert unmodelled("azure-native:network:VirtualNetwork") == ["subnets", "virtualNetworkPeerings"]


@pytest.mark.parametrize("service", ["containerservice", "network"])
def test_microsofts_newer_models_know_every_value_that_we_allow(service: str) -> None:
    models = import_module(f"azure.mgmt.{service}.models")
    of_service = [each for type_, each in facts().resources.items() if f":{service}:" in type_]
    used = {row[5] for each in of_service for row in each.rows if row[5]}
    for name in sorted(used):
        newer = getattr(models, name, None)
        if newer is not None:
            assert set(facts().enumerations[name]) <= {each.value for each in newer}, name
