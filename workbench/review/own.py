"""What a checkout's own code says about its stacks.

Another checkout's code must not be imported here, so it runs as a program: ``python -m workbench.review.own`` prints
what it says about the stacks of ``IGZ_CLUSTERS_STACKS``, as JSON.
"""

import json
import sys
from typing import Any

from pydantic import BaseModel, TypeAdapter

from infra.config import CONFIG_KEY
from workbench import stacks
from workbench.errors import UserError
from workbench.policy.overrides import pack_configuration


class OwnStack(BaseModel):
    """One stack, as the code beside it reads it.

    Parameters
    ----------
    environment, kind
        ``dev`` or ``prod``, and the kind of its cluster; empty if the file is broken.
    guard
        Its ``policyGuard``, the default too; empty if the file is broken.
    choices
        What the file says under ``CONFIG_KEY``.
    packs
        What the packs are told about the stack, from the overrides.
    problems
        Why it cannot be planned, a line each; empty if it can.
    """

    environment: str = ""
    kind: str = ""
    guard: str = ""
    choices: dict[str, Any] = {}
    packs: dict[str, Any] = {}
    problems: list[str] = []


OWN_STACKS: TypeAdapter[dict[str, OwnStack]] = TypeAdapter(dict[str, OwnStack])
"""Reads what the program prints."""


def own_stack(name: str) -> OwnStack:
    """Return what this package says about a stack of the folder of the stack files."""
    try:
        stack = stacks.find(name)
        return OwnStack(
            environment=stack.config.environment.value,
            kind=stack.config.cluster.kind,
            guard=stack.config.policy_guard.value,
            choices=stack.document["config"][CONFIG_KEY],
            packs=pack_configuration(name),
        )
    except stacks.StackFileError as wrong:
        return OwnStack(problems=wrong.lines)
    except UserError as wrong:
        return OwnStack(problems=[wrong.message])


if __name__ == "__main__":
    said = {name: own_stack(name).model_dump() for name in stacks.stack_files()}
    json.dump(said, sys.stdout, default=str)
