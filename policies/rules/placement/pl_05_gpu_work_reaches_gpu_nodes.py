"""PL-05: pods that request a GPU can run on GPU nodes."""

from collections.abc import Iterator
from functools import partial

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from components.contract.taints import GPU_TAINT_VALUE, TaintEffect
from policies.cel import TOLERATIONS, VALUES, culprit, every_term, words, wrong_selector
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.corrections import corrected
from policies.views.gpus import ASKS_FOR_GPU, GPU_NAMES, asked_gpus
from policies.views.node_choice import Demand, always, gpu_pools
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Reject the selection of other pools. No selector is needed: only GPU nodes offer GPUs.

    The API server adds the toleration (plug-in ExtendedResourceToleration), so only admission checks it.
    A pod is checked with the role that the API server will set.
    """
    asked = ", ".join(asked_gpus(pod, context))
    if asked and always(corrected(pod, context), partial(_means_other_nodes, context=context)):
        yield Finding(f"{pod} requests {asked} but selects a role or a pool whose nodes have no GPU; expected neither.")


def _means_other_nodes(demand: Demand, context: Context) -> bool:
    roles, pools = demand.wants(LabelKey.ROLE), demand.wants(LabelKey.POOL)
    return (bool(roles) and PoolRole.GPU not in roles) or (bool(pools) and gpu_pools(context).isdisjoint(pools))


_TOLERATED = (
    f"{TOLERATIONS}.exists(toleration, toleration.?key.orValue('') in ['', gpu]"
    f" && toleration.?effect.orValue('') in ['', '{TaintEffect.NO_SCHEDULE}']"
    " && (toleration.?operator.orValue('') == 'Exists'"
    f" || toleration.?value.orValue('') == '{GPU_TAINT_VALUE}'))"
)
_POOLS = "variables.gpuPools"
_OTHER_NODES = (
    f"demand.operator == 'In' && (demand.key == '{LabelKey.ROLE}' && !('{PoolRole.GPU}' in {VALUES})"
    f" || demand.key == '{LabelKey.POOL}' && !{VALUES}.exists(value, value in {_POOLS}))"
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
    fix=f"Remove the selector of {LabelKey.ROLE} or {LabelKey.POOL}: the GPU request itself leads to GPU nodes, and "
    "helpers of the job that request none stay off them. If the API server adds no toleration, tolerate the taint "
    "named like the resource.",
    check=check,
    admission=Admission(
        # Templates have no toleration yet: the plug-in looks at pods only.
        culprits=f"!{GPU_NAMES}.exists(gpu, {ASKS_FOR_GPU}) ? [] : "
        + " + ".join(
            [
                (
                    f"{GPU_NAMES}.filter(gpu, {ASKS_FOR_GPU} && request.resource.resource == 'pods' && !{_TOLERATED})"
                    ".map(gpu, 'no toleration of ' + gpu)"
                ),
                wrong_selector(LabelKey.ROLE, words([PoolRole.GPU])),
                wrong_selector(LabelKey.POOL, _POOLS),
                culprit(every_term(_OTHER_NODES), "'required node affinity'"),
            ]
        )
    ),
)
