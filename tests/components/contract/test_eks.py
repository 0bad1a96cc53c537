import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi_aws._enums import Region as ProviderRegion

from components.addons.images import AUTOSCALER_VERSIONS
from components.contract.aws import REGIONS
from components.contract.eks import VERSIONS
from components.contract.eks_network import PUBLIC_PREFIX_MIN
from infra.config import ConfigurationError
from support.eks import EXISTING, ROLE, config


def test_known_regions_are_the_providers_without_other_partitions() -> None:
    theirs = {r.value for r in ProviderRegion if not r.value.startswith(("cn-", "us-gov-", "us-iso", "eu-isoe"))}
    assert set(REGIONS) == theirs - {"eusc-de-east-1"}


def test_every_version_has_its_autoscaler() -> None:
    assert set(AUTOSCALER_VERSIONS) == set(VERSIONS)
    assert all(image.startswith(f"v{minor}.") for minor, image in AUTOSCALER_VERSIONS.items())


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
        {"cluster.version": "1.36"},
        {"cluster.network": {"kind": "created", "cidr": "100.64.0.0/16"}},
        {"cluster.serviceCidr": "10.100.0.0/16"},
        {"cluster.secretsKeyArn": "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"},
        {"cluster.permissionsBoundaryArn": "arn:aws:iam::111122223333:policy/boundary"},
        {"cluster.logRetentionDays": 90},
        {"cluster.rootVolumeGib": 30},
        {"cluster.tags": {f"tag{index}": "x" for index in range(40)}},
        {"cluster.addonVersions": {"vpc-cni": "v1.20.4-eksbuild.2"}},
        {"cluster.imageRegistries": {"nvcr.io": "mirror.example.com:5000/nvidia"}},
        {"cluster.publicAccessCidrs": [f"203.0.113.{index}/32" for index in range(40)]},
    ],
)
def test_choices_at_the_limits_are_accepted(changes: dict[str, object]) -> None:
    config(changes)
