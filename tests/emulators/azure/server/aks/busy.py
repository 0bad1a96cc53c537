"""One change at a time: what goes on in a cluster keeps every other change off, and writes of pools have a rate."""

import time
from collections import defaultdict
from typing import Final

from emulators.azure.server.clock import POOL_WRITE_SECONDS, POOL_WRITES
from emulators.azure.server.ids import POOL, ArmId
from emulators.azure.server.refusals import RETRY_LATER, busy
from emulators.azure.server.store import Resource, Store
from emulators.core.refusal import Refusal

RUNNING: Final = "Running"
STOPPED: Final = "Stopped"
"""Codes of ``powerState``."""


def refuse_beside(store: Store, cluster: Resource) -> None:
    """Refuse a change of a cluster or its pools while it is stopped, and while another one goes on."""
    refuse_stopped(cluster)
    refuse_busy(store, cluster)


def refuse_stopped(cluster: Resource) -> None:
    """Refuse a change of a stopped cluster; code and words are assumed.

    Source: https://learn.microsoft.com/azure/aks/start-stop-cluster.
    """
    if is_stopped(cluster):
        told = "is stopped. It can only be started or deleted."
        raise Refusal("OperationNotAllowed", 409, f"Managed cluster {cluster.id.name} {told}")


def is_stopped(cluster: Resource) -> bool:
    """Return whether a cluster has neither nodes nor an API server."""
    return bool(cluster.properties.get("powerState", {}).get("code") == STOPPED)


def refuse_busy(store: Store, cluster: Resource) -> None:
    """Refuse what cannot begin while something else goes on."""
    for pool in store.below(cluster.id, POOL):
        if pool.work:
            raise busy(f"agentpool operation ({pool.id.name} - {pool.state})")
    if cluster.work:
        raise busy(f"operation ({cluster.state})")


class Rate:
    """Writes of agent pools: so many at once, and then one after another.

    Parameters
    ----------
    store
        Whose clock says how long a minute is.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._left: Final[dict[str, float]] = defaultdict(lambda: float(POOL_WRITES))
        self._seen: Final[dict[str, float]] = {}

    def take(self, cluster: ArmId) -> None:
        """Count a write of a pool of a cluster, or refuse it."""
        now, each = time.monotonic(), POOL_WRITE_SECONDS * self._store.clock.scale
        if not each:
            return
        since = now - self._seen.get(cluster.key, now)
        left = min(float(POOL_WRITES), self._left[cluster.key] + since / each)
        self._seen[cluster.key], self._left[cluster.key] = now, max(left - 1, 0) if left >= 1 else left
        if left < 1:
            told = f"The request is being throttled as the limit of {POOL_WRITES} agent pool writes has been reached."
            raise Refusal("TooManyRequests", RETRY_LATER, told)
