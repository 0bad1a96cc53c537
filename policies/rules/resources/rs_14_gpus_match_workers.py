"""RS-14: each worker of a function has a GPU of its own."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.views.scaling import NuclioFunctionFacts, nuclio_function
from policies.views.type_tokens import NUCLIO_FUNCTION


def check(function: NuclioFunctionFacts, _: Context) -> Iterator[Finding]:
    """Recommend as many GPUs as workers; what else has a domain in its name is taken for no GPU."""
    count = sum(limit.quantity() or 0 for name, limit in function.limits().items() if name.endswith("/gpu"))
    if count and count != function.workers:
        yield Finding(f"{function} has {count} GPUs and {function.workers} workers, wanted as many of both.")


RULE = Rule(
    id="RS-14",
    slug="gpus-match-workers",
    title="Nuclio functions have as many GPUs as workers",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="MLRun job resources, Number of workers and GPUs",
    applies_to=EachOf(noun="each Nuclio function", types=re.compile(NUCLIO_FUNCTION), find=nuclio_function),
    why="Workers are processes of their own: too many fight for a GPU's memory, too few leave GPUs idle.",
    fix="Set numWorkers of the triggers to the number of GPUs, or share GPUs in the function's code and waive this.",
    check=check,
)
