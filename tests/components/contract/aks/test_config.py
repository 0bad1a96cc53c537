from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.access import AccessLevel
from components.contract.aks.access import PrincipalKind, role_id
from components.contract.aks.autoscaling import autoscaler_profile
from components.contract.aks.config import AksConfig, JobMix
from components.contract.aks.maintenance import NodeImageChannel
from components.contract.aks.network import nodes_that_fit, nodes_with_pods
from components.contract.ranges import PUBLIC_PREFIX_MIN
from infra.config import ConfigurationError
from support.aks import EXISTING, GROUP_ID, config, document

TEAM = "33333333-3333-3333-3333-333333333333"


def chosen(changes: dict[str, object] | None = None) -> AksConfig:
    return AksConfig.model_validate(document(changes)["cluster"])


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, PUBLIC_PREFIX_MIN - 1))
def test_no_range_wider_than_the_bound_reaches_the_public_endpoint(address: int, prefix: int) -> None:
    masked = address >> (32 - prefix) << (32 - prefix) if prefix else 0
    text = ".".join(str(masked >> shift & 255) for shift in (24, 16, 8, 0))
    with pytest.raises(ConfigurationError, match="HA-01"):
        config({"cluster.authorizedRanges": [f"{text}/{prefix}"]})


def test_without_public_ranges_the_api_is_private() -> None:
    assert chosen().is_private
    assert not chosen({"cluster.authorizedRanges": ["203.0.113.0/24"]}).is_private


def test_a_public_cluster_may_have_more_tags_than_a_private_one() -> None:
    tags = {f"tag{number}": "value" for number in range(11)}
    assert len(chosen({"cluster.authorizedRanges": ["203.0.113.0/24"], "cluster.tags": tags}).tags) == 11


def test_all_names_in_azure_follow_from_the_cluster() -> None:
    choices = chosen()
    assert (choices.resource_group, choices.node_resource_group) == ("research", "research-nodes")
    assert choices.cluster_id == f"{GROUP_ID}/providers/Microsoft.ContainerService/managedClusters/research"
    assert choices.node_subnet_id == f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/research/subnets/nodes"
    assert chosen({"cluster.network": EXISTING}).node_subnet_id == EXISTING["nodeSubnetId"]


def test_dns_has_the_tenth_address_of_the_service_range() -> None:
    assert chosen({"cluster.serviceCidr": "10.100.8.0/24"}).dns_address == "10.100.8.10"


def test_the_deployer_is_always_cluster_admin_and_others_are_groups_unless_they_say_so() -> None:
    entries = chosen({"cluster.access.entries": {"team": {"objectId": TEAM, "level": "view"}}}).access.all_entries
    assert {name: (entry.level.value, entry.principal.azure) for name, entry in entries.items()} == {
        "deployer": ("cluster-admin", "ServicePrincipal"),
        "team": ("view", "Group"),
    }


def test_every_level_has_a_role_of_its_own() -> None:
    roles = [role_id(level) for level in AccessLevel]
    assert len(set(roles)) == len(AccessLevel)
    assert [str(UUID(role)) for role in roles] == roles


def test_words_are_spelled_as_azure_spells_them() -> None:
    assert {kind.azure for kind in PrincipalKind} == {"Group", "ServicePrincipal", "User"}
    assert {channel.azure for channel in NodeImageChannel} == {"NodeImage", "SecurityPatch", "None"}
    maintenance = chosen().maintenance
    assert (maintenance.azure_day, maintenance.start_time) == ("Sunday", "01:00")


def test_nodes_take_no_room_from_each_other() -> None:
    assert chosen({"cluster.network.cidr": "10.60.0.0/24"}).network.node_cidr == "10.60.0.0/25"
    assert nodes_that_fit("10.60.0.0/25") == 112
    assert nodes_with_pods("10.244.0.0/16") == 256


def test_notebooks_keep_their_nodes_longer_than_jobs() -> None:
    batch, interactive = autoscaler_profile(JobMix.BATCH), autoscaler_profile(JobMix.INTERACTIVE)
    assert set(batch) == set(interactive)
    key = "scale_down_unneeded_time"
    assert int(batch[key].removesuffix("m")) < int(interactive[key].removesuffix("m"))
