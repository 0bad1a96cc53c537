"""The process that runs a control plane: ``python -m workbench.local.supervisor FOLDER LOCK``."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGCHLD, SIGINT, SIGTERM
from subprocess import Popen

import psutil

from workbench.local.bootstrap import accepts_pods, grant_rights, judges_pods, release_nodes
from workbench.local.child import Child
from workbench.local.components import Component, Health, components
from workbench.local.endpoint import Endpoint
from workbench.local.instance import ADMISSION_SECONDS
from workbench.local.launcher import Launcher
from workbench.local.layout import Layout
from workbench.local.pools import PoolKeeper
from workbench.local.programs import AUTOSCALER
from workbench.local.state import Settings, State

_CALM, _BUSY = 1.0, 0.05
_ATTEMPTS = 3


class Supervisor:
    """Starts the components in order, keeps them running, and stops them in reverse order.

    Parameters
    ----------
    layout
        The instance's files; its settings, certificates and kubeconfigs must be there.
    lock
        Descriptor of the instance's lock.
    """

    def __init__(self, layout: Layout, lock: int) -> None:
        self._layout = layout
        self._settings = Settings.load(layout)
        self._launcher = Launcher(layout, self._settings.programs, lock)
        self._api = self._endpoint(Health(self._settings.ports["kube-apiserver"], "/"))
        started = components(layout, self._settings.ports, self._settings.tuning)
        self._children = {each.name: Child(each, self._launch, self._probe(each)) for each in started}
        self._autoscaler = self._children.get(AUTOSCALER)
        self._pools = PoolKeeper(self._api, self._autoscaler) if self._autoscaler else None
        self._accepts_pods = False
        self._started = time.monotonic()
        self._was_ready = False
        self._failed = ""
        self._saved: State | None = None

    def run(self) -> None:
        """Supervise until a stop signal arrives, the start has failed, or the owner has ended."""
        # Wait for signals instead of handling them, so that they never interrupt a step.
        signal.pthread_sigmask(signal.SIG_BLOCK, (SIGCHLD, SIGINT, SIGTERM))
        try:
            while not self._failed and (self._settings.owner is None or self._settings.owner.is_alive()):
                self._step()
                received = signal.sigtimedwait((SIGCHLD, SIGINT, SIGTERM), _CALM if self._is_calm else _BUSY)
                if received and received.si_signo != SIGCHLD:
                    break
        finally:
            for child in reversed(self._children.values()):
                child.stop()
                child.state = "stopped"
            self._save()

    def _step(self) -> None:
        for child in self._core:
            if child.state != "waiting" or all(self._children[name].state == "ready" for name in child.component.needs):
                child.step()
            if not self._was_ready and child.failures >= _ATTEMPTS:
                self._failed = child.component.name
        self._accepts_pods = self._accepts_pods or (self._core_is_ready and self._does_accept_pods())
        self._was_ready = self._was_ready or self._is_ready
        if self._pools and self._is_ready:
            self._pools.step()
        self._save()

    def _does_accept_pods(self) -> bool:
        # With a limit: a cluster whose policies' parameters were deleted must start, so that it can be repaired.
        is_late = time.monotonic() > self._started + ADMISSION_SECONDS
        return accepts_pods(self._api) and (is_late or judges_pods(self._api))

    @property
    def _core(self) -> list[Child]:
        return [child for child in self._children.values() if child is not self._autoscaler]

    @property
    def _core_is_ready(self) -> bool:
        return all(child.state == "ready" for child in self._core)

    @property
    def _is_ready(self) -> bool:
        return self._accepts_pods and self._core_is_ready

    @property
    def _is_calm(self) -> bool:
        return self._is_ready and (self._autoscaler is None or self._autoscaler.state in {"ready", "waiting"})

    def _save(self) -> None:
        state = State(
            pid=os.getpid(),
            created=psutil.Process().create_time(),
            fingerprint=self._settings.fingerprint,
            ready=self._is_ready,
            failed=self._failed,
            components=tuple(child.status for child in self._children.values()),
        )
        if state != self._saved:
            state.save(self._layout)
            self._saved = state

    def _launch(self, component: Component) -> Popen[bytes]:
        if component.name == "kwok":
            release_nodes(self._api)
        return self._launcher.start(component)

    def _probe(self, component: Component) -> Callable[[], bool] | None:
        health = component.health
        if health is None:
            return None
        endpoint = self._endpoint(health)
        if component.name == "etcd":
            return lambda: endpoint.is_ok(health.path) and self._note_etcd_started()
        if component.name == "kube-apiserver":
            # Not ready for users before the simulator has its rights.
            return lambda: endpoint.is_ok(health.path) and grant_rights(endpoint, self._children)
        return lambda: endpoint.is_ok(health.path)

    def _note_etcd_started(self) -> bool:
        """Record, before the first write, that etcd may hold data."""
        self._layout.first_start.unlink(missing_ok=True)
        return True

    def _endpoint(self, health: Health) -> Endpoint:
        return Endpoint.of(health, self._layout.pki)


def main() -> None:
    """Run in the background: the caller returns at once; this process keeps the lock."""
    if os.fork():
        os._exit(0)
    Supervisor(Layout(Path(sys.argv[1])), int(sys.argv[2])).run()


if __name__ == "__main__":
    main()
