"""PL-01: user pods select a user pool."""

from collections.abc import Iterator

from components.contract.labels import TRUE, LabelKey
from components.contract.pools import USER_ROLES
from policies.cel import VALUES, every_term, selected, words
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.values import are_among
from policies.views.node_choice import Demand, always, chooses_a_place, user_pools
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Require the label of user pools, a user pool's name, or a role for user work.

    Pods without a placement pass if the API server sets one. It sets none for DaemonSets.
    """
    if context.gives_places and pod.kind != "DaemonSet" and not chooses_a_place(pod):
        return
    if not always(pod, lambda demand: _means_user_pools(demand, context)):
        yield Finding(f"{pod} may run on any node; expected nodeSelector {LabelKey.USER_WORKLOADS}: '{TRUE}'.")


def _means_user_pools(demand: Demand, context: Context) -> bool:
    if pools := demand.wants(LabelKey.POOL):
        return are_among(pools, user_pools(context))
    marks, roles = demand.wants(LabelKey.USER_WORKLOADS), demand.wants(LabelKey.ROLE)
    return (bool(marks) and are_among(marks, (TRUE,))) or (bool(roles) and are_among(roles, USER_ROLES))


_ROLES = words(USER_ROLES)
_POOLS = "params.spec.userPools"
_MEANS_USER_POOLS = (
    f"demand.operator == 'In' && (demand.key == '{LabelKey.USER_WORKLOADS}' && {VALUES}.all(value, value == '{TRUE}')"
    f" || demand.key == '{LabelKey.ROLE}' && {VALUES}.all(value, value in {_ROLES})"
    f" || demand.key == '{LabelKey.POOL}' && {VALUES}.all(value, value in {_POOLS}))"
)

RULE = Rule(
    id="PL-01",
    slug="workloads-choose-a-pool",
    title="User pods must select a user pool",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Assigning Services and Jobs to Node Groups",
    applies_to=USER_PODS,
    why="The initial group has no taint, so pods without a node selector may fill the nodes of core services.",
    fix=f"Add nodeSelector {LabelKey.USER_WORKLOADS}: '{TRUE}' (MLRun adds it by default, "
    "Nuclio with kube.defaultFunctionNodeSelector). Core services need none if an account with the role "
    "igz-clusters:core-services installs them, in a namespace with coreServices: true.",
    check=check,
    admission=Admission(
        expression=f"{selected(LabelKey.USER_WORKLOADS)} == '{TRUE}' || {selected(LabelKey.ROLE)} in {_ROLES}"
        f" || {selected(LabelKey.POOL)} in {_POOLS} || {every_term(_MEANS_USER_POOLS)}",
        concerns_place=True,
    ),
)
