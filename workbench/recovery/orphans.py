"""Processes still running after their run was killed: lock holders of a change, and others by their marker."""

from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from workbench.engine.lock import Held, held_by, names, still_running
from workbench.recovery.finding import Finding
from workbench.system.processes import abandoned

_GRACE = 60.0
"""Seconds for an engine to finish its current step and save the state."""
_LAST_GRACE = 3.0
"""Seconds for all other processes."""


def orphans(stack: str, stack_file: Path | None = None, *, force: bool = False) -> list[Finding]:
    """Return findings about processes of a killed run that still hold the stack's lock.

    Parameters
    ----------
    stack, stack_file
        As of ``stack_lock``.
    force
        Treat a run that is still active as hanging: list its processes, to be ended. Default: False.

    Raises
    ------
    UserError
        The run is still active, and ``force`` is False.
    """
    held = held_by(stack, stack_file)
    if held.is_running and not force:
        raise still_running(stack, held, "; there is nothing to recover")
    if held.is_running:
        return [_hanging(held)]
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


def _hanging(held: Held) -> Finding:
    processes = held.of_the_run
    return Finding(
        f"{held.run} is still running, with the processes {names(processes)}.",
        f"End it: continue what is suspended, wait up to {_GRACE:.0f} s for the engine to finish its step and save the "
        "state, then kill what is left.",
        partial(_end, processes, processes[0]),
    )


def _end(processes: list[psutil.Process], command: psutil.Process | None = None) -> None:
    """End processes of one run; ``command`` first, whose end makes the kernel send the engine SIGTERM."""
    with suppress(psutil.NoSuchProcess):
        if command:
            command.kill()
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.resume()
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
