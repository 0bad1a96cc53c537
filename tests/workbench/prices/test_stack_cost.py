from datetime import date

import pytest

from components.contract.environments import ClusterKind, Environment
from components.contract.lifecycle import Lifecycle
from support import aks, eks, existing
from workbench.prices.book import Price, PriceBook
from workbench.prices.fees import AKS_FREE, AKS_STANDARD, EKS, fee_of
from workbench.prices.stack_cost import Amounts, GroupCost, Sized, StackCost, cost_of, stack_cost


def priced(usd: float, least: int, most: int, day: date = date(2026, 1, 1)) -> GroupCost:
    group = Sized("pool", ("m6i.xlarge",), Lifecycle.ON_DEMAND, least, most)
    return GroupCost(group, Price(usd, day, "list", "eu-west-1"))


UNPRICED = GroupCost(Sized("own", ("16cpu-64gib",), Lifecycle.ON_DEMAND, 1, 2), None)


def test_a_cost_is_that_of_all_groups_and_the_control_plane_for_730_hours_a_month() -> None:
    cost = StackCost("eu-west-1", (priced(2, 1, 3), priced(0.5, 2, 2)), EKS)
    assert (cost.hourly.least, cost.hourly.most) == pytest.approx((3.1, 7.1))
    assert (cost.monthly.least, cost.monthly.most) == pytest.approx((3.1 * 730, 7.1 * 730))


def test_groups_without_a_price_are_left_out_and_named() -> None:
    cost = StackCost("eu-west-1", (priced(2, 1, 3), UNPRICED))
    assert cost.hourly == Amounts(2, 6)
    assert cost.unpriced == ["own"]
    assert UNPRICED.hourly is None


def test_reserved_capacity_is_left_out_and_is_not_a_price_that_is_missing() -> None:
    held = cost_of([Sized("held", ("m6i.xlarge",), Lifecycle.RESERVED, 0, 2)], "eu-west-1", EKS, PriceBook.load())
    assert (held.reserved, held.unpriced) == (["held"], [])
    assert held.hourly == Amounts(0.1, 0.1)


def test_old_prices_are_those_older_than_the_days_oldest_first() -> None:
    days = [date(2026, 1, 2), date(2026, 1, 1), date(2026, 1, 3)]
    cost = StackCost("eu-west-1", tuple(priced(1, 1, 1, day) for day in days))
    assert [price.date for price in cost.old(10, date(2026, 1, 12))] == [date(2026, 1, 1)]
    assert [price.date for price in cost.old(8, date(2026, 1, 12))] == sorted(days)
    assert cost.old(11, date(2026, 1, 12)) == []


def test_an_eks_stack_is_priced_in_its_region_by_the_first_type_of_each_group() -> None:
    cost = stack_cost(eks.config(), PriceBook.load())
    found = {each.group.name: each for each in cost.groups}
    assert cost.region == "eu-west-1"
    assert cost.fee == EKS
    assert {price.region for price in cost.prices} == {"eu-west-1"}
    spot, workload = found["spot"].price, found["workload"].price
    assert spot
    assert workload
    assert spot.usd_per_hour < workload.usd_per_hour
    assert found["spot"].group.machine_types[0] == found["workload"].group.machine_types[0]
    assert (found["workload"].group.least, found["workload"].group.most) == (1, 10)


def test_an_aks_stack_pays_for_its_control_plane_in_production_only() -> None:
    assert stack_cost(aks.config(), PriceBook.load()).fee == AKS_FREE
    assert fee_of(ClusterKind.AKS, Environment.PROD) == AKS_STANDARD
    assert fee_of(ClusterKind.LOCAL, Environment.PROD) is None
    assert fee_of(ClusterKind.EXISTING, Environment.PROD) is None


def test_own_machines_of_an_existing_cluster_have_no_price() -> None:
    cost = stack_cost(existing.config(), PriceBook.load())
    assert cost.unpriced == [group.name for group in existing.config().groups]
    assert (cost.region, cost.fee, cost.hourly) == (None, None, Amounts(0, 0))


def test_groups_of_unknown_types_have_no_price() -> None:
    groups = [Sized(name, types, Lifecycle.SPOT, 0, 1) for name, types in (("a", ()), ("b", ("m99.xlarge",)))]
    assert cost_of(groups, "eu-west-1", None, PriceBook.load()).unpriced == ["a", "b"]


def test_a_month_costs_730_hours() -> None:
    assert StackCost("eu-west-1", (priced(1, 1, 5),)).monthly == Amounts(730, 3650)
