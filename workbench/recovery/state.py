"""Findings about a stack's locks and state files."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from workbench.engine import pending
from workbench.engine.backend import CorruptStateError, EngineLock, StateFiles, meta_is_damaged, read, restore_meta
from workbench.recovery.finding import Finding


def state_findings(stack: str) -> list[Finding]:
    """Return everything to repair before the engine changes the stack; empty for a healthy stack.

    The caller holds the stack's lock, so none of our runs is active. Takes milliseconds.
    """
    files = StateFiles(stack)
    locks = files.locks()
    if any(lock.is_alive or lock.is_elsewhere for lock in locks):
        return lock_findings(locks)  # a state in use is not inspected
    return [*lock_findings(locks), *_meta(), *_state(files)]


def lock_findings(locks: Sequence[EngineLock]) -> list[Finding]:
    """Return findings about the engine's locks on one stack: those in use if there are any, else the stale ones."""
    return [_lock(lock) for lock in locks if lock.is_alive or lock.is_elsewhere] or [*map(_lock, locks)]


def _lock(lock: EngineLock) -> Finding:
    found = f"The engine's lock of process {lock.pid} ({lock.user}@{lock.host}, {lock.since})"
    if lock.is_elsewhere:
        way = f"Wait for that run, or run `pulumi cancel` there. If that machine no longer exists, delete {lock.file}."
        return Finding(f"{found} was taken on another machine.", way)
    if lock.is_alive:
        return Finding(f"{found} is in use: `pulumi` is changing the stack.", "Wait until it ends.")
    return Finding(f"{found} is stale: that process has ended.", "Delete only this lock.", lock.remove)


def _meta() -> list[Finding]:
    if not meta_is_damaged():
        return []
    return [Finding("The layout file meta.yaml in the engine's state folder is damaged.", "Rewrite it.", restore_meta)]


def damage_findings(files: StateFiles) -> list[Finding]:
    """Return findings about a corrupt state file; empty if it is intact."""
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
    found = f"A run was killed during {count}: {', '.join(operations)}."
    try:
        repaired = pending.resolved(deployment)
    except pending.UnresolvableError as error:
        return [
            Finding(
                found,
                f"Check whether {error} exists, and if so `pulumi import` it. "
                "Then run `pulumi refresh --clear-pending-creates`.",
            )
        ]
    remedy = "Record them in the state as done; the next `up` first compares the state with the cluster."
    return [Finding(found, remedy, partial(files.save, repaired))]


def _damage(files: StateFiles, reason: str) -> Finding:
    found = f"The state file {files.current} is damaged: {reason}."
    copy = files.newest_intact_copy()
    if copy is None:
        remedy = (
            "No intact copy exists. Rename the damaged files and start with an empty state; the next `up` adopts what "
            "is in the cluster."
        )
        return Finding(found, remedy, files.set_aside)
    remedy = (
        f"Rename it and restore the newest intact copy, {_described(copy)}; the next `up` first compares it with the "
        "cluster."
    )
    return Finding(found, remedy, partial(_restore, files, copy))


def _restore(files: StateFiles, copy: Path) -> None:
    files.set_aside()
    files.restore(copy)


def _described(copy: Path) -> str:
    changed = datetime.fromtimestamp(copy.stat().st_mtime).astimezone()
    return f"of {changed:%Y-%m-%d %H:%M:%S} with {len(read(copy)['resources'])} resources"
