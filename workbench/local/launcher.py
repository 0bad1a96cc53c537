"""Starts components' processes, tied to the supervisor so that they cannot outlive it."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

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
        Descriptor of the instance's lock; each process holds it while it runs.
    """

    layout: Layout
    programs: Mapping[str, str]
    lock: int

    def start(self, component: Component) -> subprocess.Popen[bytes]:
        """Start a component; appends its output to its log, which is rotated when larger than 5 MB."""
        path = self.layout.log(component.name)
        if path.exists() and path.stat().st_size > _LOG_LIMIT:
            path.replace(path.with_suffix(".old.log"))
        with path.open("ab") as log:
            return subprocess.Popen(
                [self.programs[component.name], *component.arguments],
                cwd=self.layout.folder,
                # Without the user's variables: a proxy or KUBECONFIG must not affect a component.
                env={"HOME": str(self.layout.folder), **component.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(self.lock,),
                preexec_fn=tied_to_this(),  # noqa: PLW1509 - the supervisor has one thread
            )
