"""JU-04: interactive work and jobs do not push each other off their nodes."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.cel import selected
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.jupyter import IS_JUPYTER, JUPYTER_PODS
from policies.views.pods import PodFacts

_KEYS = (LabelKey.ROLE.value, LabelKey.POOL.value)
_WANTED = (PoolRole.JUPYTER.value, PoolRole.GPU.value)
"""Roles; names of pools that are named so count too, since a pod alone does not tell what role its pool has."""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Demand a selector of the Jupyter pool, or of the GPU pool for those that need one."""
    if not any(pod.selected(key) in _WANTED for key in _KEYS):
        wanted = f"{LabelKey.ROLE}: {PoolRole.JUPYTER}"
        yield Finding(f"{pod} runs Jupyter and selects neither the Jupyter nor a GPU pool, wanted {wanted}.")


_SELECTS = " || ".join(f"{selected(key)} in {list(_WANTED)}" for key in _KEYS)

RULE = Rule(
    id="JU-04",
    slug="jupyter-runs-on-its-pool",
    title="Jupyter services run on the Jupyter pool",
    severity=Severity.LOW,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.OFF},
    source="Iguazio best practices, Development Cluster",
    applies_to=JUPYTER_PODS,
    why="On shared nodes a job that takes all memory ends the notebooks beside it.",
    fix=f"Select {LabelKey.ROLE}: {PoolRole.JUPYTER}, with a GPU {LabelKey.ROLE}: {PoolRole.GPU}.",
    check=check,
    admission=Admission(expression=f"!{IS_JUPYTER} || {_SELECTS}"),
)
