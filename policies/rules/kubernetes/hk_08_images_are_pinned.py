"""HK-08: images are pinned and come from approved registries."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from components.contract.environments import Environment
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import ORDINARY_PODS, PodFacts


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Require a digest or a version, and an approved registry where the stack file lists any.

    A version tag is enough because registries can make tags immutable; approve only registries that do. MLRun and
    Nuclio build with the tag latest by default, so images in the platform's own registries may have any tag.
    """
    approved = _folders(context.choices.approved_registries)
    built = _folders(context.choices.platform_registries)
    for value in pod.images():
        image = value.text() or ""
        if image.startswith(built):
            continue
        if not _is_pinned(image):
            yield Finding(f"{pod} runs {image or 'no image'} ({value.path}); expected a digest or a version.")
        if approved and not image.startswith(approved):
            yield Finding(f"{pod} runs {image} ({value.path}); expected an image under {' or '.join(approved)}.")


def _folders(prefixes: Iterable[str]) -> tuple[str, ...]:
    return tuple(prefix.rstrip("/") + "/" for prefix in prefixes)


_APPROVED = "params.spec.?approvedRegistries.orValue([])"


def _under(prefixes: str) -> str:
    return f"{prefixes}.exists(p, i.name.startsWith(p.endsWith('/') ? p : p + '/'))"


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
    applies_to=replace(
        ORDINARY_PODS,
        noun=f"{ORDINARY_PODS.noun} or a placeholder of headroom",
        # Nothing pulls their image: PR-08 requires that they never get a node.
        concerns=lambda pod, context: ORDINARY_PODS.concerns(pod, context) and not pod.is_placeholder,
    ),
    why="A mutable tag can run different code on each node and after each restart.",
    fix="Use an image with an @sha256 digest or a version tag, from one of policies.approvedRegistries in the stack "
    "file. For images that MLRun and Nuclio build, list their registry in policies.platformRegistries.",
    check=check,
    admission=Admission(
        culprits=f"variables.images.filter(i, !({_under('variables.platformRegistries')}"
        " || ((i.name.contains('@') || (i.name.matches(':[^:/]+$') && !i.name.endsWith(':latest')))"
        f" && ({_APPROVED}.size() == 0 || {_under(_APPROVED)}))))"
        ".map(i, i['in'] + ' (image ' + i.name + ')')"
    ),
)
