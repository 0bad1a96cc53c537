"""JU-04: notebooks and jobs run on different nodes."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.cel import VALUES, every_term, selected, words
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.values import are_among
from policies.views.gpus import ASKS_FOR_GPU, GPU_NAMES, asked_gpus
from policies.views.jupyter import IS_JUPYTER, JUPYTER_PODS
from policies.views.node_choice import Demand, always
from policies.views.pods import PodFacts

_KEYS = (LabelKey.ROLE.value, LabelKey.POOL.value)
_WANTED = tuple(role.value for role in PoolRole if role.takes_notebooks)
"""Roles that a notebook may select.

Pools with these names count too: a pod does not show the role of the pool that it names.
"""


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Require the choice of the Jupyter pool, or of GPU nodes: by a pool or by requesting a GPU."""
    if not always(pod, _is_for_notebooks) and not asked_gpus(pod, context):
        wanted = f"{LabelKey.ROLE}: {PoolRole.JUPYTER}"
        yield Finding(f"{pod} runs Jupyter but selects neither the Jupyter nor a GPU pool; expected {wanted}.")


def _is_for_notebooks(demand: Demand) -> bool:
    values = [value for key in _KEYS for value in demand.wants(key)]
    return bool(values) and are_among(values, _WANTED)


_NAMES = f"demand.key in {words(_KEYS)} && demand.operator == 'In' && {VALUES}.all(value, value in {words(_WANTED)})"
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
    fix=f"Select {LabelKey.ROLE}: {PoolRole.JUPYTER}. A notebook that requests a GPU needs no selector of a role.",
    check=check,
    admission=Admission(
        expression=f"!{IS_JUPYTER} || {_SELECTS} || {every_term(_NAMES)} || {GPU_NAMES}.exists(gpu, {ASKS_FOR_GPU})",
        concerns_place=True,
    ),
)
