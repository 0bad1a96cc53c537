"""JU-04: notebooks and jobs run on different nodes."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.cel import selected
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.jupyter import IS_JUPYTER, JUPYTER_PODS
from policies.views.pods import PodFacts

_KEYS = (LabelKey.ROLE.value, LabelKey.POOL.value)
_WANTED = tuple(role.value for role in PoolRole if role.takes_notebooks)
"""Roles that a notebook may select.

Pools with these names count too: a pod does not show the role of the pool that it names.
"""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require a selector for the Jupyter pool, or for the GPU pool."""
    if not any(pod.selected(key) in _WANTED for key in _KEYS):
        wanted = f"{LabelKey.ROLE}: {PoolRole.JUPYTER}"
        yield Finding(f"{pod} runs Jupyter but selects neither the Jupyter nor a GPU pool; expected {wanted}.")


_SELECTS = " || ".join(f"{selected(key)} in {list(_WANTED)}" for key in _KEYS)

RULE = Rule(
    id="JU-04",
    slug="jupyter-runs-on-its-pool",
    title="Jupyter services must select the Jupyter pool",
    severity=Severity.LOW,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.OFF},
    source="Iguazio best practices, Development Cluster",
    applies_to=JUPYTER_PODS,
    why="On shared nodes, a job that takes all memory kills the notebooks next to it.",
    fix=f"Select {LabelKey.ROLE}: {PoolRole.JUPYTER}, or {LabelKey.ROLE}: {PoolRole.GPU} for notebooks with a GPU.",
    check=check,
    admission=Admission(expression=f"!{IS_JUPYTER} || {_SELECTS}", concerns_place=True),
)
