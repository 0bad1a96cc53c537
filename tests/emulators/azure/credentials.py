"""The emulator's own ``kubelogin``: a kubeconfig of AKS asks ``kubelogin get-token`` who it is."""

from pathlib import Path
from typing import Final

from emulators.core import credentials
from emulators.core.credentials import Helper

KUBELOGIN: Final = Helper("kubelogin", "get-token", misunderstood=1)


def install(folder: Path, kubeconfig: Path) -> None:
    """Write the program ``kubelogin`` into ``folder``; parameters as of the emulators' ``install``."""
    credentials.install(KUBELOGIN, folder, kubeconfig)
