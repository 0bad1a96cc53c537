"""RS-16: a container requests one turn on a shared GPU."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.gpus import TURNS
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.values import each
from policies.views.pods import PODS, PodFacts
from policies.views.volume_claims import Claims, containers


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Reject several turns, but not several slices of a divided GPU, because each slice has its own memory."""
    yield from each(containers(pod), lambda claims: _check(pod, claims))


def _check(pod: PodFacts, claims: Claims) -> Iterator[Finding]:
    if (asked := claims.limit(TURNS)) is not None and asked > 1:
        yield Finding(f"{pod}: {claims} has {claims.spelled(TURNS)}; expected 1.")


# No admission: such a pod does not stay pending or affect others; the plug-in itself ends it when it starts.
RULE = Rule(
    id="RS-16",
    slug="shared-gpus-are-requested-once",
    title="Containers must request one turn on a shared GPU",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="NVIDIA device plug-in, Shared Access to GPUs",
    applies_to=PODS,
    why="Several turns give no more time or memory, so the device plug-in refuses them, and the pod fails on its node.",
    fix="Set 1 under resources.limits; work that needs more gets whole GPUs or larger slices.",
    check=check,
)
