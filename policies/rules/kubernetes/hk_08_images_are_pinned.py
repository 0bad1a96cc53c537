"""HK-08: images are pinned and come from approved registries."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import ORDINARY_PODS, PodFacts


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Require a digest or a version, and an approved registry where the stack file lists any.

    A version tag is enough because registries can make tags immutable; approve only registries that do.
    """
    approved = tuple(prefix.rstrip("/") + "/" for prefix in context.choices.approved_registries)
    for container in pod.containers():
        image = container.at("image").text() or ""
        if not _is_pinned(image):
            yield Finding(f"{pod} runs {image or 'no image'} ({container.path}); expected a digest or a version.")
        if approved and not image.startswith(approved):
            yield Finding(f"{pod} runs {image} ({container.path}); expected an image under {' or '.join(approved)}.")


def _is_pinned(image: str) -> bool:
    tag = image.rpartition("/")[2].partition(":")[2]
    return "@" in image or tag not in ("", "latest")


RULE = Rule(
    id="HK-08",
    slug="images-are-pinned",
    title="Images must be pinned and come from approved registries",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 5.1.4; kube-linter check latest-tag",
    applies_to=ORDINARY_PODS,
    why="A mutable tag can run different code on each node and after each restart.",
    fix="Use an image with an @sha256 digest or a version tag, from one of policies.approvedRegistries in the stack "
    "file.",
    check=check,
    admission=Admission(
        expression=(
            "variables.containers.all(c, c.?image.orValue('').contains('@')"
            " || (c.?image.orValue('').matches(':[^:/]+$') && !c.?image.orValue('').endsWith(':latest')))"
            " && (params.spec.?approvedRegistries.orValue([]).size() == 0"
            " || variables.containers.all(c, params.spec.approvedRegistries.exists(p,"
            " c.?image.orValue('').startsWith(p.endsWith('/') ? p : p + '/'))))"
        )
    ),
)
