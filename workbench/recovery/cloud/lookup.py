"""What is looked for in a cloud, and what is there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

DEFAULTS: Final = "__defaults"
"""Input in which the AWS provider notes which others it filled in itself."""

RANDOM_END: Final = "-[0-9a-f]{7}"
"""What the AWS provider puts behind a logical name to make a name: pulumi/pulumi-aws, provider/resources.go."""


@dataclass(frozen=True)
class LookupQuery:
    """A resource of which it is asked whether the cloud has it.

    Parameters
    ----------
    urn, type
        As in the state.
    inputs
        What its provider got, or will get; without those that are not known.
    is_planned
        It comes from a preview, not from the run that was lost: the automatic name that it has is not the one of then.
    """

    urn: str
    type: str
    inputs: Mapping[str, Any]
    is_planned: bool = False

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.split("::", 3)[3]

    @property
    def words(self) -> str:
        """How people call it, such as ``NodeGroup dev-gpu``."""
        return f"{self.type.rpartition(':')[2]} {self.name}"

    def is_called(self, key: str, name: str) -> bool:
        """Whether the input ``key`` may have been ``name`` when the resource was made."""
        if self.is_planned and key in self.inputs.get(DEFAULTS, ()):
            return re.fullmatch(re.escape(self.name) + RANDOM_END, name) is not None
        return bool(self.inputs.get(key) == name)


@dataclass(frozen=True)
class LookupResult:
    """A thing in the cloud, under the id by which the provider knows it."""

    id: str
    state: str = ""
    """The cloud's own word; empty for what has no states."""
    is_moving: bool = False
    """Whether it is still being made."""
    tags: Mapping[str, str] | None = None
    """None for what can have none, and is found as a part of something else."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Inputs in which it may differ from what is wanted: its automatic name."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """Beside id and inputs, what the provider needs to read it."""
    told: Mapping[str, Any] | None = None
    """All outputs, as the provider would have kept them; None if only it can tell them."""
    holds_data: bool = False
    """Whether its deletion loses what cannot be had back."""

    @property
    def words(self) -> str:
        """Id and state."""
        return f"{self.id} ({self.state})" if self.state else self.id
