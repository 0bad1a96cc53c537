"""The passphrase that encrypts secrets in the state of local stacks."""

import hashlib
import os
import secrets
import shlex
from contextlib import suppress
from pathlib import Path

from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.paths import data_dir


def passphrase_file() -> Path:
    """Return the file of the local passphrase, mode 0600; created with a random passphrase on first use.

    Raises
    ------
    UserError
        The passphrase is missing or was changed: existing secrets could not be decrypted.
    """
    file, fingerprint = data_dir() / "passphrase", data_dir() / "passphrase.sha256"
    if not fingerprint.exists():
        _create(file, secrets.token_urlsafe(32))
        _create(fingerprint, _digest(file))
    if not file.exists() or _digest(file) != fingerprint.read_text():
        state = "is missing" if not file.exists() else "is not the one that encrypts your local stacks"
        useless = [data_dir() / name for name in ("state", "stacks", file.name, fingerprint.name)]
        raise UserError(
            f"The passphrase in {file} {state}.",
            "Restore the old file. If it is lost, delete the unreadable state; the next `igz-clusters up` adopts what "
            f"is in the cluster: rm -r {shlex.join(str(path) for path in useless if path.exists())}",
        )
    return file


def _create(file: Path, text: str) -> None:
    """Write a private file atomically, unless another process already has."""
    own = file.with_name(f"{file.name}.{os.getpid()}")
    write_private(own, text)
    with suppress(FileExistsError):
        os.link(own, file)
    own.unlink()


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
