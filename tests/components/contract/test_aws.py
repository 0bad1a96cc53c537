import pytest
from pulumi_aws._enums import Region as ProviderRegion

from components.contract.aws import REGIONS, ipv4_network


def test_known_regions_are_the_providers_without_other_partitions() -> None:
    theirs = {r.value for r in ProviderRegion if not r.value.startswith(("cn-", "us-gov-", "us-iso", "eu-isoe"))}
    assert set(REGIONS) == theirs - {"eusc-de-east-1"}


@pytest.mark.parametrize("text", ["", "10.0.0.0", "10.0.0.0/33", "10.0.0.1/24", "ten/8", "10.0.0.0/8 ", "::/0"])
def test_only_canonical_ipv4_networks_are_networks(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no IPv4 range|must be written as"):
        ipv4_network(text)
