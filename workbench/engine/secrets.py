"""The passphrase that encrypts secrets in the state of local stacks."""

import hashlib
import os
import secrets
import shlex
from contextlib import suppress
from pathlib import Path

from workbench.system.errors import UserError
from workbench.system.paths import data_dir


def passphrase_file() -> Path:
    """Return the file of the local passphrase, mode 0600; a random one is made on first use.

    Raises
    ------
    UserError
        The passphrase is not the one that was made: nothing that it encrypted could be read.
    """
    file, fingerprint = data_dir() / "passphrase", data_dir() / "passphrase.sha256"
    if not fingerprint.exists():
        _create(file, secrets.token_urlsafe(32))
        _create(fingerprint, _digest(file))
    if not file.exists() or _digest(file) != fingerprint.read_text():
        state = "is missing" if not file.exists() else "is not the one with which your local stacks are encrypted"
        useless = [data_dir() / name for name in ("state", "stacks", file.name, fingerprint.name)]
        raise UserError(
            f"The passphrase in {file} {state}.",
            "Put the old one back. If it is lost, begin with an empty state, and the next `igz-clusters up` takes over "
            f"what is in the cluster: rm -r {shlex.join(str(path) for path in useless if path.exists())}",
        )
    return file


def _create(file: Path, text: str) -> None:
    """Write a private file in one step, unless another process was faster."""
    own = file.with_name(f"{file.name}.{os.getpid()}")
    own.touch(mode=0o600)
    own.write_text(text)
    with suppress(FileExistsError):
        os.link(own, file)
    own.unlink()


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
