"""A cluster's API by kubectl, which knows every way to log in that a kubeconfig may ask for."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.system.errors import UserError
from workbench.toolchain import ensure

_SECONDS: Final = 20
"""For one answer of the API server."""

_LOGGED: Final = re.compile(r"[EFIW]\d{4} \d\d:\d\d:\d\d\.\d+ ")
"""How the lines begin that kubectl logs for its developers; its own last word says the same once, and plainly."""


@dataclass(frozen=True)
class Api:
    """One cluster's API.

    Parameters
    ----------
    program
        Path of kubectl.
    kubeconfig
        Path. None: where kubectl looks by itself.
    environment
        Variables, credentials among them, with which kubectl runs.
    context
        Of the kubeconfig. Default: its current one.
    """

    program: Path
    kubeconfig: Path | None
    environment: Mapping[str, str]
    context: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """Options with which any kubectl reaches the same cluster."""
        config = (f"--kubeconfig={self.kubeconfig}",) if self.kubeconfig else ()
        return (*config, *((f"--context={self.context}",) if self.context else ()))

    def run(self, *arguments: str, given: str | None = None) -> str:
        """Run kubectl and return what it prints.

        Parameters
        ----------
        arguments
            Its command.
        given
            Text for its standard input. Default: none.

        Raises
        ------
        UserError
            The cluster does not answer or refuses, or the kubeconfig does not have the context.
        """
        try:
            done = subprocess.run(
                [self.program, *self.options, f"--request-timeout={_SECONDS}s", *arguments],
                env=dict(self.environment),
                input=given,
                capture_output=True,
                text=True,
                check=False,
                timeout=3 * _SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise UserError(f"The cluster does not answer within {3 * _SECONDS} s.") from None
        if done.returncode:
            raise self._failure(done.stderr.strip())
        return done.stdout

    def _failure(self, said: str) -> UserError:
        told = "\n".join(line for line in said.splitlines() if not _LOGGED.match(line)) or said
        if "context was not found" in told:
            where = self.kubeconfig or self.environment.get("KUBECONFIG") or "~/.kube/config"
            return UserError(
                f"There is no context '{self.context}' in {where}.",
                "`kubectl config get-contexts -o name` lists those that there are. Correct the name, or the path: "
                "cluster.kubeconfig in the stack file, else KUBECONFIG.",
            )
        if "Error from server" in told:
            return UserError(f"The cluster refuses: {told}")
        way = f"`kubectl --context={self.context} get --raw /readyz` must say ok first." if self.context else ""
        return UserError(f"The cluster does not answer: {told}", way)


def kubectl() -> Path:
    """Return the user's own kubectl, else the toolchain's, which takes a build if it is not there."""
    own = shutil.which("kubectl")
    return Path(own) if own else ensure(["kubectl"]).path("kubectl")
