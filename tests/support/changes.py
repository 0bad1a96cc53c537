"""A repository with two EKS stacks, and changes of it as a pull request would bring them."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from infra.config import CONFIG_KEY
from support.eks import EXISTING, document
from workbench.review.package import PROGRAM, REQUIREMENTS
from workbench.stacks.policy_overrides import FILE
from workbench.system.paths import PROJECT_ROOT

SMALL: Mapping[str, Any] = {
    "cluster.network": EXISTING,
    "pools.arm": None,
    "pools.data": None,
    "namespaces": {"mlrun": {"coreServices": True}},
}
STACKS: Mapping[str, Mapping[str, Any]] = {
    "dev": {**SMALL, "environment": "dev"},
    "prod": {**SMALL, "environment": "prod", "pools.jupyter": None, "cluster.backup": {}},
}


@dataclass(frozen=True)
class Checkout:
    """A checkout of the repository."""

    root: Path

    def choose(self, stack: str, **changes: Any) -> None:
        """Edit a stack file; the keys are dotted paths with ``__`` in place of the dots."""
        edits = {path.replace("__", "."): value for path, value in changes.items()}
        content = {"config": {CONFIG_KEY: document({**STACKS[stack], **edits})}}
        self.write(f"Pulumi.{stack}.yaml", yaml.safe_dump(content, sort_keys=False))

    def write(self, path: str | Path, text: str) -> None:
        """Write a file."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace a passage that is in a file once."""
        text = (self.root / path).read_text()
        assert text.count(old) == 1, (path, old)
        (self.root / path).write_text(text.replace(old, new))

    def overrides(self, **kinds: Any) -> None:
        """Write the reviewed file of rows."""
        self.write(FILE, yaml.safe_dump(kinds, sort_keys=False))

    def commit(self) -> None:
        """Commit all that is there."""
        self.git("add", "--all")
        self.git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--message=x")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", self.root, *arguments], check=True, capture_output=True)

    def branch(self, folder: Path) -> "Checkout":
        """Clone it, as a fork."""
        subprocess.run(["git", "clone", "--quiet", self.root, folder], check=True)
        return Checkout(folder)


def repository(folder: Path) -> Checkout:
    """Make the repository: this package's program and packs, stack files of its own."""
    folder.mkdir()
    for part in (*PROGRAM, REQUIREMENTS):
        source = PROJECT_ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / part)
    base = Checkout(folder)
    for stack in STACKS:
        base.choose(stack)
    base.git("init", "--quiet")
    base.commit()
    return base
