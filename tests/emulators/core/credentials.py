"""A emulator's own credential helper: it hands out the key to the API server that the emulator leads to, and no more.

A local control plane knows no identities of a cloud, so here everybody is its administrator.
"""

import base64
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from workbench.system.files import write_private
from workbench.system.paths import PRIVATE

_CREDENTIAL: Final = {"clientCertificateData": "client-certificate", "clientKeyData": "client-key"}
"""Members of an ExecCredential, and what a kubeconfig calls them."""


@dataclass(frozen=True)
class Helper:
    """A program that a kubeconfig asks who it is.

    Parameters
    ----------
    name
        As PATH has it.
    command
        Its first arguments, such as ``eks get-token``; it knows no others.
    misunderstood
        How it ends when it does not understand.
    """

    name: str
    command: str
    misunderstood: int


def install(helper: Helper, folder: Path, kubeconfig: Path) -> None:
    """Write a helper into ``folder``, which is to come first in PATH.

    Parameters
    ----------
    kubeconfig
        Of the API server; everybody will be its first user.
    """
    user = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]
    answer, program = folder / "credential.json", folder / helper.name
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "status": {name: base64.b64decode(embedded(user, key)).decode() for name, key in _CREDENTIAL.items()},
    }
    given = " ".join(f"${number}" for number in range(1, len(helper.command.split()) + 1))
    write_private(answer, json.dumps(credential))
    write_private(
        program,
        "#!/bin/sh\n"
        f'if [ "{given}" = "{helper.command}" ]; then exec cat {shlex.quote(str(answer))}; fi\n'
        f"echo \"This {helper.name} belongs to a emulator: it knows '{helper.command}', and not '$*'.\" >&2\n"
        f"exit {helper.misunderstood}\n",
    )
    program.chmod(PRIVATE)


def embedded(entry: Mapping[str, Any], key: str) -> str:
    """Return what an entry of a kubeconfig holds under ``key``, or in the file that it names there, in base64."""
    if f"{key}-data" in entry:
        return str(entry[f"{key}-data"])
    return base64.b64encode(Path(entry[key]).read_bytes()).decode()
