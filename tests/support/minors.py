"""The minors of Kubernetes that tests run on, from the table: a row more moves them, and no test has to be edited."""

from typing import Final

from components.contract.kubernetes_minors import offered


def after(minor: str, steps: int = 1) -> str:
    """Return the minor so many steps later, or earlier if negative, whether anything offers it or not."""
    return f"1.{number(minor) + steps}"


def number(minor: str) -> int:
    """Return ``35`` of ``1.35``."""
    return int(minor.partition(".")[2])


NEWEST: Final = min(offered("eks")[-1], offered("aks")[-1], key=number)
"""The newest that a stack file may choose on every cloud."""

CHOSEN: Final = after(NEWEST, -1)
"""What the stacks of tests choose: one step remains to go."""

OLDER: Final = after(CHOSEN, -1)
"""One step behind."""

EARLIER: Final = after(CHOSEN, -2)
"""Two steps behind."""
