"""SP-04: a setting about spot nodes is one that MLRun reads."""

from collections.abc import Iterator
from difflib import get_close_matches

from components.contract.mlrun import MlrunVariable
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts

_READ = (MlrunVariable.PREEMPTION_MODE, MlrunVariable.SPOT_SELECTOR, MlrunVariable.SPOT_TOLERATIONS)
_LIKENESS = 0.9
"""Share of equal characters from which a variable counts as a misspelling; one typing error is above 0.97."""


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Demand that no variable is almost, but not quite, one about spot nodes."""
    for variable in settings.variables():
        meant = [] if variable in _READ else get_close_matches(variable, _READ, n=1, cutoff=_LIKENESS)
        if meant:
            yield Finding(f"{settings.where} sets {variable}, which MLRun does not read, wanted {meant[0]}.")


RULE = Rule(
    id="SP-04",
    slug="preemption-variables-are-spelled-right",
    title="Variables about spot nodes are spelled as MLRun reads them",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Preemption mode (whose own example is misspelled)",
    applies_to=MLRUN_SETTINGS,
    why="MLRun ignores a variable that it does not know without a word, and its default stays.",
    fix="Rename the variable.",
    check=check,
)
