"""JU-05: the autoscaler does not drain the nodes of notebooks."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.labels import AnnotationKey
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.jupyter import IS_JUPYTER, JUPYTER_PODS
from policies.views.pods import PodFacts

SAFE_TO_EVICT: Final = AnnotationKey.SAFE_TO_EVICT.value


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Recommend the annotation that keeps the node of a notebook."""
    if (found := pod.annotation(SAFE_TO_EVICT)) != "false":
        yield Finding(f"{pod} runs Jupyter, and {SAFE_TO_EVICT} is {found or 'not set'}; expected 'false'.")


RULE = Rule(
    id="JU-05",
    slug="autoscaler-spares-notebooks",
    title="Jupyter pods should keep the autoscaler from draining their node",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Jupyter Service and Auto-scaling; Cluster Autoscaler, FAQ",
    applies_to=JUPYTER_PODS,
    why="The autoscaler removes nodes that are little used, and with them the kernels and unsaved work of notebooks.",
    fix=f"Annotate the pods with {SAFE_TO_EVICT}: 'false'; idle services that scale to zero release their node.",
    check=check,
    admission=Admission(
        expression=f"!{IS_JUPYTER} || variables.metadata.?annotations['{SAFE_TO_EVICT}'].orValue('') == 'false'"
    ),
)
