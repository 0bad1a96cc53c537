"""Records what the engine remembers of this release's clusters, for the upgrade tests of all later ones.

``python -m workbench.recording --write`` brings every local stack up and writes, to ``tests/upgrade/releases/VERSION``,
its stack file and its exported state. Stacks of other kinds need an account and are not recorded.
"""

import json
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from components.contract.environments import ClusterKind
from workbench import stacks
from workbench.control_plane import Instance
from workbench.engine import open_session
from workbench.errors import UserError
from workbench.paths import PROJECT_ROOT
from workbench.toolchain import ensure

RELEASES = PROJECT_ROOT / "tests" / "upgrade" / "releases"
STATE = "state.json"
KUBECONFIG = "/data/kubeconfig"
"""What stands in a recording for the path of the kubeconfig."""


def record(version: str) -> Path:
    """Record every local stack of this checkout and return the folder.

    Raises
    ------
    UserError
        The version is recorded already, a stack does not come up, or its state holds a secret.
    """
    release = RELEASES / version
    if release.exists():
        raise UserError(f"{release} exists: what a release left is never rewritten.", "Raise the version first.")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["IGZ_CLUSTERS_DATA"] = f"{scratch}/data"
        os.environ[stacks.FOLDER_VARIABLE] = str(PROJECT_ROOT)
        draft = Path(scratch, version)
        for name in stacks.stack_files():
            stack = stacks.find(name)
            if ClusterKind(stack.config.cluster.kind) is ClusterKind.LOCAL:
                _record(stack, draft / name)
        shutil.copytree(draft, release)
    return release


def _record(stack: stacks.Stack, folder: Path) -> None:
    toolchain, instance = ensure(hermetic=True), Instance(stack.name)
    try:
        instance.start(toolchain)
        session = open_session(stack, toolchain, instance.kubeconfig)
        if session.run("up", "--yes", "--skip-preview", "--suppress-outputs"):
            raise UserError(f"'{stack.name}' did not come up.", "The engine says above why.")
        state = portable(session.query("stack", "export"), instance.kubeconfig)
    finally:
        instance.delete()
    folder.mkdir(parents=True)
    shutil.copyfile(stack.file, folder / f"Pulumi.{stack.name}.yaml")
    (folder / STATE).write_text(json.dumps(state, indent=1) + "\n")


def portable(export: dict[str, Any], kubeconfig: Path) -> dict[str, Any]:
    """Return an export without what belongs to the machine and the moment: paths, times, the passphrase's salt.

    Raises
    ------
    UserError
        It holds a secret: encrypted or not, that has no place in a repository.
    """
    deployment = export["deployment"]
    # The engine marks a secret with this key.
    if "ciphertext" in json.dumps(deployment["resources"]):
        raise UserError("The state holds a secret, so it cannot be recorded.", "Keep secrets out of the stack's state.")
    resources = [{key: r[key] for key in r if key not in _OF_THE_MACHINE} for r in deployment["resources"]]
    text = json.dumps({"version": export["version"], "deployment": {"resources": resources}})
    portable_export: dict[str, Any] = json.loads(text.replace(str(kubeconfig), KUBECONFIG))
    return portable_export


_OF_THE_MACHINE = {"created", "modified", "sourcePosition", "stackTrace"}


def current_version() -> str:
    """Return the version of this checkout, as its tag names it."""
    project = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text())["project"]
    return f"v{project['version']}"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m workbench.recording --write")
    try:
        print(record(current_version()).relative_to(PROJECT_ROOT))
    except UserError as error:
        sys.exit(f"error: {error}")
