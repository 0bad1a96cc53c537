"""The double's own ``aws``: a kubeconfig of EKS asks ``aws eks get-token`` who it is."""

from pathlib import Path
from typing import Final

from workbench.clouds.double import credentials
from workbench.clouds.double.credentials import Helper

AWS: Final = Helper("aws", "eks get-token", misunderstood=252)
"""It ends as the AWS command line does."""


def install(folder: Path, kubeconfig: Path) -> None:
    """Write the program ``aws`` into ``folder``; parameters as of the doubles' ``install``."""
    credentials.install(AWS, folder, kubeconfig)
