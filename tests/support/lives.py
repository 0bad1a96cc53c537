"""Lives of parts of a stack on an emulator: brought up, changed, killed on the way, and gone."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from emulators.core.faults import KillRule, Moment
from support import aws_emulator, azure_emulator
from support.aws_emulator import Account
from support.cloud_account import CloudAccount

SMALL: Final[dict[str, Any]] = {f"pools__{pool}": None for pool in ("jupyter", "gpu", "spot")}
"""Changes of a stack file that leave it two pools."""

Cloud = TypeVar("Cloud", bound=CloudAccount)


@contextmanager
def hollow(cloud: type[Cloud], folder: Path, stack: str, **choices: Any) -> Iterator[Cloud]:
    """Yield a cloud with a small stack file: without an API server, without packs, and without the policy guard."""
    with cloud.hollow(folder, stack, is_quick=True) as made:
        made.edit(stack, policyGuard="off", **SMALL, **choices)
        yield made


def bring_up(cloud: CloudAccount, stack: str, **choices: Any) -> list[str]:
    """Change choices of a stack file, bring the stack up, and return the operations that change something, sorted."""
    cloud.edit(stack, **choices)
    last = cloud.last
    cloud.plain(stack, "up", "--yes", "--skip-preview")
    emulator = aws_emulator if isinstance(cloud, Account) else azure_emulator
    return sorted(each.operation for each in emulator.writes(cloud.emulator.calls(last)))


def killed(cloud: CloudAccount, stack: str, operation: str, command: str = "up") -> None:
    """Bring the stack up, or run another command that changes it, and kill that after a call was done."""
    process = cloud.start(command, stack, "--hermetic", "--yes", PULUMI_K8S_DELETE_UNREACHABLE="true")
    rule = KillRule(operation=operation, times=1, pids=(process.pid,), moment=Moment.AFTER)
    cloud.emulator.set_faults(rule)
    printed, _ = process.communicate(timeout=900)
    cloud.emulator.set_faults()
    assert process.returncode == -signal.SIGKILL, printed[-4000:]


def kill(cloud: CloudAccount, stack: str, operation: str) -> None:
    """Bring the stack up, kill that after a call was done, recover, and bring it up again."""
    killed(cloud, stack, operation)
    cloud.run("recover", stack, "--hermetic", "--yes")
    cloud.run("up", stack, "--hermetic", "--yes")


def identities(cloud: CloudAccount, stack: str) -> tuple[set[str], set[str]]:
    """Return type and id of what the state of the only stack names in its cloud, and of what is there."""
    if isinstance(cloud, Account):
        return aws_emulator.identities(cloud, stack)
    assert isinstance(cloud, azure_emulator.Subscription)
    return azure_emulator.identities(cloud, stack)


def backups(cloud: CloudAccount, stack: str, *, code: int = 0) -> list[dict[str, Any]]:
    """Return the backups as the command lists them; it ends with ``code``."""
    done = cloud.run("backup", "list", stack, "--json", check=False)
    assert done.returncode == code, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["backups"]
    return found
