"""RS-02: requests and limits are valid quantities, and no request exceeds its limit."""

from collections.abc import Iterator

from components.contract.quantities import parse_quantity
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.values import each
from policies.views.pods import PODS, PodFacts
from policies.views.volume_claims import SIDES, Claims, whole


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Check in the preview what the API server would reject during the update."""
    joint = whole(pod)
    yield from each((joint, *joint.parts), lambda claims: _check(pod, claims))


def _check(pod: PodFacts, claims: Claims) -> Iterator[Finding]:
    for name in claims.names:
        nonsense = [side for side in SIDES if not _is_quantity(claims.resources.at(side, name).quantity_text())]
        for side in nonsense:
            found = claims.resources.at(side, name).quantity_text()
            yield Finding(f"{pod}: {claims} has {side}.{name} '{found}'; expected a quantity such as 500m, 2 or 4Gi.")
        if nonsense:
            continue
        request, limit = claims.resources.at("requests", name).quantity(), claims.limit(name)
        if request is not None and limit is not None and request > limit:
            hint = " Gi counts 1024s, G counts 1000s." if name == "memory" else ""
            yield Finding(
                f"{pod}: {claims} has {claims.spelled(name)}; expected a limit of at least the request.{hint}"
            )


def _is_quantity(text: str | None) -> bool:
    try:
        return text is None or parse_quantity(text) >= 0
    except ValueError:
        return False


# No admission: the API server's own validation rejects such pods, and templates of them, before any policy runs.
RULE = Rule(
    id="RS-02",
    slug="requests-fit-limits",
    title="Requests and limits must be quantities, and no request may exceed its limit",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, CPU, GPU, and memory limits for user jobs",
    applies_to=PODS,
    why="The API server would reject the object halfway through an update.",
    fix="Use Kubernetes quantities, and raise the limit or lower the request.",
    check=check,
)
