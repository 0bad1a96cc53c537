"""The project's own ``PULUMI_HOME`` and the engine's environment."""

import os
import shutil
import subprocess
from pathlib import Path

from workbench.system.errors import UserError
from workbench.system.paths import data_dir
from workbench.toolchain.api import Toolchain
from workbench.toolchain.recipes import PROVIDER_VERSION

_LOOPBACK = "localhost,127.0.0.1,::1"
_EXEMPTIONS = {"no_proxy", "no_grpc_proxy"}
PLUGIN = "pulumi-resource-kubernetes"


def prepare(toolchain: Toolchain) -> Path:
    """Return the project's own ``PULUMI_HOME`` with the Kubernetes plug-in installed.

    Installing once takes about a second; later calls only compare the cache key of the plug-in's module.

    Parameters
    ----------
    toolchain
        Must hold ``pulumi`` and ``pulumi-resource-kubernetes``.

    Raises
    ------
    UserError
        Pulumi refused to install the plug-in.
    """
    home = without_logs(data_dir() / "pulumi-home")
    plugin = toolchain.path(PLUGIN)
    installed = home / "plugins" / f"resource-kubernetes-v{PROVIDER_VERSION}" / PLUGIN
    record = home / "kubernetes-plugin-key"
    key = plugin.parent.parent.name
    if installed.exists() and record.exists() and record.read_text() == key:
        return home
    command = ["plugin", "install", "resource", "kubernetes", f"v{PROVIDER_VERSION}", "-f", str(plugin)]
    run = subprocess.run(
        [str(toolchain.pulumi), *command, "--reinstall"],
        env=os.environ | {"PULUMI_HOME": str(home), "PULUMI_SKIP_UPDATE_CHECK": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise UserError(
            f"Pulumi could not install the Kubernetes plug-in into {home}:\n{run.stderr.strip()}",
            "Delete that folder and run the same command again.",
        )
    record.write_text(key)
    return home


def without_logs(home: Path) -> Path:
    """Keep the engine from writing logs into a ``PULUMI_HOME`` of this package.

    The engine logs every run in full detail into the folder ``logs``, encrypted, which takes a quarter of its processor
    time; no setting turns that off. If it cannot create the folder, it runs without a log and only mentions it in
    verbose output. So a file takes the folder's place.

    Sources, all of github.com/pulumi/pulumi v3.259.0: ``StartLogging`` in pkg/logging/encrypted.go, and its caller in
    pkg/cmd/pulumi/pulumi.go.

    Parameters
    ----------
    home
        Created if missing. Logs in it are deleted.

    Returns
    -------
    Path
        The same home.
    """
    home.mkdir(parents=True, exist_ok=True)
    logs = home / "logs"
    if logs.is_dir():
        shutil.rmtree(logs, ignore_errors=True)  # another run may delete the same files
    logs.touch()
    return home


def _direct_loopback() -> dict[str, str]:
    """Return variables that keep a user's proxy away from loopback; none if the user has no proxy.

    Engine, program and plug-ins talk to each other there by gRPC, which reads the first of ``no_grpc_proxy`` and
    ``no_proxy``, and accepts no ``*``: https://github.com/grpc/grpc/blob/v1.76.0/doc/environment_variables.md. Go
    prefers ``NO_PROXY``.
    """
    if not any(name.lower().endswith("_proxy") and name.lower() not in _EXEMPTIONS for name in os.environ):
        return {}
    lower, upper = os.environ.get("no_proxy", ""), os.environ.get("NO_PROXY", "")
    given = {"no_proxy": lower or upper, "NO_PROXY": upper or lower, "no_grpc_proxy": os.environ.get("no_grpc_proxy")}  # noqa: SIM112 as gRPC spells it
    return {name: ",".join(filter(None, [hosts, _LOOPBACK])) for name, hosts in given.items() if hosts is not None}


def environment(toolchain: Toolchain, *, local: bool = True) -> dict[str, str]:
    """Return the engine's environment variables, to be merged over ``os.environ``.

    Parameters
    ----------
    toolchain
        Must hold ``pulumi`` and, if ``local``, ``pulumi-resource-kubernetes``.
    local
        True (default): use the project's own ``PULUMI_HOME`` and forbid plug-in downloads. False: keep the
        user's home with its logins and plug-ins, for stacks in a cloud.
    """
    # The language host is in the same folder for both the user's and our Pulumi.
    path = os.pathsep.join([str(toolchain.pulumi.parent), os.environ.get("PATH", os.defpath)])
    variables = {"PATH": path, "PULUMI_SKIP_UPDATE_CHECK": "true", **_direct_loopback()}
    if local:
        variables["PULUMI_HOME"] = str(prepare(toolchain))
        variables["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
    return variables
