"""Writes a user's own repository: all of it, or nothing."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from components.contract.clusters import DESCRIPTORS
from components.contract.environments import ClusterKind, Environment
from components.contract.labels import is_dns_label
from workbench.starter.pin import Pin
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

SHAPES: dict[ClusterKind, dict[Environment, str]] = {
    each.kind: {environment: each.stack_file(environment) for environment in Environment} for each in DESCRIPTORS
}
"""The shipped stack files that a new repository starts from, by kind of cluster; the environment is filled in."""

_EDITORS = "# yaml-language-server: $schema=.igz-clusters/infra/stack.schema.json\n"
"""Lets editors complete and check stack files; the package's own checkout has the schema."""

_ENVIRONMENT = re.compile(r"^(    environment: )\w+(?= *$)", re.MULTILINE)

_FILES = Path(__file__).with_name("files")

_SHARED = PROJECT_ROOT / ".github"
"""Workflows, their commands and owners: a user's repository uses those of this checkout unchanged."""

_OUR_OWN = {"allowed_signers", "checks.yml", "development.mk", "release.yml"}
"""Files in it that only the package itself needs."""


def stack_names(name: str) -> dict[Environment, str]:
    """Return the stack of each environment of the repository ``name``.

    A stack's name is also that of its cluster and state, so it must be unique beyond its repository: hence the prefix.

    Raises
    ------
    UserError
        The name cannot be part of a cluster's name.
    """
    names = {environment: f"{name}-{environment.value}" for environment in Environment}
    if not all(is_dns_label(stack) for stack in names.values()):
        raise UserError(
            f"The name {name!r} cannot be the first part of cluster names.",
            "Choose one with --name: up to 58 lower-case letters, digits and '-', no leading '-'.",
        )
    return names


def create(folder: Path, name: str, kind: ClusterKind, pin: Pin) -> None:
    """Make ``folder`` a Git repository with stack files of ``kind`` and the pin; nothing is committed.

    It is built next to ``folder`` and moved there at the end, so a failure leaves nothing behind.

    Raises
    ------
    UserError
        The folder is not empty, is inside this checkout, or cannot be written.
    """
    stacks = stack_names(name)
    if folder.is_relative_to(PROJECT_ROOT):
        raise UserError(f"{folder} is inside the checkout of this package.", "Choose a folder outside it.")
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UserError(f"{folder} is not empty; nothing was written.", "Choose a new or empty folder.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            _write(draft, stacks, kind, pin)
            # `make ci` compares with the branch main, whatever the user's default is.
            subprocess.run(["git", "init", "--quiet", "--initial-branch=main", draft], check=True)
            os.replace(draft, folder)  # noqa: PTH105 replaces an empty folder too, in one step
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise UserError(f"Cannot write {folder}: {error.strerror}.", "Choose another folder.") from None


def outer_repository(folder: Path) -> Path | None:
    """Return the Git work tree that contains the folder of a repository; None if there is none."""
    command = ["git", "-C", str(folder.parent), "rev-parse", "--show-toplevel"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if found.returncode else Path(found.stdout.strip())


def _write(folder: Path, stacks: dict[Environment, str], kind: ClusterKind, pin: Pin) -> None:
    words = {
        "@dev@": stacks[Environment.DEV],
        "@prod@": stacks[Environment.PROD],
        "@source@": pin.source,
        "@tag@": pin.tag,
        "@commit@": pin.commit,
        "@pin@": str(pin),
    }
    for template in sorted(file for file in _FILES.rglob("*") if file.is_file()):
        text = template.read_text()
        for word, value in words.items():
            text = text.replace(word, value)
        target = folder / template.relative_to(_FILES)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    shutil.copytree(_SHARED, folder / _SHARED.name, ignore=lambda _, names: _OUR_OWN & set(names))
    for environment, shape in SHAPES[kind].items():
        (folder / f"Pulumi.{stacks[environment]}.yaml").write_text(_stack_file(shape, stacks[environment], environment))


def _stack_file(shape: str, stack: str, environment: Environment) -> str:
    """Return a shipped stack file for a stack, under a heading of its own: the shipped one names our commands."""
    lines = (PROJECT_ROOT / shape).read_text().splitlines(keepends=True)
    while lines[0].startswith("#"):
        lines.pop(0)
    text = _ENVIRONMENT.sub(rf"\g<1>{environment}", "".join(lines))
    return f"{_EDITORS}# Make it with `make up STACK={stack}`.\n{text}"
