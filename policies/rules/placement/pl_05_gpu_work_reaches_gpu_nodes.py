"""PL-05: work that asks for a GPU may go where GPUs are."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from components.contract.taints import GPU_TAINT_VALUE, TaintEffect
from policies.cel import TOLERATIONS, VALUES, every_term, selected
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.gpus import ASKS_FOR_GPU, GPU_NAMES, asked_gpus
from policies.views.node_choice import Demand, always
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Refuse the choice of another role, and advise to choose the GPU pool.

    The toleration is the API server's to add (plug-in ExtendedResourceToleration), so it is judged after that only.
    """
    asked = ", ".join(asked_gpus(pod, context))
    if asked and always(pod, _means_another_role):
        yield Finding(f"{pod} asks for {asked} and chooses another role than {PoolRole.GPU}, where no GPU is.")
    elif asked and not always(pod, _means_a_gpu_pool):
        yield Finding(f"{pod} asks for {asked} and may look for it on any pool; {_CHOICE} says where.", advice=True)


def _means_another_role(demand: Demand) -> bool:
    roles = demand.wants(LabelKey.ROLE)
    return bool(roles) and PoolRole.GPU not in roles


def _means_a_gpu_pool(demand: Demand) -> bool:
    return demand.wants(LabelKey.ROLE) == (PoolRole.GPU,) or bool(demand.wants(LabelKey.POOL))


_CHOICE = f"nodeSelector {LabelKey.ROLE}: {PoolRole.GPU}"

_TOLERATED = (
    f"{TOLERATIONS}.exists(toleration, toleration.?key.orValue('') in ['', gpu]"
    f" && toleration.?effect.orValue('') in ['', '{TaintEffect.NO_SCHEDULE}']"
    " && (toleration.?operator.orValue('') == 'Exists'"
    f" || toleration.?value.orValue('') == '{GPU_TAINT_VALUE}'))"
)
_OTHER_ROLE = (
    f"demand.key == '{LabelKey.ROLE}' && demand.operator == 'In' && !{VALUES}.exists(value, value == '{PoolRole.GPU}')"
)

RULE = Rule(
    id="PL-05",
    slug="gpu-work-reaches-gpu-nodes",
    title="Work that asks for a GPU may go where GPUs are",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=USER_PODS,
    why="A pod that asks for a GPU elsewhere, or cannot stand the GPU nodes' taint, waits for ever.",
    fix=f"Choose {_CHOICE}. If the API server adds no toleration, tolerate the taint named like the resource.",
    check=check,
    admission=Admission(
        # Templates have no toleration yet: the plug-in looks at pods only.
        expression=f"{GPU_NAMES}.all(gpu, !{ASKS_FOR_GPU}"
        f" || (request.resource.resource != 'pods' || {_TOLERATED})"
        f" && {selected(LabelKey.ROLE)} in ['', '{PoolRole.GPU}'] && !{every_term(_OTHER_ROLE)})"
    ),
)
