"""Cached virtual environments for programs whose pinned dependencies conflict with ours."""

import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from workbench.system import locks
from workbench.system.errors import UserError
from workbench.system.paths import cache_dir

SECONDS = 900
"""Longest time for an installation; the largest takes about two minutes."""


def interpreter(requirements: Path, environment: Mapping[str, str] | None = None) -> Path:
    """Return the Python of an environment with exactly these packages; the first call installs it.

    Parameters
    ----------
    requirements
        A file ``NAME-requirements.txt`` with a hash for each package. A changed file makes a new environment.
    environment
        Environment variables of the installation. Default: the caller's.

    Raises
    ------
    UserError
        The installation fails, for example without a network; shows the end of pip's output.
    """
    name = requirements.stem.removesuffix("-requirements")
    digest = sha256(requirements.read_bytes()).hexdigest()[:12]
    folder = cache_dir() / "test-environments" / f"{name}-{digest}"
    folder.parent.mkdir(exist_ok=True)
    python, done = folder / "bin" / "python", folder / ".done"
    lock = locks.wait_for(folder.with_suffix(".lock"))
    try:
        if not done.exists():
            command = [str(python), "-m", "pip", "install", "--require-hashes", "-r", str(requirements)]
            _install(name, folder, command, environment)
            done.touch()
    finally:
        os.close(lock)
    return python


def _install(name: str, folder: Path, command: list[str], environment: Mapping[str, str] | None) -> None:
    try:
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run(command, check=True, env=environment, timeout=SECONDS, capture_output=True, text=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        output = error.stderr if isinstance(error.stderr, str) else ""
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise UserError(
            "\n".join([f"{name} could not be installed for Python {version}.", *output.strip().splitlines()[-3:]]),
            "Check the network, HTTPS_PROXY and PIP_INDEX_URL, then run the command again.",
        ) from None
