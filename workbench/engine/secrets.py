"""The passphrase that encrypts secrets in the state of local stacks."""

import os
import secrets
from pathlib import Path

from workbench.paths import data_dir


def passphrase_file() -> Path:
    """Return the file of the local passphrase, mode 0600; a random one is made on first use."""
    file = data_dir() / "passphrase"
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return file
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secrets.token_urlsafe(32))
    return file
