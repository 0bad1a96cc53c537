"""A supervised process."""

import subprocess
import time
from collections.abc import Callable

from workbench.local.components import Component
from workbench.local.state import ComponentState, ComponentStatus

_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_SETTLED = 1.0
_STEADY = 60.0
_STOP_TIMEOUT = 10.0


class Child:
    """A component's process: started, probed until ready, restarted when it crashes.

    Parameters
    ----------
    component
        The component to run.
    launch
        Starts it.
    probe
        Returns whether it is healthy; None if the component has no health endpoint.
    """

    def __init__(
        self,
        component: Component,
        launch: Callable[[Component], subprocess.Popen[bytes]],
        probe: Callable[[], bool] | None,
    ) -> None:
        self.component = component
        self.state: ComponentState = "waiting"
        self.failures = 0
        """Crashes in a row."""
        self._launch = launch
        self._probe = probe
        self._process: subprocess.Popen[bytes] | None = None
        self._restarts = 0
        self._started = 0.0
        self._due = 0.0

    @property
    def status(self) -> ComponentStatus:
        """Name, state, process id and restarts."""
        pid = self._process.pid if self._process else None
        return ComponentStatus(self.component.name, self.state, pid, self._restarts)

    def step(self) -> None:
        """Record a crash, start the process when due, or probe whether it is ready."""
        now = time.monotonic()
        if self._process is not None and self._process.poll() is not None:
            self._process = None
            self.failures = 1 if now - self._started > _STEADY else self.failures + 1
            self._due = now + min(_LONGEST_PAUSE, _PAUSE * 2 ** (self.failures - 1))
            self.state = "crashed"
        if self._process is None:
            if now >= self._due:
                self._restarts += self.state == "crashed"
                self._process = self._launch(self.component)
                self.state, self._started = "starting", now
        elif self.state == "starting" and self._is_healthy(now):
            self.state = "ready"

    def stop(self) -> None:
        """Stop the process, with SIGKILL after 10 s, and wait until it has ended."""
        if self._process is not None:
            self._process.send_signal(self.component.stop)
            try:
                self._process.wait(_STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self.state, self.failures, self._due = "waiting", 0, 0.0

    def _is_healthy(self, now: float) -> bool:
        return self._probe() if self._probe else now - self._started >= _SETTLED
