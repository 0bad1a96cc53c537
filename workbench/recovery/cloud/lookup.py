"""Queries for resources in a cloud, and their results."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

DEFAULTS: Final = "__defaults"
"""Input in which the AWS provider records which inputs it filled in itself."""

RANDOM_END: Final = "-[0-9a-f]{7}"
"""Suffix that the AWS provider adds to a logical name: pulumi/pulumi-aws, provider/resources.go."""


@dataclass(frozen=True)
class LookupQuery:
    """A resource to look up in the cloud.

    Parameters
    ----------
    urn, type
        As in the state.
    inputs
        Known inputs of its provider.
    is_planned
        Whether it comes from a preview instead of the interrupted run; its automatic name is then a different one.
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
    def description(self) -> str:
        """Type and logical name, such as ``NodeGroup dev-gpu``."""
        return f"{self.type.rpartition(':')[2]} {self.name}"

    def is_called(self, key: str, name: str) -> bool:
        """Return whether the input ``key`` may have been ``name`` when the resource was created."""
        if self.is_planned and key in self.inputs.get(DEFAULTS, ()):
            return re.fullmatch(re.escape(self.name) + RANDOM_END, name) is not None
        return bool(self.inputs.get(key) == name)


@dataclass(frozen=True)
class LookupResult:
    """A resource in the cloud, with the id that its provider uses."""

    id: str
    state: str = ""
    """State that the cloud reports; empty if it has none."""
    is_moving: bool = False
    """Whether it is still being created."""
    tags: Mapping[str, str] | None = None
    """None for types without tags, which are found through their parent."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Inputs that may differ from the query: its automatic name."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """What the provider needs to read it, besides id and inputs."""
    known_outputs: Mapping[str, Any] | None = None
    """All outputs as the provider would store them; None if only the provider can read them."""
    holds_data: bool = False
    """Whether deleting it loses data."""

    @property
    def description(self) -> str:
        """Id and state."""
        return f"{self.id} ({self.state})" if self.state else self.id
