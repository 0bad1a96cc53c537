"""SP-04: MLRun variables about spot nodes are spelled correctly."""

from collections.abc import Iterator
from difflib import get_close_matches

from components.contract.mlrun import MlrunVariable
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts

_READ = (MlrunVariable.PREEMPTION_MODE, MlrunVariable.SPOT_SELECTOR, MlrunVariable.SPOT_TOLERATIONS)
_LIKENESS = 0.9
"""Similarity above which a variable counts as misspelled; one typo is above 0.97."""


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Reject variables that are almost, but not exactly, one about spot nodes."""
    for variable in settings.variables():
        meant = [] if variable in _READ else get_close_matches(variable, _READ, n=1, cutoff=_LIKENESS)
        if meant:
            yield Finding(f"{settings.where} sets {variable}, which MLRun does not read; expected {meant[0]}.")


RULE = Rule(
    id="SP-04",
    slug="preemption-variables-are-spelled-right",
    title="MLRun variables about spot nodes must be spelled correctly",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Preemption mode (whose own example is misspelled)",
    applies_to=MLRUN_SETTINGS,
    why="MLRun silently ignores an unknown variable and keeps its default.",
    fix="Correct the variable's name.",
    check=check,
)
