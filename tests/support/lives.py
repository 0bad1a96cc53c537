"""Lives of parts of a stack on an emulator: brought up, changed, killed on the way, and gone."""

import signal
from typing import Any

from emulators.core.faults import KillRule, Moment
from support import aws_emulator, azure_emulator
from support.aws_emulator import Account
from support.cloud_account import CloudAccount


def bring_up(cloud: CloudAccount, stack: str, **choices: Any) -> list[str]:
    """Change choices of a stack file, bring the stack up, and return the operations that change something, sorted."""
    cloud.edit(stack, **choices)
    last = cloud.last
    cloud.plain(stack, "up", "--yes", "--skip-preview")
    emulator = aws_emulator if isinstance(cloud, Account) else azure_emulator
    return sorted(each.operation for each in emulator.writes(cloud.emulator.calls(last)))


def kill(cloud: CloudAccount, stack: str, operation: str) -> None:
    """Bring the stack up, kill that after a call was done, recover, and bring it up again."""
    process = cloud.start("up", stack, "--hermetic", "--yes")
    rule = KillRule(operation=operation, times=1, pids=(process.pid,), moment=Moment.AFTER)
    cloud.emulator.set_faults(rule)
    printed, _ = process.communicate(timeout=900)
    cloud.emulator.set_faults()
    assert process.returncode == -signal.SIGKILL, printed[-4000:]
    cloud.run("recover", stack, "--hermetic", "--yes")
    cloud.run("up", stack, "--hermetic", "--yes")


def identities(cloud: CloudAccount, stack: str) -> tuple[set[str], set[str]]:
    """Return type and id of what the state of the only stack names in its cloud, and of what is there."""
    if isinstance(cloud, Account):
        return aws_emulator.identities(cloud, stack)
    assert isinstance(cloud, azure_emulator.Subscription)
    return azure_emulator.identities(cloud, stack)
