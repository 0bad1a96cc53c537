"""Controls a local control plane from outside: start, stop, status."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import psutil

from workbench.local import deletion
from workbench.local.bootstrap import judges_pods
from workbench.local.components import Health
from workbench.local.endpoint import Endpoint
from workbench.local.layout import Layout, home
from workbench.local.ports import is_free
from workbench.local.prepare import prepare
from workbench.local.programs import Binaries, fingerprint, locate
from workbench.local.state import ComponentStatus, InstanceStatus, Settings, State, Tuning
from workbench.system import locks
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.system.processes import is_suspended

START_SECONDS = 90.0
"""Seconds that a start may take; 4 to 8 s is usual."""
STOP_SECONDS = 60.0
"""Seconds that an orderly stop may take before it is forced; 1 to 3 s is usual."""

ADMISSION_SECONDS = 45.0
"""Longest wait until the API server has found the parameters of its admission policies; it polls every 30 s."""

_KILL_SECONDS = 10.0
"""Seconds until the children of a killed supervisor have ended."""
_PAUSE = 0.05
_LOOKS_EVERY = 0.25
_TAIL = 15


class Instance:
    """A named control plane: API server, scheduler, controllers and autoscaler, with simulated nodes.

    All processes listen on loopback only; all files are in one folder of the user's data folder. Any number of
    instances can run side by side.

    Parameters
    ----------
    name
        A DNS label.

    Raises
    ------
    UserError
        The name is not a DNS label.
    """

    def __init__(self, name: str) -> None:
        self._files = Layout.of(name)

    @property
    def name(self) -> str:
        """The instance's name."""
        return self._files.name

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, context ``igz-local-<name>``; written by the first start."""
        return self._files.kubeconfig()

    @property
    def pki(self) -> Path:
        """Folder of its certificates and keys; written by the first start."""
        return self._files.pki

    def configure(self, tuning: Tuning) -> None:
        """Set how the instance differs from the usual one; applies from its next start, and until it is deleted.

        Parameters
        ----------
        tuning
            Flags, settings of scheduler and simulator, an older minor, and the process whose end ends the instance.
        """
        self._files.create()
        Settings.load(self._files).tuned(tuning).save(self._files)

    def start(
        self,
        binaries: Binaries,
        progress: Callable[[str], None] | None = None,
        alone: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> bool:
        """Start the control plane if it is not running, and wait until it is ready.

        Parameters
        ----------
        binaries
            Where the programs are. If the instance runs with others, it is restarted.
        progress
            Receives a sentence per step. Default: none.
        alone
            Entered before the instance is stopped; raises ``UserError`` if another process uses it. Default: none does.

        Returns
        -------
        bool
            Whether this call started it.

        Raises
        ------
        UserError
            A component does not start; names it and shows the end of its log.
        """
        if sys.platform != "linux":
            raise UserError("The local control plane requires Linux.", "On Windows, use WSL2.")
        programs = locate(binaries, self._programs)
        current, started, reported = fingerprint(programs), False, set[str]()
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            # The lock is free: the instance is not running, or its supervisor has given up.
            if (lock := self._files.acquire()) is not None:
                self._launch(lock, programs, again=started)
                started = True
            state = self._state()
            news = [] if state is None else _news(state, current)
            for text in news:
                if progress and text not in reported:
                    progress(text)
                reported.add(text)
            if state and state.fingerprint != current:
                with alone():
                    self.stop()
            elif state and state.ready:
                self._require_awake()
                return started
            time.sleep(_PAUSE)
        late = next((each.name for each in self.status().components if each.state != "ready"), "")
        with alone():
            self.stop()
        raise self._failure(late)

    def wait_for_admission(self, seconds: float = ADMISSION_SECONDS) -> bool:
        """Wait until the API server can admit user pods; after a first `up` it refuses all of them for half a minute.

        Parameters
        ----------
        seconds
            Longest wait.

        Returns
        -------
        bool
            Whether it can.
        """
        health = Health(Settings.load(self._files).ports["kube-apiserver"], "/")
        api = Endpoint.of(health, self._files.pki)
        deadline = time.monotonic() + seconds
        while not (is_ready := judges_pods(api)) and time.monotonic() < deadline:
            time.sleep(_LOOKS_EVERY)
        return is_ready

    def stop(self) -> bool:
        """Stop all processes and wait until they have ended; keeps the data.

        Returns
        -------
        bool
            Whether anything was running.

        Raises
        ------
        UserError
            Processes that are not visible to this user or container, or that it may not end, hold the instance.
        """
        lock, was_running = self._stopped()
        if lock is not None:
            os.close(lock)
        return was_running

    def delete(self) -> None:
        """Stop the instance and delete its folder: data, keys and logs.

        Raises
        ------
        UserError
            As in ``stop``; or not everything can be deleted: names what is left.
        """
        lock, _ = self._stopped()
        if lock is None:
            return
        try:
            deletion.delete(self._files)
        finally:
            os.close(lock)

    def _stopped(self) -> tuple[int | None, bool]:
        """Stop all processes; return the lock, or None if there is no instance, and whether anything was running."""
        signalled: set[int] = set()
        deadline = time.monotonic() + STOP_SECONDS
        while self._files.folder.exists():
            if (lock := self._files.acquire()) is not None:
                return lock, bool(signalled)
            state = self._state()
            try:
                if state and state.pid not in signalled:
                    supervisor = psutil.Process(state.pid)
                    supervisor.terminate()
                    supervisor.resume()  # a suspended process receives no signal
                    signalled.add(state.pid)
                if time.monotonic() > deadline:
                    if state is None:
                        raise self._held("processes that are not visible here")
                    psutil.Process(state.pid).kill()  # the kernel kills its children with it
                    deadline = time.monotonic() + _KILL_SECONDS
            except psutil.NoSuchProcess:
                pass
            except psutil.AccessDenied as denied:
                raise self._held(f"process {denied.pid}, which this user may not end") from None
            time.sleep(_PAUSE)
        return None, bool(signalled)

    def _held(self, by: str) -> UserError:
        return UserError(
            f"'{self.name}' is in use by {by}.",
            f"Stop it where it was started, perhaps in another container. Folder: {self._files.folder}",
        )

    def status(self) -> InstanceStatus:
        """Return the instance's status, even if it never started."""
        state, settings = self._state(), Settings.load(self._files)
        processes = state.components if state else tuple(ComponentStatus(name) for name in self._programs)
        pids = {each.name: each.pid for each in processes if each.pid} | ({"supervisor": state.pid} if state else {})
        suspended = {name: pid for name, pid in pids.items() if _is_suspended(pid)} if state else {}
        shown = (replace(each, state="suspended") if each.name in suspended else each for each in processes)
        return InstanceStatus(
            name=self.name,
            running=state is not None,
            ready=state is not None and state.ready and not suspended,
            ports=settings.ports,
            pids=pids if state else {},
            versions=settings.versions,
            components=tuple(shown),
            age=time.time() - state.created if state else None,
            suspended=tuple(f"{pid} {name}" for name, pid in suspended.items()),
        )

    def _require_awake(self) -> None:
        if suspended := self.status().suspended:
            ids = " ".join(each.partition(" ")[0] for each in suspended)
            raise UserError(
                f"The local control plane '{self.name}' does not answer: a signal suspended {', '.join(suspended)}.",
                f"`kill -CONT {ids}` continues it, or stop it and start again: igz-clusters local stop {self.name}",
            )

    def logs(self, component: str) -> Path:
        """Return the log of a component, or of the ``supervisor``.

        Raises
        ------
        UserError
            The component is unknown or has no log: it has never started.
        """
        if component not in (known := (*self._programs, "supervisor")):
            raise UserError(f"Unknown component {component!r}.", f"Components: {', '.join(known)}.")
        path = self._files.log(component)
        if not path.exists():
            raise UserError(f"{component} of '{self.name}' has no log: it has never started.")
        return path

    @property
    def _programs(self) -> tuple[str, ...]:
        """Names of its programs, in start order."""
        return Settings.load(self._files).tuning.programs

    def _launch(self, lock: int, programs: dict[str, str], *, again: bool) -> None:
        """Start the supervisor and hand it the lock; ``again`` means that one was started and has ended."""
        try:
            # Another process may take a port after it was chosen and before the component listens: choose again.
            if again and all(map(is_free, Settings.load(self._files).ports.values())):
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
                    start_new_session=True,  # Ctrl-C in the user's terminal must not stop the control plane
                    check=True,
                )
        finally:
            os.close(lock)

    def _state(self) -> State | None:
        """Return the state that the supervisor saved; None if it is not running here or has not saved any."""
        state = State.load(self._files)
        return state if state and locks.holds(state.pid, self._files.lock) else None

    def _failure(self, component: str) -> UserError:
        log = self._files.log(component or "supervisor")
        lines = log.read_text(errors="replace").splitlines()[-_TAIL:] if log.exists() else []
        tail = "".join(f"\n  {line}" for line in lines)
        return UserError(
            f"The local control plane '{self.name}' did not start: {component or 'its supervisor'} failed."
            f" The end of {log}:{tail or ' (empty)'}",
            f"Fix the error in the log and start again, or start over: igz-clusters local delete {self.name}",
        )


def instances() -> list[str]:
    """Return the names of all instances of this user, running or not."""
    return sorted(path.parent.name for path in home().glob("[!.]*/lock"))


def remove_abandoned(prefix: str) -> list[str]:
    """Delete the instances whose owner has ended, and return their names.

    Parameters
    ----------
    prefix
        Prefix of the names to check.
    """
    found = []
    for doomed in home().glob(f".{prefix}*"):  # of deletions that were killed
        deletion.undeleted(doomed)
    for folder in sorted(home().glob(f"{prefix}*")):
        owner = Settings.load(Layout(folder)).owner
        if owner is not None and not owner.is_alive():
            Instance(folder.name).delete()
            found.append(folder.name)
    return found


def _is_suspended(pid: int) -> bool:
    with suppress(psutil.Error):
        return is_suspended(psutil.Process(pid))
    return False


def _news(state: State, current: str) -> list[str]:
    if state.fingerprint != current:
        return ["restarting it: its programs have changed"]
    return [f"{each.name} is ready" for each in state.components if each.state == "ready"]
