"""Loopback ports of an instance: chosen once and kept, unless another process has taken one."""

import socket
from collections.abc import Mapping
from secrets import SystemRandom

from workbench.system.errors import UserError

LOOPBACK = "127.0.0.1"

PORTS = ("kube-apiserver", "etcd", "etcd-peer", "kube-controller-manager", "kube-scheduler")

# Below the range of ephemeral ports (32768 up on Linux): a kept port must not be taken by an outgoing connection at
# the next start.
_RANGE = range(20000, 32000)


def settle(kept: Mapping[str, int]) -> dict[str, int]:
    """Return a free port for each purpose: the kept one if it is free, else a new one.

    Raises
    ------
    UserError
        All ports of the range are taken.
    """
    settled = {purpose: port for purpose, port in kept.items() if purpose in PORTS and is_free(port)}
    candidates = (port for port in SystemRandom().sample(_RANGE, len(_RANGE)) if port not in settled.values())
    free = (port for port in candidates if is_free(port))
    for purpose in set(PORTS) - set(settled):
        if (port := next(free, None)) is None:
            raise UserError(f"No free port between {_RANGE.start} and {_RANGE.stop - 1} on {LOOPBACK}.")
        settled[purpose] = port
    return settled


def is_free(port: int) -> bool:
    """Return whether no process listens on the loopback port."""
    with socket.socket() as probe:
        # As in Go's listeners: closed connections do not count, current listeners do.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
