"""Starts a double and talks to it: what tests and rehearsals use beside AWS's own API."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import boto3
from botocore.config import Config

from workbench.clouds.aws.double.server import REGION
from workbench.clouds.aws.double.server.faults import RULES, ErrorRule, Rule

START: Final = 30.0
"""Seconds that a server gets to start."""

_DIRECT: Final = build_opener(ProxyHandler({}))
"""A proxy that the machine has is not for loopback."""


class DoubleError(Exception):
    """The double does not do this; the text says why."""


@dataclass(frozen=True)
class Call:
    """One call that the server got; the fields are those of ``server/calls.py``."""

    number: int
    operation: str
    about: str
    params: Mapping[str, Any]
    begin: float
    end: float | None
    code: str
    faults: Sequence[str]


@dataclass(frozen=True)
class Double:
    """A server that runs.

    Parameters
    ----------
    address
        Such as ``http://127.0.0.1:40123``; for SDKs as ``AWS_ENDPOINT_URL``.
    pid
        Of the server's process.
    """

    address: str
    pid: int

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to find this AWS and no other."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "double",
            "AWS_SECRET_ACCESS_KEY": "double",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,  # boto3's word for it
            "AWS_EC2_METADATA_DISABLED": "true",
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1"),
        }

    def api(self, service: str, attempts: int = 3) -> Any:
        """Return boto3's client of a service.

        Parameters
        ----------
        attempts
            How often a call is made that AWS throttles or whose answer is lost; 1 to see each answer.
        """
        return _api(self.address, service, attempts)

    def calls(self, after: int = 0) -> list[Call]:
        """Return the calls that arrived after the one with this number, oldest first."""
        return [Call(**each) for each in self._ask("GET", f"calls?after={after}")]

    def inventory(self) -> dict[str, list[str]]:
        """Return the ids of everything that exists, by type."""
        found: dict[str, list[str]] = self._ask("GET", "inventory")
        return found

    def set_faults(self, *rules: Rule) -> None:
        """Let these fault rules hold and no others; with none all is well."""
        self._ask("PUT", "faults", RULES.dump_json(rules))

    def set_scale(self, scale: float) -> None:
        """Let a second of AWS take this many real ones, for work that begins from now on."""
        self._ask("PUT", "clock", _json({"scale": scale}))

    def move(self, group: str, desired: int) -> None:
        """Give an Auto Scaling group another size, as the autoscaler does it."""
        self._ask("POST", "sizes", _json({"group": group, "desired": desired}))

    def leave_network_interface(self, subnet: str, groups: Sequence[str] = ()) -> str:
        """Put a network interface into a subnet that nobody cleans up, and return its id."""
        made: str = self._ask("POST", "network-interfaces", _json({"subnet": subnet, "groups": list(groups)}))
        return made

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        request = Request(f"{self.address}/_double/{path}", body, method=method)  # noqa: S310 our own address
        try:
            with _DIRECT.open(request, timeout=30) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise DoubleError(json.load(error)["error"]) from None


@contextmanager
def running(scale: float = 0.0, kubeconfig: Path | None = None) -> Iterator[Double]:
    """Start a server and stop it at the end.

    Parameters
    ----------
    scale
        Real seconds for a second of AWS; 0 means that all work is done at once.
    kubeconfig
        Of the API server that every EKS cluster leads to.
    """
    given = [] if kubeconfig is None else ["--kubeconfig", str(kubeconfig)]
    command = [sys.executable, "-m", "workbench.clouds.aws.double", "--scale", str(scale), *given]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "MOTO_"))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            address = process.stdout.readline().strip() if process.stdout else ""
            if not address:
                raise DoubleError(f"the AWS double did not start: it ended with code {process.wait(START)}")
            yield Double(address, process.pid)
        finally:
            process.terminate()
            process.wait(START)


def not_yet_there(operation: str, code: str, reads: int) -> ErrorRule:
    """Return a rule by which each thing is not found in its first reads, as right after it was made.

    Parameters
    ----------
    operation
        The read, such as ``eks:DescribeNodegroup``.
    code
        As the service words it, such as ``ResourceNotFoundException``.
    """
    return ErrorRule(operation=operation, each=True, times=reads, code=code, status=404, message="not found")


@cache  # a client takes a while to make
def _api(address: str, service: str, attempts: int) -> Any:
    return boto3.client(
        service,
        endpoint_url=address,
        region_name=REGION,
        aws_access_key_id="double",
        aws_secret_access_key="double",  # noqa: S106 nobody looks at it
        config=Config(retries={"mode": "standard", "total_max_attempts": attempts}, proxies={}),
    )


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
