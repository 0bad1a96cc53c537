"""A cluster's API by kubectl, which knows every way to log in that a kubeconfig may ask for."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.errors import UserError
from workbench.toolchain import ensure

_SECONDS: Final = 20
"""For one answer of the API server."""


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
            The cluster does not answer, or refuses.
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
            raise UserError(f"The cluster does not answer: {done.stderr.strip()}")
        return done.stdout


def kubectl() -> Path:
    """Return the user's own kubectl, else the toolchain's, which takes a build if it is not there."""
    own = shutil.which("kubectl")
    return Path(own) if own else ensure(["kubectl"]).path("kubectl")
