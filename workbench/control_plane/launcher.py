"""How a component's process comes into being, and why it cannot outlive its supervisor."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from signal import SIGKILL

from workbench.control_plane.components import Component
from workbench.control_plane.layout import Layout

_LOG_LIMIT = 5_000_000
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Launcher:
    """Starts processes of an instance.

    Parameters
    ----------
    layout
        The instance's files.
    programs
        Path by program.
    lock
        Descriptor of the instance's lock; each process keeps it for its life.
    """

    layout: Layout
    programs: Mapping[str, str]
    lock: int

    def start(self, component: Component) -> subprocess.Popen[bytes]:
        """Start a component; its output is added to its log, which is put aside when it is longer than 5 MB."""
        path = self.layout.log(component.name)
        if path.exists() and path.stat().st_size > _LOG_LIMIT:
            path.replace(path.with_suffix(".old.log"))
        with path.open("ab") as log:
            return subprocess.Popen(
                [self.programs[component.name], *component.arguments],
                cwd=self.layout.folder,
                # Nothing of the user's: a proxy or a KUBECONFIG there must not lead a component astray.
                env={"HOME": str(self.layout.folder), **component.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(self.lock,),
                preexec_fn=_tie_to(os.getpid()),  # noqa: PLW1509 - the supervisor has one thread
            )


def _tie_to(parent: int) -> Callable[[], None]:
    """Return what a child does before it becomes the program: it asks the kernel to die with its parent."""
    prctl = ctypes.CDLL(None).prctl

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != parent:  # the parent died before it was asked
            os.kill(os.getpid(), SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the supervisor blocks signals that it waits for

    return tie
