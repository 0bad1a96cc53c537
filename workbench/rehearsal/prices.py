"""Prices for the nodes and the control plane of a rehearsal."""

from dataclasses import dataclass, field
from datetime import date

from workbench.prices.book import MAX_AGE_DAYS
from workbench.prices.stack_cost import StackCost


@dataclass(frozen=True)
class Prices:
    """Prices for the machines and the control plane of one stack.

    Parameters
    ----------
    cost
        What the stack costs at its smallest and largest size.
    today
        Date from which the age of prices counts.
    """

    cost: StackCost
    today: date = field(default_factory=date.today)

    def price_of(self, machine_type: str, lifecycle: str) -> float | None:
        """Return the US dollars an hour of a machine; None if it is unknown."""
        key = (machine_type, lifecycle)
        groups = (each for each in self.cost.groups if (each.group.machine_types[0], each.group.lifecycle) == key)
        return next((each.price.usd_per_hour for each in groups if each.price), None)

    @property
    def fee(self) -> float:
        """US dollars an hour of the control plane; 0 without a fee."""
        return self.cost.fee.usd_per_hour if self.cost.fee else 0.0

    @property
    def note(self) -> str:
        """Where the prices of the stack's machines are from, as one sentence; empty without any."""
        prices, regions = self.cost.prices, ", ".join(self.cost.regions)
        if not prices:
            return ""
        oldest = min(price.date for price in prices)
        assumed = ", some of them assumed" if any(price.is_assumed for price in prices) else ""
        old = self.cost.old(MAX_AGE_DAYS, self.today)
        hint = "; they are old, `igz-clusters prices refresh` reads new ones" if old else ""
        fee = "with the control plane's fee, " if self.fee else ""
        return f"List prices of {regions} from {oldest:%Y-%m-%d} on, {fee}without discounts and disks{assumed}{hint}."
