"""Processes still running after their run was killed: lock holders of a change, and others by their marker."""

from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from workbench.engine.lock import held_by, names
from workbench.recovery.finding import Finding
from workbench.system.errors import UserError
from workbench.system.processes import abandoned

_GRACE = 60.0
"""Seconds for an engine to finish its current step and save the state."""
_LAST_GRACE = 3.0
"""Seconds for all other processes."""


def orphans(stack: str, stack_file: Path | None = None) -> list[Finding]:
    """Return findings about processes of a killed run that still hold the stack's lock; parameters as ``stack_lock``.

    Raises
    ------
    UserError
        The run is still active.
    """
    held = held_by(stack, stack_file)
    if held.is_running:
        raise UserError(
            f"The stack '{stack}' is being changed by {held.run}; there is nothing to recover.",
            "Wait until it ends, or press Ctrl-C where it runs: it finishes its current step and saves the state.",
        )
    others = [process for process in abandoned(stack, stack_file) if process not in held.processes]
    _, others = psutil.wait_procs(others, timeout=_LAST_GRACE)  # a run may have just ended
    found = [(f"{held.run} was killed", held.processes), (f"A run that only read '{stack}' was killed", others)]
    return [
        Finding(
            f"{what}, but its processes are still running: {names(processes)}.",
            f"Wait up to {_GRACE:.0f} s for the engine to finish its step and save the state, then end them.",
            partial(_end, processes),
        )
        for what, processes in found
        if processes
    ]


def _end(processes: list[psutil.Process]) -> None:
    engines = [process for process in processes if process.is_running() and process.name() == "pulumi"]
    # The kernel sent the engine SIGTERM when its command died; a second signal would make it abort its step.
    psutil.wait_procs(engines, timeout=_GRACE)
    for group, grace in ((engines, _LAST_GRACE), (processes, _LAST_GRACE)):
        for process in group:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        _, alive = psutil.wait_procs(group, timeout=grace)
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(alive, timeout=_LAST_GRACE)
