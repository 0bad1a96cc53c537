"""Records what the engine remembers of this release's clusters, for the upgrade tests of all later ones.

``python -m tools.recording --write`` brings every stack up and writes, to ``tests/upgrade/releases/VERSION``, its
stack file and its exported state. Local stacks come up for real. For those that need an account a no-op
provider stands in for the cloud and reports success.
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
from workbench.engine import Session, open_session
from workbench.engine.render import TOOLS, rendering
from workbench.local import Instance
from workbench.system.errors import UserError
from workbench.system.paths import FOLDER_VARIABLE, PROJECT_ROOT
from workbench.toolchain import ensure

RELEASES = PROJECT_ROOT / "tests" / "upgrade" / "releases"
STATE = "state.json"
KUBECONFIG = "/data/kubeconfig"
"""What stands in a recording for the path of the kubeconfig."""


def record(version: str) -> Path:
    """Record every stack of this checkout and return the folder.

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
        os.environ[FOLDER_VARIABLE] = str(PROJECT_ROOT)
        draft = Path(scratch, version)
        for name in stacks.stack_files():
            stack = stacks.find(name)
            is_local = ClusterKind(stack.config.cluster.kind) is ClusterKind.LOCAL
            state = _brought_up(stack) if is_local else _pretended(stack)
            (draft / name).mkdir(parents=True)
            shutil.copyfile(stack.file, draft / name / f"Pulumi.{name}.yaml")
            (draft / name / STATE).write_text(json.dumps(state, indent=1) + "\n")
        shutil.copytree(draft, release)
    return release


def _brought_up(stack: stacks.Stack) -> dict[str, Any]:
    toolchain, instance = ensure(hermetic=True), Instance(stack.name)
    try:
        instance.start(toolchain)
        return _exported(open_session(stack, toolchain, instance.kubeconfig), instance.kubeconfig)
    finally:
        instance.delete()


def _pretended(stack: stacks.Stack) -> dict[str, Any]:
    with rendering(stack, ensure(TOOLS, hermetic=True)) as session:
        return _exported(session.with_noop_providers(), Path(session.environment["KUBECONFIG"]))


def _exported(session: Session, kubeconfig: Path) -> dict[str, Any]:
    if session.run("up", "--yes", "--skip-preview", "--suppress-outputs"):
        raise UserError(f"'{session.stack.name}' did not come up.", "The engine says above why.")
    return portable(session.query("stack", "export"), kubeconfig)


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
        sys.exit("usage: python -m tools.recording --write")
    try:
        print(record(current_version()).relative_to(PROJECT_ROOT))
    except UserError as error:
        sys.exit(f"error: {error}")
