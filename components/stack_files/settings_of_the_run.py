"""The settings of the stack file that the engine reads, for its policy packs and for programs in other languages."""

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from components.stack_files.inheritance import BaseFileError, folder_of_the_run, inherit

STACK_KEY: Final = "igz-clusters:stack"
"""Full configuration key of the stack's settings."""


def stack_choices() -> Mapping[str, Any] | None:
    """Return the settings of the stack file and its base; empty if they cannot be read, None if there are none."""
    project, _, key = STACK_KEY.partition(":")
    config = pulumi.Config(project)
    if not config.get(key):
        return None
    try:
        choices = inherit(config.get_object(key), folder_of_the_run()).settings
    except (pulumi.ConfigTypeError, BaseFileError):
        # Not JSON, or a wrong base: the program itself rejects it, with a better message.
        return {}
    return choices if isinstance(choices, dict) else {}
