import pytest

from components.contract.ranges import ipv4_network


@pytest.mark.parametrize("text", ["", "10.0.0.0", "10.0.0.0/33", "10.0.0.1/24", "ten/8", "10.0.0.0/8 ", "::/0"])
def test_only_canonical_ipv4_networks_are_networks(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not an IPv4 range|must be written as"):
        ipv4_network(text)
