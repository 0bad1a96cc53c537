"""Stacks: where their files are, which file describes one, and what it says."""

import difflib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from infra.config import ConfigurationError, StackConfig, parse
from workbench.errors import UserError
from workbench.paths import PROJECT_ROOT

CONFIG_KEY = "igz-clusters:stack"
"""Key of the stack file under which all choices stand."""

FOLDER_VARIABLE = "IGZ_CLUSTERS_STACKS"
"""Names the folder of the stack files; set by ``--directory``."""


@dataclass(frozen=True)
class Stack:
    """One stack and its validated choices."""

    name: str
    file: Path
    document: dict[str, Any]
    """The whole stack file, as the engine reads it."""
    config: StackConfig


def folder() -> Path:
    """Return the folder whose stack files are meant.

    It is the folder that ``IGZ_CLUSTERS_STACKS`` names, else the current one if it holds a stack file of ours, else
    the checkout. Program, policy packs and toolchain are the checkout's always.

    Raises
    ------
    UserError
        The variable names no folder.
    """
    if chosen := os.environ.get(FOLDER_VARIABLE):
        if not Path(chosen).is_dir():
            raise UserError(f"--directory, {FOLDER_VARIABLE}: there is no folder {chosen}.")
        return Path(chosen).resolve()
    current = Path.cwd().resolve()
    return current if any(map(_is_ours, current.glob("Pulumi.*.yaml"))) else PROJECT_ROOT


def _is_ours(file: Path) -> bool:
    try:
        return CONFIG_KEY in file.read_text(errors="replace")
    except OSError:
        return False


def find(name: str) -> Stack:
    """Return the stack called ``name``: ``Pulumi.<name>.yaml`` in the folder or in ``examples/<name>/`` below it.

    Raises
    ------
    UserError
        If there is no such stack, the file is no stack file, or its choices are wrong (all problems at once).
    """
    files = stack_files()
    if name not in files:
        nearest = difflib.get_close_matches(name, files, n=1)
        hint = f"Did you mean '{nearest[0]}'? " if nearest else ""
        known = ", ".join(sorted(files)) or f"none, no Pulumi.STACK.yaml there says {CONFIG_KEY}"
        raise UserError(f"There is no stack '{name}' in {folder()}.", f"{hint}Known stacks: {known}.")
    file = files[name]
    document = _read(file)
    try:
        config = parse(document["config"][CONFIG_KEY])
    except ConfigurationError as error:
        problems = "\n".join(f"  {problem}" for problem in error.problems)
        raise UserError(f"{file.relative_to(folder())}, {CONFIG_KEY}:\n{problems}") from None
    return Stack(name, file, document, config)


def stack_files() -> dict[str, Path]:
    """Return the file of every stack by the stack's name."""
    root = folder()
    examples = root.glob("examples/*/Pulumi.*.yaml")
    named = [(_name(file), file) for file in examples if _name(file) == file.parent.name]
    return dict(sorted(named)) | {_name(file): file for file in sorted(root.glob("Pulumi.*.yaml"))}


def _name(file: Path) -> str:
    return file.name.removeprefix("Pulumi.").removesuffix(".yaml")


def _read(file: Path) -> dict[str, Any]:
    shown = file.relative_to(folder())
    try:
        document = yaml.safe_load(file.read_text())
    except OSError as error:
        raise UserError(f"{shown} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{shown} is no valid YAML: {error}") from None
    config = document.get("config") if isinstance(document, dict) else None
    if isinstance(config, dict) and isinstance(config.get(CONFIG_KEY), dict):
        return dict(document)
    raise UserError(f"{shown} has no mapping under config, {CONFIG_KEY}.", "Pulumi.local.yaml shows the layout.")
