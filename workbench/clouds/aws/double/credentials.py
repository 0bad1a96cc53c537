"""The double's own ``aws``: it hands out the key to the API server that the double leads to, and does nothing else.

A kubeconfig of EKS asks ``aws eks get-token`` who it is. A local control plane knows no identities of AWS, so here
everybody is its administrator.
"""

import base64
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from workbench.files import write_private
from workbench.paths import PRIVATE

_CREDENTIAL: Final = {"clientCertificateData": "client-certificate", "clientKeyData": "client-key"}
"""Members of an ExecCredential, and what a kubeconfig calls them."""


def install(folder: Path, kubeconfig: Path) -> None:
    """Write the program ``aws`` into ``folder``, which is to come first in PATH.

    Parameters
    ----------
    kubeconfig
        Of the API server; everybody will be its first user.
    """
    user = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]
    answer, program = folder / "credential.json", folder / "aws"
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "status": {name: base64.b64decode(embedded(user, key)).decode() for name, key in _CREDENTIAL.items()},
    }
    write_private(answer, json.dumps(credential))
    write_private(
        program,
        "#!/bin/sh\n"
        f'if [ "$1 $2" = "eks get-token" ]; then exec cat {shlex.quote(str(answer))}; fi\n'
        "echo \"This aws belongs to a double: it knows 'eks get-token', and not '$*'.\" >&2\n"
        "exit 252\n",  # as the AWS command line ends when it does not understand
    )
    program.chmod(PRIVATE)


def embedded(entry: Mapping[str, Any], key: str) -> str:
    """Return what an entry of a kubeconfig holds under ``key``, or in the file that it names there, in base64."""
    if f"{key}-data" in entry:
        return str(entry[f"{key}-data"])
    return base64.b64encode(Path(entry[key]).read_bytes()).decode()
