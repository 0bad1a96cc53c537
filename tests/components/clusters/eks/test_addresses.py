from ipaddress import IPv4Network

from hypothesis import given
from hypothesis import strategies as st

from components.clusters.eks.addresses import address_plan


@given(
    st.integers(16, 20).flatmap(lambda p: st.integers(0, 255).map(lambda i: IPv4Network((10 << 24 | i << 16, p)))),
    st.lists(st.sampled_from("abcdef"), min_size=2, max_size=3, unique=True),
)
def test_subnets_lie_in_the_vpc_and_never_overlap(vpc: IPv4Network, zones: list[str]) -> None:
    plan = address_plan(vpc, zones)
    subnets = [IPv4Network(text) for text in (*plan.private.values(), *plan.public.values())]
    assert all(subnet.subnet_of(vpc) for subnet in subnets)
    assert not any(a.overlaps(b) for i, a in enumerate(subnets) for b in subnets[i + 1 :])
    assert set(plan.private) == set(plan.public) == set(zones)
    assert plan == address_plan(vpc, list(reversed(zones)))
