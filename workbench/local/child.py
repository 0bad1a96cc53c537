"""A process that is kept running."""

import subprocess
import time
from collections.abc import Callable

from workbench.local.components import Component
from workbench.local.state import ComponentState, ComponentStatus

_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_SETTLED = 1.0
_STEADY = 60.0
_PATIENCE = 10.0


class Child:
    """A component's process: started, probed until it is ready, started again when it crashes.

    Parameters
    ----------
    component
        What runs.
    launch
        Starts it.
    probe
        Asks whether it is healthy; None if that cannot be asked.
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
        """How it is."""
        pid = self._process.pid if self._process else None
        return ComponentStatus(self.component.name, self.state, pid, self._restarts)

    def step(self) -> None:
        """Do what is due: note a crash, start, or ask whether it is ready."""
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
        """End the process, by force if it does not listen, and wait for its end."""
        if self._process is not None:
            self._process.send_signal(self.component.stop)
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self.state, self.failures, self._due = "waiting", 0, 0.0

    def _is_healthy(self, now: float) -> bool:
        return self._probe() if self._probe else now - self._started >= _SETTLED
