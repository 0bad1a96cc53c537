"""RS-05: in development, limits stay close to requests."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from components.contract.environments import Environment
from components.contract.pod_resources import MAX_LIMIT_REQUEST_RATIO
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.volume_claims import COMPUTE, cel_limit, cel_offenders, cel_quantity, cel_request, deciding

RATIO: Final = MAX_LIMIT_REQUEST_RATIO[Environment.DEV] or 1


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Recommend limits of at most ``RATIO`` times the request, where both are set."""
    for name in COMPUTE:
        for claims in deciding(pod, name):
            limit, request = claims.limit(name), claims.request(name)
            if limit is not None and request is not None and limit > RATIO * request:
                yield Finding(
                    f"{pod}: {claims} has {claims.spelled(name)}; expected at most {RATIO} times the request."
                )


def _culprits() -> str:
    return " + ".join(cel_offenders(partial(_is_near, name), name, field=f"resources, {name}") for name in COMPUTE)


def _is_near(name: str, owner: str) -> str:
    # CEL cannot multiply quantities, and floats would round.
    request = cel_quantity(cel_request(owner, name))
    most = request + f".add({request})" * (RATIO - 1)
    return f"{cel_quantity(cel_limit(owner, name))}.compareTo({most}) <= 0"


RULE = Rule(
    id="RS-05",
    slug="limits-are-near-requests",
    title=f"In development, limits should be at most {RATIO} times the requests",
    severity=Severity.LOW,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.OFF},
    source="Iguazio best practices, Requests and Limits (risk of eviction in development)",
    applies_to=USER_PODS,
    why="The further limits exceed requests, the sooner a node runs out of memory and evicts pods.",
    fix="Raise the request or lower the limit.",
    check=check,
    admission=Admission(culprits=_culprits()),
)
