"""Namespaces that are on their way out when an `up` wants them."""

import time
from collections.abc import Collection
from typing import Final

from workbench.cli.console import PLAIN, errors
from workbench.engine.destroying import PATIENCE
from workbench.engine.in_cluster import terminating_namespaces
from workbench.engine.kubectl import Api
from workbench.system.errors import UserError

_PAUSE: Final = 0.5


def wait_for_half_deleted(api: Api, wanted: Collection[str]) -> None:
    """Wait until no namespace that a stack wants is being deleted, as after a `destroy` that somebody stopped.

    Until it is gone a namespace can be read, and the engine takes what can be read for there: it would make objects in
    it, and be told that there is no such namespace.

    Raises
    ------
    UserError
        Something holds one, or the cluster does not answer or refuses.
    """
    deadline, is_told = time.monotonic() + PATIENCE, False
    while going := {name: why for name, why in terminating_namespaces(api).items() if name in wanted}:
        if not is_told:
            errors.print(f"Waiting until what is being deleted is gone: namespace {', '.join(going)}.", **PLAIN)
        is_told = True
        if time.monotonic() > deadline:
            held = "\n".join(f"- {name}: {why}" for name, why in going.items())
            raise UserError(
                f"Namespaces of this stack are being deleted, and are not gone after {PATIENCE:.0f} s:\n{held}",
                "Nothing was changed. End what holds them, then run this again.",
            )
        time.sleep(_PAUSE)
