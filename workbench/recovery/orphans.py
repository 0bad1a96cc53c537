"""Processes that outlived the run that started them: lock holders of a change, and all others by their mark."""

from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from workbench.engine.lock import held_by, names
from workbench.recovery.finding import Finding
from workbench.system.errors import UserError
from workbench.system.processes import abandoned

_GRACE = 60.0
"""Seconds for an engine to finish the step in flight and save."""
_LAST_GRACE = 3.0
"""Seconds for everything else."""


def orphans(stack: str, stack_file: Path | None = None) -> list[Finding]:
    """Return the processes of a killed run that still hold the stack, which is found as ``stack_lock`` says.

    Raises
    ------
    UserError
        The run is alive: there is nothing to recover from.
    """
    held = held_by(stack, stack_file)
    if held.is_running:
        raise UserError(
            f"The stack '{stack}' is being changed by {held.run}: there is nothing to recover from.",
            "Wait until it ends, or press Ctrl-C where it runs: it finishes the step in flight and saves.",
        )
    others = [process for process in abandoned(stack, stack_file) if process not in held.processes]
    _, others = psutil.wait_procs(others, timeout=_LAST_GRACE)  # a run may have ended only a moment ago
    found = [(f"{held.run} was killed", held.processes), (f"A run that only read '{stack}' was killed", others)]
    return [
        Finding(
            f"{what}; what it started still runs: {names(processes)}.",
            f"Give an engine among them up to {_GRACE:.0f} s to finish its step and save; then end them.",
            partial(_end, processes),
        )
        for what, processes in found
        if processes
    ]


def _end(processes: list[psutil.Process]) -> None:
    engines = [process for process in processes if process.is_running() and process.name() == "pulumi"]
    # The kernel has asked an engine to end in order when its command died. Asked twice, it drops what it does.
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
