"""Loopback ports of an instance: picked once, kept, and changed only where a stranger took one."""

import socket
from collections.abc import Mapping
from secrets import SystemRandom

from workbench.system.errors import UserError

LOOPBACK = "127.0.0.1"

PORTS = ("kube-apiserver", "etcd", "etcd-peer", "kube-controller-manager", "kube-scheduler")

# Below the range from which systems take the ports of outgoing connections (32768 up on Linux): a kept port
# must not be somebody's passing connection at the next start.
_RANGE = range(20000, 32000)


def settle(kept: Mapping[str, int]) -> dict[str, int]:
    """Return a free port for each purpose: the kept one if nobody else listens there, else a new one.

    Raises
    ------
    UserError
        No port of the range is free.
    """
    settled = {purpose: port for purpose, port in kept.items() if purpose in PORTS and is_free(port)}
    candidates = (port for port in SystemRandom().sample(_RANGE, len(_RANGE)) if port not in settled.values())
    free = (port for port in candidates if is_free(port))
    for purpose in PORTS:
        if purpose not in settled:
            port = next(free, None)
            if port is None:
                raise UserError(f"No free port between {_RANGE.start} and {_RANGE.stop - 1} on {LOOPBACK}.")
            settled[purpose] = port
    return settled


def is_free(port: int) -> bool:
    """Return whether nobody listens on the loopback port."""
    with socket.socket() as probe:
        # As Go's listeners do it: connections of the past do not count, listeners of the present do.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
