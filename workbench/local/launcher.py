"""How a component's process comes into being, and why it cannot outlive its supervisor."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from signal import SIGKILL

from workbench.local.components import Component
from workbench.local.layout import Layout
from workbench.system.processes import tied_to_this

_LOG_LIMIT = 5_000_000


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
                preexec_fn=tied_to_this(SIGKILL),  # noqa: PLW1509 - the supervisor has one thread
            )
