import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.eks.access import Access
from components.contract.eks.config import EksConfig
from components.contract.eks.network import ExistingNetwork
from components.contract.ranges import PUBLIC_PREFIX_MIN
from infra.config import ConfigurationError, parse
from support.eks import CREATED, EXISTING, ROLE, config, document
from support.minors import NEWEST


@given(st.integers(0, 2**32 - 1), st.integers(0, PUBLIC_PREFIX_MIN - 1))
def test_no_range_wider_than_the_bound_reaches_the_public_endpoint(address: int, prefix: int) -> None:
    masked = address >> (32 - prefix) << (32 - prefix) if prefix else 0
    text = ".".join(str(masked >> shift & 255) for shift in (24, 16, 8, 0))
    with pytest.raises(ConfigurationError, match="HE-01"):
        config({"cluster.publicAccessCidrs": [f"{text}/{prefix}"]})


def test_without_public_ranges_the_api_is_private() -> None:
    assert config().cluster.is_private
    assert not config({"cluster.publicAccessCidrs": ["203.0.113.0/24"]}).cluster.is_private


def test_an_existing_network_names_a_subnet_for_every_zone_in_any_order() -> None:
    subnets = dict(reversed(EXISTING["nodeSubnetIds"].items()))
    assert config({"cluster.network": {**EXISTING, "nodeSubnetIds": subnets}}).cluster.network.kind == "existing"


def test_the_two_fixed_entries_are_always_there_and_cluster_admin() -> None:
    entry = {"roleArn": f"{ROLE}/team", "level": "view", "namespaces": ["mlrun"]}
    entries = config({"cluster.access.entries": {"team": entry}}).cluster.access.all_entries
    assert {name: e.level.value for name, e in entries.items()} == {
        "deployer": "cluster-admin",
        "break-glass": "cluster-admin",
        "team": "view",
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"cluster.zones": ["a", "b"], "pools.data.size": {"min": 2, "max": 2}},
        {"cluster.version": NEWEST},
        {"cluster.network": {"kind": "created", "cidr": "100.64.0.0/16"}},
        {"cluster.serviceCidr": "10.100.0.0/16"},
        {"cluster.secretsKeyArn": "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"},
        {"cluster.permissionsBoundaryArn": "arn:aws:iam::111122223333:policy/boundary"},
        {"cluster.logRetentionDays": 90},
        {"cluster.rootVolumeGib": 30},
        {"cluster.tags": {f"tag{index}": "x" for index in range(39)}},
        {"cluster.addonVersions": {"vpc-cni": "v1.22.4-eksbuild.1"}},
        {"cluster.imageRegistries": {"nvcr.io": "mirror.example.com:5000/nvidia"}},
        {"cluster.publicAccessCidrs": [f"203.0.113.{index}/32" for index in range(40)]},
    ],
)
def test_choices_at_the_limits_are_accepted(changes: dict[str, object]) -> None:
    config(changes)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = [f"cluster.{field.alias}" for field in EksConfig.model_fields.values()]
keys += [f"cluster.network.{field.alias}" for field in ExistingNetwork.model_fields.values()]
keys += [f"cluster.access.{field.alias}" for field in Access.model_fields.values()]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(keys), json_values, st.sampled_from([CREATED, EXISTING]))
def test_no_value_of_any_key_causes_anything_but_a_list_of_problems(key: str, value: object, network: object) -> None:
    given_ = document({"cluster.network": network})
    *parents, last = key.split(".")
    here = given_
    for parent in parents:
        here = here[parent]
    here[last] = value
    try:
        parse(given_)
    except ConfigurationError as error:
        assert error.problems
        assert all(": " in str(problem) for problem in error.problems)
