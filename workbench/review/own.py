"""What a checkout's own code says about its stacks.

Another checkout's code must not be imported here, so it runs as a program: ``python -m workbench.review.own`` prints
what it says about the stacks of ``IGZ_CLUSTERS_STACKS``, as JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from components.contract.policy_guard import PolicyGuard
from infra.config import CONFIG_KEY
from workbench import stacks
from workbench.stacks import yaml_source
from workbench.stacks.policy_overrides import pack_configuration
from workbench.system.errors import UserError


class OwnStack(BaseModel):
    """One stack, as the code beside it reads it.

    Parameters
    ----------
    guard
        Its ``policyGuard``, the default too; None if the file is broken.
    packs
        What the packs are told about the stack, from the overrides.
    problems
        Why it cannot be planned, a line each; empty if it can.
    """

    guard: PolicyGuard | None = None
    packs: dict[str, Any] = {}
    problems: list[str] = []


OWN_STACKS: TypeAdapter[dict[str, OwnStack]] = TypeAdapter(dict[str, OwnStack])
"""Reads what the program prints."""


def choices_of(file: Path) -> dict[str, Any]:
    """Return what a stack file says under ``CONFIG_KEY``, unchecked; nothing if it is broken.

    It needs no code of the change: what its program and the packs are told is what the file says.
    """
    try:
        document = yaml_source.read(file).document
    except (OSError, yaml_source.SourceError):
        return {}
    config = document.get("config") if isinstance(document, dict) else None
    choices = config.get(CONFIG_KEY) if isinstance(config, dict) else None
    return choices if isinstance(choices, dict) else {}


def own_stack(name: str) -> OwnStack:
    """Return what this package says about a stack of the folder of the stack files."""
    try:
        stack = stacks.find(name)
        return OwnStack(guard=stack.config.policy_guard, packs=pack_configuration(name))
    except stacks.StackFileError as wrong:
        return OwnStack(problems=wrong.lines)
    except UserError as wrong:
        return OwnStack(problems=[wrong.message])


if __name__ == "__main__":
    said = {name: own_stack(name).model_dump(mode="json") for name in stacks.stack_files()}
    json.dump(said, sys.stdout)
