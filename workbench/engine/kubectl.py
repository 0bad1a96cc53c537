"""Access to a cluster's API through kubectl, which supports every kind of login in a kubeconfig."""

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
"""Timeout in seconds of one API request."""

_LOGGED: Final = re.compile(r"[EFIW]\d{4} \d\d:\d\d:\d\d\.\d+ ")
"""Start of kubectl's log lines; its last line repeats the error in plain words."""


@dataclass(frozen=True)
class Api:
    """One cluster's API.

    Parameters
    ----------
    program
        Path of kubectl.
    kubeconfig
        Path; None for kubectl's default.
    environment
        kubectl's environment variables, including credentials.
    context
        Context of the kubeconfig. Default: the current one.
    """

    program: Path
    kubeconfig: Path | None
    environment: Mapping[str, str]
    context: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """Options of kubectl that select this cluster."""
        config = (f"--kubeconfig={self.kubeconfig}",) if self.kubeconfig else ()
        return (*config, *((f"--context={self.context}",) if self.context else ()))

    def run(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl and return its standard output.

        Parameters
        ----------
        arguments
            Command and options.
        stdin
            Standard input. Default: none.

        Raises
        ------
        UserError
            The API does not answer or refuses the request, or the kubeconfig lacks the context.
        """
        try:
            done = subprocess.run(
                [self.program, *self.options, f"--request-timeout={_SECONDS}s", *arguments],
                env=dict(self.environment),
                input=stdin,
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

    def _failure(self, stderr: str) -> UserError:
        error = "\n".join(line for line in stderr.splitlines() if not _LOGGED.match(line)) or stderr
        if "context was not found" in error:
            where = self.kubeconfig or self.environment.get("KUBECONFIG") or "~/.kube/config"
            return UserError(
                f"Context '{self.context}' not found in {where}.",
                "`kubectl config get-contexts -o name` lists the contexts. Correct the name, or the path: "
                "cluster.kubeconfig in the stack file, else KUBECONFIG.",
            )
        if "Error from server" in error:
            return UserError(f"The cluster refuses the request: {error}")
        hint = f"Make sure that `kubectl --context={self.context} get --raw /readyz` prints ok." if self.context else ""
        return UserError(f"The cluster does not answer: {error}", hint)


def kubectl() -> Path:
    """Return the user's own kubectl, else the toolchain's, which is built if missing."""
    own = shutil.which("kubectl")
    return Path(own) if own else ensure(["kubectl"]).path("kubectl")
