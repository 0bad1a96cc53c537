"""Namespaces that a stopped `destroy` left half deleted."""

import time
from collections.abc import Mapping
from typing import Any, Final

from workbench.cli.console import PLAIN, errors
from workbench.engine.destroying import objects_of
from workbench.engine.in_cluster import going_namespaces
from workbench.engine.kubectl import Api
from workbench.errors import UserError

PATIENCE: Final = 120.0
"""Seconds within which a namespace without anything stuck in it is gone."""

_PAUSE: Final = 0.5


def wait_for_half_deleted(api: Api, deployment: Mapping[str, Any]) -> None:
    """Wait until none of a state's namespaces is being deleted.

    Until it is gone a namespace can be read, and the engine takes what can be read for there: it would make objects in
    it, and be told that there is no such namespace.

    Raises
    ------
    UserError
        Something in one holds it.
    """
    ours = {name for kind, _, name in objects_of(deployment) if kind == "namespace"}
    deadline, is_told = time.monotonic() + PATIENCE, False
    while going := {name: why for name, why in going_namespaces(api).items() if name in ours}:
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
