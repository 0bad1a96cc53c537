"""The cases, in the order in which they run."""

from collections.abc import Callable
from typing import Final

from workbench.benchmarks.arena import Arena
from workbench.benchmarks.cases.command_line import command_line
from workbench.benchmarks.cases.components import components
from workbench.benchmarks.cases.creation import creation
from workbench.benchmarks.cases.growth import growth
from workbench.benchmarks.cases.modules import modules
from workbench.benchmarks.cases.packs import packs
from workbench.benchmarks.cases.policy_check import policy_check
from workbench.benchmarks.cases.previews import previews
from workbench.benchmarks.cases.renders import renders
from workbench.benchmarks.cases.rules import rules
from workbench.benchmarks.findings import Finding
from workbench.benchmarks.pairs import Say

CASES: Final[dict[str, Callable[[Arena, int | None, Say], list[Finding]]]] = {
    "modules": modules,
    "command-line": command_line,
    "components": components,
    "previews": previews,
    "renders": renders,
    "creation": creation,
    "packs": packs,
    "rules": rules,
    "policy-check": policy_check,
    "growth": growth,
}
"""Each takes the arena, the number of rounds (None: its own) and a listener, and returns its lines."""
