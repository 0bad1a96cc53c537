"""Starts an AWS emulator and controls it: what tests use in addition to AWS's own API."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.config import Config

from emulators.aws.server import REGION
from emulators.core.client import Program, Running, as_json, started

PROGRAM: Final = Program("AWS", "emulators.aws", ("AWS_", "MOTO_"))


@dataclass(frozen=True)
class Emulator(Running):
    """A server that runs; its address is for SDKs ``AWS_ENDPOINT_URL``."""

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to find this AWS and no other."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "emulator",
            "AWS_SECRET_ACCESS_KEY": "emulator",
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

    def move(self, group: str, desired: int) -> None:
        """Give an Auto Scaling group another size, as the autoscaler does it."""
        self._ask("POST", "sizes", as_json({"group": group, "desired": desired}))

    def run_backups(self, at: datetime) -> list[str]:
        """Let it be a minute for AWS Backup, as late as ``at``, and return the ARNs of what it begins to back up."""
        begun: list[str] = self._ask("POST", "backups", as_json({"at": at.isoformat()}))
        return begun

    def run_schedules(self, at: datetime) -> list[str]:
        """Run every scheduled action whose minute this is, and return their groups and names."""
        ran: list[str] = self._ask("POST", "schedules", as_json({"at": at.isoformat()}))
        return ran

    def set_circumstances(self, **circumstances: Any) -> None:
        """Let these of ``server.circumstances.Circumstances`` hold around the account, and the rest be as usual."""
        self._ask("PUT", "circumstances", as_json(circumstances))

    def leave_network_interface(self, subnet: str, groups: Sequence[str] = ()) -> str:
        """Put a network interface that is never cleaned up into a subnet, and return its id."""
        made: str = self._ask("POST", "network-interfaces", as_json({"subnet": subnet, "groups": list(groups)}))
        return made


@contextmanager
def running(scale: float = 0.0, kubeconfig: Path | None = None) -> Iterator[Emulator]:
    """Start a server and stop it at the end; parameters as of ``started``."""
    with started(PROGRAM, scale, kubeconfig) as (address, pid):
        yield Emulator(address, pid)


@cache  # a client takes a while to make
def _api(address: str, service: str, attempts: int) -> Any:
    return boto3.client(
        service,
        endpoint_url=address,
        region_name=REGION,
        aws_access_key_id="emulator",
        aws_secret_access_key="emulator",  # noqa: S106 it is never checked
        config=Config(retries={"mode": "standard", "total_max_attempts": attempts}, proxies={}),
    )
