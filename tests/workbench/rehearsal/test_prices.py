from datetime import timedelta

import pytest

from support import aks, eks, existing
from support.records import node, record
from workbench.prices.book import MAX_AGE_DAYS, PriceBook
from workbench.prices.fees import EKS
from workbench.prices.stack_cost import stack_cost
from workbench.rehearsal.cluster.nodes import group_facts
from workbench.rehearsal.prices import Prices
from workbench.rehearsal.verdicts.costs import costs_of


def test_a_node_has_the_price_of_its_group_in_prices_show() -> None:
    for config in (eks.config(), aks.config()):
        cost = stack_cost(config, PriceBook.load())
        for each in cost.groups:
            assert each.price
            found = Prices(cost).price_of(each.group.machine_types[0], each.group.lifecycle.value)
            assert found == each.price.usd_per_hour


def test_an_hour_at_the_smallest_sizes_costs_what_prices_show_says() -> None:
    cost = stack_cost(eks.config(), PriceBook.load())
    prices = Prices(cost)
    groups = group_facts(eks.config())
    nodes = [node(f"{each.name}-{number}", each) for each in groups for number in range(each.min)]
    costs = costs_of(record(groups=groups, nodes=nodes), prices.price_of, fee=prices.fee)
    assert costs.total.usd == pytest.approx(cost.hourly.least)
    assert costs.control_plane == EKS.usd_per_hour
    assert "with the control plane's fee, " in prices.note


def test_headroom_is_a_part_of_the_smallest_size() -> None:
    room = {"pods": 3, "cpu": "3", "memory": "12Gi"}  # two of them fill a node, and the pool has one at its minimum
    plain, kept = (
        stack_cost(eks.config(changes), PriceBook.load()) for changes in ({}, {"pools.workload.headroom": room})
    )
    (price,) = (each.price for each in plain.groups if each.group.name == "workload")
    assert price
    assert kept.hourly.least - plain.hourly.least == pytest.approx(price.usd_per_hour)
    assert kept.hourly.most == pytest.approx(plain.hourly.most)


def test_machines_of_ones_own_have_no_price_and_leave_nothing_to_say() -> None:
    prices = Prices(stack_cost(existing.config(), PriceBook.load()))
    assert prices.price_of(existing.config().groups[0].instances[0].name, "on-demand") is None
    assert (prices.fee, prices.note) == (0.0, "")


def test_the_note_names_region_and_oldest_day_and_says_that_prices_are_old() -> None:
    cost = stack_cost(eks.config(), PriceBook.load())
    oldest = min(price.date for price in cost.prices)
    limit = oldest + timedelta(days=MAX_AGE_DAYS)
    assert Prices(cost, today=limit).note.startswith(f"List prices of eu-west-1 from {oldest} on, ")
    assert "they are old" not in Prices(cost, today=limit).note
    assert "they are old" in Prices(cost, today=limit + timedelta(days=1)).note
