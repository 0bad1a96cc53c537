"""What the pools of a stack cost, at their smallest and at their largest size.

Nodes and the control plane's fee only, at list prices: no discounts, disks, file systems, traffic, load
balancers, addresses or logs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from components.contract.clusters import reserves
from components.contract.environments import ClusterKind
from components.contract.groups import spare_nodes
from components.contract.instances import INSTANCE_TYPES, Provider
from components.contract.lifecycle import Lifecycle
from infra.config import StackConfig
from workbench.prices.book import Price, PriceBook, region_of
from workbench.prices.fees import Fee, fee_of

HOURS_A_MONTH: Final = 730
"""365 * 24 / 12."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """USD at the smallest and at the largest size.

    Parameters
    ----------
    least, most
        All groups at ``min``, plus the nodes of headroom while nothing runs, and all at ``max``; both include running
        standby machines.
    """

    least: float
    most: float

    @property
    def a_month(self) -> "Amounts":
        """The amounts per month, if these are per hour."""
        return Amounts(self.least * HOURS_A_MONTH, self.most * HOURS_A_MONTH)


@dataclass(frozen=True, slots=True)
class Sized:
    """A node group whose price is wanted.

    Parameters
    ----------
    name
        Name of the node group.
    machine_types
        The provider's names; the first one sets the price. EKS launches on-demand nodes in this order.
    lifecycle
        On demand, spot or reserved.
    least, most
        Smallest and largest number of nodes.
    """

    name: str
    machine_types: tuple[str, ...]
    lifecycle: Lifecycle
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class GroupCost:
    """The cost of one node group.

    Parameters
    ----------
    group
        The node group.
    price
        Price of one node; None if it is unknown.
    """

    group: Sized
    price: Price | None

    @property
    def is_reserved(self) -> bool:
        """Whether the nodes use capacity that has its own price: that of its purchase, not of a node."""
        return self.group.lifecycle is Lifecycle.RESERVED

    @property
    def hourly(self) -> Amounts | None:
        """USD per hour; None without a price."""
        if self.price is None:
            return None
        return Amounts(self.group.least * self.price.usd_per_hour, self.group.most * self.price.usd_per_hour)


@dataclass(frozen=True, slots=True)
class StackCost:
    """The cost of a stack.

    Parameters
    ----------
    region
        The cloud's region; None if the prices are those of a stand-in region.
    groups
        The node groups by name.
    fee
        The control plane's; None if there is none.
    """

    region: str | None
    groups: tuple[GroupCost, ...]
    fee: Fee | None = None

    @property
    def hourly(self) -> Amounts:
        """USD per hour of the control plane and of all groups with a price."""
        known = [hourly for each in self.groups if (hourly := each.hourly)]
        fee = self.fee.usd_per_hour if self.fee else 0.0
        return Amounts(fee + sum(each.least for each in known), fee + sum(each.most for each in known))

    @property
    def monthly(self) -> Amounts:
        """USD per month of 730 hours."""
        return self.hourly.a_month

    @property
    def prices(self) -> list[Price]:
        """Known prices of the groups."""
        return [each.price for each in self.groups if each.price]

    @property
    def unpriced(self) -> list[str]:
        """Names of groups whose price is not known; the sums leave them out."""
        return [each.group.name for each in self.groups if each.price is None and not each.is_reserved]

    @property
    def reserved(self) -> list[str]:
        """Names of groups on reserved capacity, which costs the same with and without nodes; the sums leave it out."""
        return [each.group.name for each in self.groups if each.is_reserved]

    @property
    def regions(self) -> list[str]:
        """Regions whose prices are used."""
        return sorted({price.region for price in self.prices})

    def old(self, days: int, today: date) -> list[Price]:
        """Return the prices that are older than ``days``, oldest first."""
        return sorted(
            (price for price in self.prices if today - price.date > timedelta(days=days)), key=lambda price: price.date
        )


def stack_cost(config: StackConfig, book: PriceBook) -> StackCost:
    """Return the cost of a stack as its file describes it."""
    kind = ClusterKind(config.cluster.kind)
    spare = spare_nodes(config.groups, reserves(kind))
    groups = (
        Sized(
            group.name,
            tuple(machine.name for machine in group.instances),
            group.lifecycle,
            group.size.min + spare.get(group.name, 0) + group.standing_by,
            group.size.max + group.standing_by,
        )
        for group in config.groups
    )
    return cost_of(groups, region_of(config), fee_of(kind, config.environment), book)


def cost_of(groups: Iterable[Sized], region: str | None, fee: Fee | None, book: PriceBook) -> StackCost:
    """Return the cost of node groups.

    Parameters
    ----------
    groups
        The node groups.
    region
        The cloud's region; None for clusters without one.
    fee
        The control plane's; None if there is none.
    book
        The prices.
    """
    return StackCost(region, tuple(GroupCost(group, _price(group, region, book)) for group in groups), fee)


def _price(group: Sized, region: str | None, book: PriceBook) -> Price | None:
    machine = INSTANCE_TYPES.get(group.machine_types[0]) if group.machine_types else None
    if machine is None or machine.provider is Provider.OWN:
        return None
    return book.of(machine.provider, region, machine.name, group.lifecycle)
