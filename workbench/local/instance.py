"""A local control plane, as seen from outside: start, stop, look."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from workbench.local.layout import Layout, home
from workbench.local.prepare import prepare
from workbench.local.programs import PROGRAMS, Binaries, fingerprint, locate
from workbench.local.state import ComponentStatus, InstanceStatus, Settings, State
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

START_SECONDS = 90.0
"""How long a start may take; 4 to 8 s are usual."""
STOP_SECONDS = 60.0
"""How long an orderly stop may take before it is forced; 1 to 3 s are usual."""

_PAUSE = 0.05
_TAIL = 15


class Instance:
    """A named control plane: API server, scheduler, controllers and autoscaler, with simulated nodes.

    All of it listens on loopback only and lives in one folder of the user's data folder. Any number of instances
    runs side by side.

    Parameters
    ----------
    name
        A DNS label.

    Raises
    ------
    UserError
        The name is no DNS label.
    """

    def __init__(self, name: str) -> None:
        self._files = Layout.of(name)

    @property
    def name(self) -> str:
        """The instance's name."""
        return self._files.name

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, context ``igz-local-<name>``; exists from the first start on."""
        return self._files.kubeconfig()

    def start(self, binaries: Binaries, progress: Callable[[str], None] | None = None) -> bool:
        """Start the control plane and return when it can be used; if it runs, only wait for that.

        Parameters
        ----------
        binaries
            Where the programs are. If the instance runs with others, it is restarted.
        progress
            Called with a sentence a step. Default: nothing is told.

        Returns
        -------
        bool
            Whether this call started it.

        Raises
        ------
        UserError
            A component does not start; names it, its log and the end of it.
        """
        if sys.platform != "linux":
            raise UserError("The local control plane runs on Linux only.", "On Windows, use WSL2.")
        programs = locate(binaries)
        wanted, started, told = fingerprint(programs), False, set[str]()
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            # The lock is free: nobody runs the instance, or its supervisor has given up.
            if (lock := self._files.acquire()) is not None:
                self._launch(lock, programs, again=started)
                started = True
            state = self._state()
            news = [] if state is None else _news(state, wanted)
            for text in news:
                if progress and text not in told:
                    progress(text)
                told.add(text)
            if state and state.fingerprint != wanted:
                self.stop()
            elif state and state.ready:
                return started
            time.sleep(_PAUSE)
        late = next((part.name for part in self.status().components if part.state != "ready"), "")
        self.stop()
        raise self._failure(late)

    def stop(self) -> bool:
        """Stop all processes and wait until they are gone; the data stays.

        Returns
        -------
        bool
            Whether there was something to stop.

        Raises
        ------
        UserError
            Processes hold the instance that cannot be seen from here.
        """
        if not self._files.folder.exists():
            return False
        asked: set[int] = set()
        deadline = time.monotonic() + STOP_SECONDS
        while (lock := self._files.acquire()) is None:
            state = self._state()
            with suppress(psutil.NoSuchProcess):
                if state and state.pid not in asked:
                    psutil.Process(state.pid).terminate()
                    asked.add(state.pid)
                if time.monotonic() > deadline:
                    if state is None:
                        raise UserError(
                            f"'{self.name}' is held by processes that cannot be seen from here.",
                            f"Stop it where it was started, perhaps in another container: {self._files.folder}",
                        )
                    psutil.Process(state.pid).kill()  # the kernel kills its children with it
            time.sleep(_PAUSE)
        os.close(lock)
        return bool(asked)

    def delete(self) -> None:
        """Stop the instance and delete its folder: data, keys and logs."""
        self.stop()
        if self._files.folder.exists():
            shutil.rmtree(self._files.folder)

    def status(self) -> InstanceStatus:
        """Return how the instance is; works for one that never started, too."""
        state, settings = self._state(), Settings.load(self._files)
        parts = state.components if state else tuple(ComponentStatus(name) for name in PROGRAMS)
        pids = {part.name: part.pid for part in parts if part.pid}
        return InstanceStatus(
            name=self.name,
            running=state is not None,
            ready=state is not None and state.ready,
            ports=settings.ports,
            pids=pids | {"supervisor": state.pid} if state else {},
            versions=settings.versions,
            components=parts,
            age=time.time() - state.created if state else None,
        )

    def logs(self, component: str) -> Path:
        """Return the log of a component, or of the ``supervisor``.

        Raises
        ------
        UserError
            There is no such component, or it has written nothing yet.
        """
        if component not in {*PROGRAMS, "supervisor"}:
            raise UserError(f"There is no component {component!r}.", f"Components: {', '.join(PROGRAMS)}, supervisor.")
        path = self._files.log(component)
        if not path.exists():
            raise UserError(f"{component} of '{self.name}' has no log yet: it never started.")
        return path

    def _launch(self, lock: int, programs: dict[str, str], *, again: bool) -> None:
        """Start the supervisor and leave the lock to it; ``again`` says that one was started and is gone."""
        try:
            if again:
                last = State.load(self._files)
                raise self._failure(last.failed if last else "")
            self._files.state.unlink(missing_ok=True)
            prepare(self._files, programs)
            with self._files.log("supervisor").open("ab") as log:
                subprocess.run(
                    [sys.executable, "-m", "workbench.local.supervisor", str(self._files.folder), str(lock)],
                    cwd=PROJECT_ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(lock,),
                    start_new_session=True,  # Ctrl-C in the user's terminal is not meant for the control plane
                    check=True,
                )
        finally:
            os.close(lock)

    def _state(self) -> State | None:
        """Return what the supervisor says; None if it does not run, or has not said anything yet."""
        state = State.load(self._files)
        return state if state and state.is_alive() else None

    def _failure(self, component: str) -> UserError:
        log = self._files.log(component or "supervisor")
        lines = log.read_text(errors="replace").splitlines()[-_TAIL:] if log.exists() else []
        tail = "".join(f"\n  {line}" for line in lines)
        return UserError(
            f"The local control plane '{self.name}' did not start: {component or 'its supervisor'} failed."
            f" The end of {log}:{tail or ' (empty)'}",
            f"Mend what the log names and start again, or begin anew: igz-clusters local delete {self.name}",
        )


def instances() -> list[str]:
    """Return the names of all instances of this user, running or not."""
    return sorted(path.parent.name for path in home().glob("*/lock"))


def _news(state: State, wanted: str) -> list[str]:
    if state.fingerprint != wanted:
        return ["it runs with other programs: restarting it"]
    return [f"{part.name} is ready" for part in state.components if part.state == "ready"]
