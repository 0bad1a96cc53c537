"""RS-14: a Nuclio function has one GPU per worker."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.views.scaling import NuclioFunctionFacts, nuclio_function
from policies.views.type_tokens import NUCLIO_FUNCTION


def check(function: NuclioFunctionFacts, _: Context) -> Iterator[Finding]:
    """Recommend as many GPUs as workers; other extended resources do not count as GPUs."""
    count = sum(limit.quantity() or 0 for name, limit in function.limits().items() if name.endswith("/gpu"))
    if count and count != function.workers:
        yield Finding(f"{function} has {count} GPUs and {function.workers} workers; expected equal numbers.")


RULE = Rule(
    id="RS-14",
    slug="gpus-match-workers",
    title="Nuclio functions should have one GPU per worker",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="MLRun job resources, Number of workers and GPUs",
    applies_to=EachOf(noun="each Nuclio function", types=re.compile(NUCLIO_FUNCTION), find=nuclio_function),
    why="Each worker is a process: too many compete for a GPU's memory, too few leave GPUs idle.",
    fix="Set numWorkers of the triggers to the number of GPUs, or waive this rule if the code shares GPUs.",
    check=check,
)
