"""The cases, in the order in which they run."""

from collections.abc import Callable
from typing import Final

from tools.benchmarks.arena import Arena
from tools.benchmarks.cases.command_line import command_line
from tools.benchmarks.cases.components import components
from tools.benchmarks.cases.creation import creation
from tools.benchmarks.cases.growth import growth
from tools.benchmarks.cases.inner_loop import inner_loop
from tools.benchmarks.cases.modules import modules
from tools.benchmarks.cases.packs import packs
from tools.benchmarks.cases.policy_check import policy_check
from tools.benchmarks.cases.previews import previews
from tools.benchmarks.cases.rehearsal import rehearsal
from tools.benchmarks.cases.renders import renders
from tools.benchmarks.cases.rules import rules
from tools.benchmarks.findings import Finding
from tools.benchmarks.pairs import Say

CASES: Final[dict[str, Callable[[Arena, int | None, Say], list[Finding]]]] = {
    "modules": modules,
    "command-line": command_line,
    "inner-loop": inner_loop,
    "components": components,
    "previews": previews,
    "renders": renders,
    "creation": creation,
    "packs": packs,
    "rules": rules,
    "policy-check": policy_check,
    "growth": growth,
    "rehearsal": rehearsal,
}
"""Each takes the arena, the number of rounds (None: its own) and a listener, and returns its lines."""
