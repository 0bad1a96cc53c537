"""One stack made ready for the engine."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from workbench.engine.secrets import passphrase_file
from workbench.errors import UserError
from workbench.paths import PROJECT_ROOT, data_dir
from workbench.stacks import Stack
from workbench.toolchain import Toolchain, environment

POLICY_PACKS = PROJECT_ROOT / "policies" / "packs"


@dataclass(frozen=True)
class Session:
    """Everything that a run of the engine on one stack needs."""

    stack: Stack
    pulumi: Path
    environment: dict[str, str]
    """Variables beyond the caller's own; with them plain ``pulumi`` does the same."""

    def run(self, *arguments: str) -> int:
        """Run the engine in the foreground and return its exit code.

        Ctrl-C reaches the engine too: it finishes the step in flight, saves, and ends; so we only wait for it.
        """
        process = subprocess.Popen([self.pulumi, *arguments], cwd=PROJECT_ROOT, env=self._whole_environment())
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue

    def query(self, *arguments: str, folder: Path = PROJECT_ROOT) -> Any:
        """Run the engine quietly in ``folder`` and return the JSON that it prints, None if it prints nothing.

        Raises
        ------
        UserError
            If the engine fails; with what it said.
        """
        result = subprocess.run(
            [self.pulumi, *arguments, "--non-interactive"],
            cwd=folder,
            env=self._whole_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise UserError(f"`pulumi {' '.join(arguments)}` failed:\n{result.stderr.strip()}")
        return json.loads(result.stdout or "null")

    def _whole_environment(self) -> dict[str, str]:
        return {**os.environ, **self.environment}


def open_session(stack: Stack, toolchain: Toolchain, kubeconfig: Path) -> Session:
    """Prepare home, backend, passphrase and stack file, and create the stack in the backend if it is new."""
    state = data_dir() / "state"
    state.mkdir(exist_ok=True, mode=0o700)
    config_file = data_dir() / "stacks" / f"Pulumi.{stack.name}.yaml"
    session = Session(
        stack,
        toolchain.pulumi,
        {
            **environment(toolchain),
            "PULUMI_BACKEND_URL": f"file://{state}",
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase_file()),
            "PULUMI_STACK": stack.name,
            # The engine writes the salt of the passphrase into the stack file. That salt belongs to this user, not
            # into the repository, so the engine gets a copy of the file that holds both.
            "PULUMI_OPTION_CONFIG_FILE": str(config_file),
            "PULUMI_OPTION_POLICY_PACK": ",".join(str(pack) for pack in policy_packs()),
            "IGZ_CLUSTERS_LOCAL_KUBECONFIG": str(kubeconfig),
        },
    )
    _write_config(config_file, stack)
    if stack.name not in {row["name"].rpartition("/")[2] for row in session.query("stack", "ls", "--json")}:
        # `stack init` writes beside the project file of its folder, whatever the option says.
        (config_file.parent / "Pulumi.yaml").write_text((PROJECT_ROOT / "Pulumi.yaml").read_text())
        session.query("stack", "init", stack.name, "--no-select", folder=config_file.parent)
    return session


def policy_packs() -> list[Path]:
    """Return the folders of all packs."""
    return sorted(file.parent for file in POLICY_PACKS.glob("*/PulumiPolicy.yaml"))


def _write_config(file: Path, stack: Stack) -> None:
    file.parent.mkdir(exist_ok=True, mode=0o700)
    document = dict(stack.document)
    if file.exists():
        kept = yaml.safe_load(file.read_text()) or {}
        document |= {key: kept[key] for key in ("encryptionsalt",) if key in kept}
    header = f"# Generated from {stack.file.name}: edit that file, this copy is written anew by every command.\n"
    file.write_text(header + yaml.safe_dump(document, sort_keys=False))
