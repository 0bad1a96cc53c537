"""Starts an Azure emulator and talks to it: what tests use beside ARM's own requests."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

from emulators.core.client import Program, Running, as_json, started

ADDRESS_VARIABLE: Final = "IGZ_CLUSTERS_EMULATOR_ARM"
"""Variable with the address of the emulator's server; azure-native itself has none for a server on loopback."""

PROGRAM: Final = Program("Azure", "emulators.azure", ("ARM_", "AZURE_", ADDRESS_VARIABLE))

_DIRECT: Final = build_opener(ProxyHandler({}))
"""A proxy that the machine has is not for loopback."""


@dataclass(frozen=True)
class Told:
    """An answer of ARM.

    Parameters
    ----------
    status
        HTTP status.
    headers
        By name in lower case.
    body
        Empty if there is none.
    """

    status: int
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def code(self) -> str:
        """ARM's code of a refusal; empty for a success."""
        return str(self.body.get("error", {}).get("code", ""))

    @property
    def message(self) -> str:
        """What ARM says with a refusal."""
        return str(self.body.get("error", {}).get("message", ""))


@dataclass(frozen=True)
class Emulator(Running):
    """A server that runs."""

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to find this Azure and no other."""
        return {ADDRESS_VARIABLE: self.address, **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1")}

    def ask(self, method: str, id_: str, version: str, body: Mapping[str, Any] | None = None, **query: str) -> Told:
        """Make one request of ARM and return its answer, a refusal too.

        Parameters
        ----------
        id_
            Of a resource, or where a type is listed.
        version
            Of the API.

        Raises
        ------
        ConnectionError
            There is no answer.
        """
        address = f"{self.address}{quote(id_)}?{urlencode({'api-version': version, **query})}"
        return self.follow(address, method, body)

    def follow(self, address: str, method: str = "GET", body: Mapping[str, Any] | None = None) -> Told:
        """Ask at a whole address, such as that of an operation."""
        sent = None if body is None else as_json(body)
        request = Request(address, sent, {"Content-Type": "application/json"}, method=method)  # noqa: S310 our own address
        try:
            with _DIRECT.open(request, timeout=60) as answer:
                return _told(answer.status, answer.headers, answer.read())
        except HTTPError as error:
            return _told(error.code, error.headers, error.read())

    def move(self, pool: str, count: int) -> None:
        """Give an agent pool another size, as the autoscaler does it; the pool by its id."""
        self._ask("POST", "sizes", as_json({"pool": pool, "count": count}))

    def run_schedules(self, moment: datetime) -> list[str]:
        """Run the workflows that are due in the minute of a moment; return their names, and what became of each."""
        ran: list[str] = self._ask("POST", "schedules", as_json({"at": moment.isoformat()}))
        return ran

    def run_backups(self, moment: datetime) -> list[str]:
        """Make the backups that are due in the hour of a moment, remove expired ones; return ids of the new ones."""
        made: list[str] = self._ask("POST", "backups", as_json({"at": moment.isoformat()}))
        return made

    def ailments(self, cluster: str) -> list[str]:
        """Return why the API server of a cluster, by its id, does not work; empty if it works."""
        found: list[str] = self._ask("POST", "ailments", as_json({"cluster": cluster}))
        return found

    def lets_in(self, subnet: str, port: int, source: str = "198.51.100.1") -> bool:
        """Return whether a LoadBalancer's port in a subnet can be reached from an address of the Internet."""
        found: bool = self._ask("POST", "openings", as_json({"subnet": subnet, "port": port, "source": source}))
        return found

    def leave_resource(self, id_: str) -> None:
        """Let a resource of any type be in a resource group, which another owner made there."""
        self._ask("POST", "strangers", as_json({"id": id_}))

    def leave_network_interface(self, subnet: str) -> str:
        """Put a network interface that is never cleaned up into a subnet, by its id, and return its id."""
        made: str = self._ask("POST", "network-interfaces", as_json({"subnet": subnet}))
        return made

    def remove_network_interface(self, interface: str) -> None:
        """Remove a network interface that was left, by its id, as its owner does in the end."""
        self._ask("DELETE", "network-interfaces", as_json({"interface": interface}))


@contextmanager
def running(scale: float = 0.0, kubeconfig: Path | None = None) -> Iterator[Emulator]:
    """Start a server and stop it at the end; parameters as of ``started``."""
    with started(PROGRAM, scale, kubeconfig) as (address, pid):
        yield Emulator(address, pid)


def _told(status: int, headers: Any, body: bytes) -> Told:
    return Told(status, {name.lower(): value for name, value in headers.items()}, json.loads(body or b"{}"))
