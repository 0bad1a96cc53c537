"""Prices for the nodes of a rehearsal."""

from dataclasses import dataclass, field
from datetime import date

from components.contract.instances import INSTANCE_TYPES
from components.contract.lifecycle import Lifecycle
from infra.config import StackConfig
from workbench.prices.book import MAX_AGE_DAYS, Price, PriceBook, region_of


@dataclass(frozen=True)
class Prices:
    """Prices for the machines of one stack.

    Parameters
    ----------
    config
        The stack, which has a region or not.
    book
        The prices.
    today
        From which their age counts.
    """

    config: StackConfig
    book: PriceBook
    today: date = field(default_factory=date.today)

    def price_of(self, machine_type: str, lifecycle: str) -> float | None:
        """Return the US dollars an hour of a machine; None if it is unknown."""
        found = self._price(machine_type, Lifecycle(lifecycle))
        return found.usd_per_hour if found else None

    @property
    def note(self) -> str:
        """Where the prices of the stack's machines are from, as one sentence; empty without any."""
        prices = [
            price
            for group in self.config.groups
            if (price := self._price(group.instances[0].name, group.lifecycle)) is not None
        ]
        if not prices:
            return ""
        oldest, regions = min(price.date for price in prices), ", ".join(sorted({price.region for price in prices}))
        assumed = ", some of them assumed" if any(price.is_assumed for price in prices) else ""
        old = (self.today - oldest).days > MAX_AGE_DAYS
        hint = "; they are old, `igz-clusters prices refresh` reads new ones" if old else ""
        return f"List prices of {regions} from {oldest:%Y-%m-%d} on, without discounts and disks{assumed}{hint}."

    def _price(self, machine_type: str, lifecycle: Lifecycle) -> Price | None:
        machine = INSTANCE_TYPES.get(machine_type)
        return self.book.of(machine.provider, region_of(self.config), machine_type, lifecycle) if machine else None
