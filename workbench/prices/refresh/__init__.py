"""Reads current prices from the clouds. ``refresh`` writes them to the account's own file."""

from workbench.prices.refresh.run import Refreshed, refresh

__all__ = ["Refreshed", "refresh"]
