"""RS-13: replica ranges are complete and ordered."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.views.scaling import HORIZONTAL_POD_AUTOSCALER, AutoscalerFacts, NuclioFunctionFacts
from policies.views.type_tokens import NUCLIO_FUNCTION

Scaled = AutoscalerFacts | NuclioFunctionFacts


def check(scaled: Scaled, _: Context) -> Iterator[Finding]:
    """Recommend both bounds, in order, with a maximum of at least one."""
    fewest, most = scaled.replicas
    if fewest is None and most is None:
        return
    if fewest is None or most is None:
        missing = "minReplicas" if fewest is None else "maxReplicas"
        yield Finding(f"{scaled} has no {missing}; expected both bounds.")
    elif not 0 <= fewest <= most or most < 1:
        yield Finding(
            f"{scaled} has replicas {fewest} to {most}; expected minReplicas <= maxReplicas and maxReplicas of at "
            "least 1."
        )


def _find(resource: Resource) -> Iterator[Scaled]:
    yield (NuclioFunctionFacts if re.fullmatch(NUCLIO_FUNCTION, resource.type) else AutoscalerFacts)(resource)


RULE = Rule(
    id="RS-13",
    slug="replica-range-is-sane",
    title="Scaled functions and deployments should set both replica bounds, in order",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="MLRun job resources, Replicas and Scaling and auto-scaling",
    applies_to=EachOf(
        noun="each Nuclio function without a fixed size, and each HorizontalPodAutoscaler",
        types=re.compile(f"{HORIZONTAL_POD_AUTOSCALER.pattern}|{NUCLIO_FUNCTION}"),
        find=_find,
        concerns=lambda scaled, _: not (isinstance(scaled, NuclioFunctionFacts) and scaled.has_fixed_size),
    ),
    why="Without a maximum, Nuclio does not scale, and the API server rejects an autoscaler with a reversed range.",
    fix="Set minReplicas and maxReplicas, with minReplicas <= maxReplicas.",
    check=check,
)
