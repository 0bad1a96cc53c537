"""Waits for namespaces that are being deleted when `up` needs them."""

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
    """Wait until no namespace of a stack is being deleted, as after an interrupted `destroy`.

    A namespace can be read until it is gone. The engine would treat it as existing and fail to create objects in it.

    Raises
    ------
    UserError
        A namespace is not gone in time, or the cluster does not answer or refuses.
    """
    deadline, is_told = time.monotonic() + PATIENCE, False
    while going := {name: why for name, why in terminating_namespaces(api).items() if name in wanted}:
        if not is_told:
            errors.print(f"Waiting for the deletion of namespace {', '.join(going)}.", **PLAIN)
        is_told = True
        if time.monotonic() > deadline:
            held = "\n".join(f"- {name}: {why}" for name, why in going.items())
            raise UserError(
                f"Namespaces of this stack are still being deleted after {PATIENCE:.0f} s:\n{held}",
                "Nothing changed. Remove what blocks the deletion, then run this again.",
            )
        time.sleep(_PAUSE)
