"""PL-02: user pods neither select nor tolerate nodes of core services."""

from collections.abc import Iterator
from typing import Final

from components.contract.labels import LabelKey
from components.contract.pools import USER_ROLES
from policies.cel import TOLERATIONS, VALUES, culprit, every_demand, words, wrong_selector
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.values import each
from policies.views.node_choice import Demand, demands, tolerated_keys, user_pools
from policies.views.pods import USER_PODS, PodFacts

CORE_TAINTS: Final = (
    "CriticalAddonsOnly",
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
)
"""Keys of taints that protect system nodes: AKS system pools, control planes."""


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Reject selectors of other roles and pools, and tolerations of all taints or of system nodes."""

    def choices(demand: Demand) -> Iterator[Finding]:
        foreign = [role for role in demand.wants(LabelKey.ROLE) if role not in USER_ROLES]
        foreign += [pool for pool in demand.wants(LabelKey.POOL) if pool not in user_pools(context)]
        if foreign:
            yield Finding(f"{pod} selects {demand.key} {', '.join(foreign)}; expected one for user work.")

    yield from each(demands(pod), choices)
    for key in tolerated_keys(pod):
        if not key:
            yield Finding(f"{pod} has a toleration without a key, which tolerates every taint; expected a key.")
        elif key in CORE_TAINTS:
            yield Finding(f"{pod} tolerates {key}, the taint of system nodes; expected no such toleration.")


_ROLES = words(USER_ROLES)
_POOLS = "params.spec.userPools"
_FOR_USERS = (
    f"demand.operator != 'In' || (demand.key != '{LabelKey.ROLE}' || {VALUES}.all(value, value in {_ROLES}))"
    f" && (demand.key != '{LabelKey.POOL}' || {VALUES}.all(value, value in {_POOLS}))"
)

RULE = Rule(
    id="PL-02",
    slug="user-work-stays-off-core",
    title="User pods must not select or tolerate nodes of core services",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Assigning Services and Jobs to Node Groups",
    applies_to=USER_PODS,
    why="User work on initial or data nodes competes with the services that the whole platform depends on.",
    fix=f"Select a pool of role {', '.join(USER_ROLES)}, and give every toleration a key.",
    check=check,
    admission=Admission(
        culprits=" + ".join(
            [
                wrong_selector(LabelKey.ROLE, _ROLES),
                wrong_selector(LabelKey.POOL, _POOLS),
                culprit(f"!{every_demand(_FOR_USERS)}", "'required node affinity'"),
                (
                    f"{TOLERATIONS}.map(toleration, toleration.?key.orValue(''))"
                    f".filter(key, key in {words(('', *CORE_TAINTS))})"
                    ".map(key, 'toleration of ' + (key == '' ? 'every taint' : string(key)))"
                ),
            ]
        ),
        concerns_place=True,
    ),
)
