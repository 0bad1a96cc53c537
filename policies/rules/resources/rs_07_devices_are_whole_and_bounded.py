"""RS-07: GPUs are requested as limits and in whole numbers."""

from collections.abc import Iterator

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.values import each
from policies.views.pods import PODS, PodFacts
from policies.views.volume_claims import Claims, containers


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require a limit, no different request, and whole numbers for every resource of a device plug-in."""
    yield from each(containers(pod), lambda claims: _check(pod, claims))


def _check(pod: PodFacts, claims: Claims) -> Iterator[Finding]:
    # Only devices have a domain in front: nvidia.com/gpu, but cpu, memory, ephemeral-storage.
    for name in (name for name in claims.names if "/" in name):
        limit, request = claims.limit(name), claims.request(name)
        if limit is None or request != limit:
            yield Finding(f"{pod}: {claims} has {claims.spelled(name)}; expected a limit and no different request.")
        elif limit != int(limit):
            yield Finding(f"{pod}: {claims} has {claims.spelled(name)}; expected a whole number.")


# No admission: the API server's own validation rejects such pods, and templates of them, before any policy runs.
RULE = Rule(
    id="RS-07",
    slug="devices-are-whole-and-bounded",
    title="GPUs must be set as limits, in whole numbers, with equal requests",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Requests and Limits (GPU)",
    applies_to=PODS,
    why="A device cannot be shared between containers, and the API server rejects anything else during the update.",
    fix="Set GPUs under resources.limits only, as a whole number.",
    check=check,
)
