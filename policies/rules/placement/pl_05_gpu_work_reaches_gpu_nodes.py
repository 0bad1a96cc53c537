"""PL-05: pods that request a GPU can run on GPU nodes."""

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
    """Reject the selection of another role, and recommend selecting the GPU pool.

    The API server adds the toleration (plug-in ExtendedResourceToleration), so only admission checks it.
    """
    asked = ", ".join(asked_gpus(pod, context))
    if asked and always(pod, _means_another_role):
        yield Finding(f"{pod} requests {asked} but selects a role other than {PoolRole.GPU}, whose nodes have no GPU.")
    elif asked and not always(pod, _means_a_gpu_pool):
        yield Finding(f"{pod} requests {asked} but selects no GPU pool, recommended {_CHOICE}.", advice=True)


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
    title="Pods that request a GPU must be able to run on GPU nodes",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=USER_PODS,
    why="A GPU pod that selects another pool, or does not tolerate the GPU taint, stays pending forever.",
    fix=f"Select {_CHOICE}. If the API server adds no toleration, tolerate the taint named like the resource.",
    check=check,
    admission=Admission(
        # Templates have no toleration yet: the plug-in looks at pods only.
        expression=f"{GPU_NAMES}.all(gpu, !{ASKS_FOR_GPU}"
        f" || (request.resource.resource != 'pods' || {_TOLERATED})"
        f" && {selected(LabelKey.ROLE)} in ['', '{PoolRole.GPU}'] && !{every_term(_OTHER_ROLE)})"
    ),
)
