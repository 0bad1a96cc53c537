"""HK-08: what runs tomorrow is what was tested, from a registry that somebody trusts."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import ORDINARY_PODS, PodFacts


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Demand a digest or a version, and an approved registry where the stack file names any.

    A version is accepted because registries can refuse to move a tag; which ones do is what the approval is about.
    """
    approved = tuple(prefix.rstrip("/") + "/" for prefix in context.choices.approved_registries)
    for container in pod.containers():
        image = container.at("image").text() or ""
        if not _is_pinned(image):
            yield Finding(f"{pod} runs {image or 'no image'} ({container.path}), wanted a digest or a version.")
        if approved and not image.startswith(approved):
            yield Finding(f"{pod} runs {image} ({container.path}), wanted an image under {' or '.join(approved)}.")


def _is_pinned(image: str) -> bool:
    tag = image.rpartition("/")[2].partition(":")[2]
    return "@" in image or tag not in ("", "latest")


RULE = Rule(
    id="HK-08",
    slug="images-are-pinned",
    title="Images are pinned and come from approved registries",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 5.1.4; kube-linter check latest-tag",
    applies_to=ORDINARY_PODS,
    why="A moving tag runs other code after the next restart than on the other nodes, and nobody decided it.",
    fix="Name the image with registry and @sha256 digest, or with a version; see approvedRegistries of the stack file.",
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
