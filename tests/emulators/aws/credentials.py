"""The emulator's own ``aws``: a kubeconfig of EKS asks ``aws eks get-token`` who it is."""

from pathlib import Path
from typing import Final

from emulators.core import credentials
from emulators.core.credentials import Helper

AWS: Final = Helper("aws", "eks get-token", misunderstood=252)
"""It ends as the AWS command line does."""


def install(folder: Path, kubeconfig: Path) -> None:
    """Write the program ``aws`` into ``folder``; parameters as of the emulators' ``install``."""
    credentials.install(AWS, folder, kubeconfig)
