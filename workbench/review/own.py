"""Reads stacks with a checkout's own code.

Another checkout's code must not be imported here, so it runs as a program: ``python -m workbench.review.own`` prints
its view of the stacks in ``IGZ_CLUSTERS_STACKS`` as JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from components.contract.policy_guard import PolicyGuard
from components.stack_files import yaml_source
from components.stack_files.inheritance import BaseFileError
from infra.config import CONFIG_KEY
from workbench import stacks
from workbench.stacks.policy_overrides import pack_configuration
from workbench.system.errors import UserError


class OwnStack(BaseModel):
    """One stack, as read by the code of its checkout.

    Parameters
    ----------
    guard
        Its ``policyGuard``, including the default; None if the file is invalid.
    packs
        The packs' configuration for the stack, from the overrides.
    problems
        Why it cannot be planned, one line each; empty if it can.
    """

    guard: PolicyGuard | None = None
    packs: dict[str, Any] = {}
    problems: list[str] = []


OWN_STACKS: TypeAdapter[dict[str, OwnStack]] = TypeAdapter(dict[str, OwnStack])
"""Parses the program's output."""


def choices_of(file: Path) -> dict[str, Any]:
    """Return a stack's unvalidated settings, those of its base included; empty if a file is invalid.

    This needs no code of the change.
    """
    if yaml_source.leads_outside(file, file.parent):
        return {}
    try:
        document = stacks.unvalidated(file)
    except (OSError, BaseFileError, yaml_source.SourceError):
        return {}
    config = document.get("config") if isinstance(document, dict) else None
    choices = config.get(CONFIG_KEY) if isinstance(config, dict) else None
    return choices if isinstance(choices, dict) else {}


def own_stack(name: str) -> OwnStack:
    """Return this package's view of a stack in the folder of the stack files."""
    try:
        stack = stacks.find(name)
        return OwnStack(guard=stack.config.policy_guard, packs=pack_configuration(name))
    except stacks.StackFileError as error:
        return OwnStack(problems=error.lines)
    except UserError as error:
        return OwnStack(problems=[error.message])


if __name__ == "__main__":
    said = {name: own_stack(name).model_dump(mode="json") for name in stacks.stack_files()}
    json.dump(said, sys.stdout)
