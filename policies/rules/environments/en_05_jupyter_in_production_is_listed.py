"""EN-05: only listed Jupyter services run in production."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.cel import label
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.values import some
from policies.views.jupyter import HUB_LABEL
from policies.views.pods import USER_PODS, PodFacts

JUPYTER: Final = "jupyter"
"""Part of the image or component name of every notebook server."""

COMPONENT: Final = "app.kubernetes.io/component"

SERVICE_LABELS: Final = ("app.kubernetes.io/instance", "app.kubernetes.io/name", "app", "release")
"""Labels that name the service of a pod; the pod name itself changes with every start."""


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Reject notebook servers, recognised by image and component, whose service is not listed."""
    names = [name for name in map(pod.label, SERVICE_LABELS) if name]
    if _is_jupyter(pod) and not any(name in context.choices.jupyter_services for name in names):
        listed = ", ".join(context.choices.jupyter_services) or "none"
        yield Finding(
            f"{pod} is a Jupyter service that is not listed ({', '.join(names) or 'no name in its labels'}); listed: "
            f"{listed}."
        )


def _is_jupyter(pod: PodFacts) -> bool:
    if JUPYTER in (pod.label(COMPONENT) or "") or pod.label(HUB_LABEL[0]) == HUB_LABEL[1]:
        return True
    return some(pod.containers(), lambda container: JUPYTER in (container.at("image").text() or ""))


RULE = Rule(
    id="EN-05",
    slug="jupyter-in-production-is-listed",
    title="Jupyter services in production must be listed",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="Iguazio best practices, Node Groups",
    applies_to=USER_PODS,
    why="Notebooks hold their resources while idle, and most are development work.",
    fix=f"List the service under policies.jupyterServices by one of its labels ({', '.join(SERVICE_LABELS)}), or "
    "remove it.",
    check=check,
    admission=Admission(
        expression=f"!({label(COMPONENT)}.contains('{JUPYTER}') || {label(HUB_LABEL[0])} == '{HUB_LABEL[1]}'"
        f" || variables.containers.exists(container, container.?image.orValue('').contains('{JUPYTER}')))"
        + "".join(f" || {label(key)} in params.spec.jupyterServices" for key in SERVICE_LABELS)
    ),
)
