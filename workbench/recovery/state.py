"""What a killed run, or a disk, did to a stack's state."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from workbench.engine import pending
from workbench.engine.backend import CorruptStateError, EngineLock, StateFiles, meta_is_damaged, read, restore_meta
from workbench.recovery.finding import Finding


def state_findings(stack: str) -> list[Finding]:
    """Return everything that must be repaired before the engine changes the stack; empty for a stack in order.

    The caller holds the stack's lock, so no run of ours is under way. It takes milliseconds.
    """
    files = StateFiles(stack)
    locks = files.locks()
    if any(lock.is_alive or lock.is_elsewhere for lock in locks):
        return lock_findings(locks)  # what the state says while somebody works on it is no finding
    return [*lock_findings(locks), *_meta(), *_state(files)]


def lock_findings(locks: Sequence[EngineLock]) -> list[Finding]:
    """Return what is to be done about the engine's locks on one stack; as long as one is in use, about that."""
    return [_lock(lock) for lock in locks if lock.is_alive or lock.is_elsewhere] or [*map(_lock, locks)]


def _lock(lock: EngineLock) -> Finding:
    found = f"The engine's lock of process {lock.pid} ({lock.user}@{lock.host}, {lock.since})"
    if lock.is_elsewhere:
        way = f"Wait for it, or run `pulumi cancel` there. If that machine is gone, delete {lock.file}."
        return Finding(f"{found} was made on another machine.", way)
    if lock.is_alive:
        return Finding(f"{found} is in use: `pulumi` works on the stack.", "Wait until it ends.")
    return Finding(f"{found} is stale: that process is gone.", "Delete this lock, and no other.", lock.remove)


def _meta() -> list[Finding]:
    if not meta_is_damaged():
        return []
    return [Finding("The engine's note about its folder of states is damaged.", "Write it anew.", restore_meta)]


def damage_findings(files: StateFiles) -> list[Finding]:
    """Return what is to be done about a state file that the engine could not read; empty for a whole one."""
    try:
        files.deployment()
    except CorruptStateError as error:
        return [_damage(files, str(error))]
    return []


def _state(files: StateFiles) -> list[Finding]:
    if damage := damage_findings(files):
        return damage
    deployment = files.deployment()
    if not (operations := pending.operations(deployment)):
        return []
    count = "1 operation" if len(operations) == 1 else f"{len(operations)} operations"
    found = f"A run was killed in the middle of {count}: {', '.join(operations)}."
    try:
        repaired = pending.resolved(deployment)
    except pending.UnresolvableError as error:
        return [
            Finding(
                found,
                f"Look whether {error} exists, and if so `pulumi import` it. "
                "Then run `pulumi refresh --clear-pending-creates`.",
            )
        ]
    remedy = "Enter them into the state as done; the next `up` starts by comparing the state with the cluster."
    return [Finding(found, remedy, partial(files.save, repaired))]


def _damage(files: StateFiles, reason: str) -> Finding:
    found = f"The state file {files.current} is damaged: {reason}."
    copy = files.newest_intact_copy()
    if copy is None:
        remedy = (
            "There is no whole copy of it. Keep what is left under another name and begin with an empty state; "
            "the next `up` takes over what is in the cluster."
        )
        return Finding(found, remedy, files.set_aside)
    remedy = (
        f"Keep it under another name and put back the newest whole copy, {_described(copy)}; the next `up` starts by "
        "comparing it with the cluster."
    )
    return Finding(found, remedy, partial(_restore, files, copy))


def _restore(files: StateFiles, copy: Path) -> None:
    files.set_aside()
    files.restore(copy)


def _described(copy: Path) -> str:
    changed = datetime.fromtimestamp(copy.stat().st_mtime).astimezone()
    return f"of {changed:%Y-%m-%d %H:%M:%S} with {len(read(copy)['resources'])} resources"
