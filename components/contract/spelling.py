"""A cloud's spelling of lifecycle, labels and taints in the inputs of a node group.

Components write it, policies read it, and remediation does both, so each spelling is defined once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint, TaintEffect


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """Names of a cloud's inputs, in the engine's spelling, and the terms used in them."""

    lifecycle_input: str
    lifecycles: Mapping[Lifecycle, str]
    labels_input: str
    taints_input: str
    effects: Mapping[TaintEffect, str]
    write_taint: Callable[[Taint], Any]
    """Returns the entry of ``taints_input`` for a taint."""
