"""RS-10: namespaces share the cluster, and what they are promised exists."""

from collections.abc import Iterator
from decimal import Decimal

from components.contract.environments import ClusterKind, Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import NotJudgeableError
from policies.views.namespaces import RESOURCE_QUOTA, is_user_namespace
from policies.views.node_groups import NodeGroupFacts, user_groups
from policies.views.node_groups.local import NODE
from policies.views.objects import ByNamespace, by_namespace, name_of

SPELLINGS = {"cpu": ("requests.cpu", "cpu"), "memory": ("requests.memory", "memory")}
"""How a quota may spell what pods may request."""


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Recommend quotas as soon as namespaces share a cluster, and quotas that the largest cluster can serve.

    One namespace needs none: nobody else is there to be kept from anything, and work waits for room by priority.
    """
    names = [name_of(resource) for resource in stack if is_user_namespace(resource)]
    objects = by_namespace(stack, RESOURCE_QUOTA)
    for resource, spellings in SPELLINGS.items():
        quotas = {name: _quota(objects, name, spellings) for name in names}
        unbounded = [name for name, quota in quotas.items() if quota is None]
        if unbounded and len(names) > 1:
            yield Finding(f"No quota bounds the {resource} requests of namespace {', '.join(unbounded)}, wanted one.")
        promised = sum((quota for quota in quotas.values() if quota is not None), Decimal(0))
        if promised and promised > (room := _room(stack, resource)) > 0:
            found = f"Quotas promise {_spelled(resource, promised)} {resource}"
            yield Finding(f"{found}, wanted at most the {_spelled(resource, room)} of all user pools at their largest.")


def _quota(objects: ByNamespace, namespace: str, spellings: tuple[str, ...]) -> Decimal | None:
    """Return the narrowest bound on all pods of the namespace; a quota with a scope bounds only some."""
    specs = [quota.props.at("spec") for quota in objects(namespace)]
    general = [spec for spec in specs if spec.at("scopes").is_absent and spec.at("scopeSelector").is_absent]
    stated = [spec.at("hard", spelling).quantity() for spec in general for spelling in spellings]
    return min((bound for bound in stated if bound is not None), default=None)


def _room(stack: Stack, resource: str) -> Decimal:
    """Return what all user pools offer at their largest; 0 where the stack makes none."""
    return sum(
        (_nodes_max(owner, group) * _offer(group, resource) for owner in stack for group in user_groups([owner])),
        Decimal(0),
    )


def _nodes_max(owner: Resource, group: NodeGroupFacts) -> int:
    """Return the most nodes that ``owner`` can give to its group; a simulated node is one of them."""
    if group.kind is ClusterKind.LOCAL and owner.type == NODE:
        return 1
    if group.size_max is None:
        raise NotJudgeableError(group.location or "the size", "is not stated")
    return group.size_max


def _offer(group: NodeGroupFacts, resource: str) -> Decimal:
    """Return what one node offers, its system's share included."""
    if not group.instances:
        raise NotJudgeableError(group.location or "the group", "names no machine type")
    offers = (instance.vcpus if resource == "cpu" else instance.memory_mib * 2**20 for instance in group.instances)
    return Decimal(max(offers))


def _spelled(resource: str, amount: Decimal) -> str:
    return f"{amount.normalize():f}" if resource == "cpu" else f"{amount / 2**30:.0f}Gi"


RULE = Rule(
    id="RS-10",
    slug="quotas-fit-the-cluster",
    title="Namespaces that share a cluster have quotas, and the cluster can serve them",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits (resources reserved for guaranteed pods)",
    applies_to=WholeStack(),
    why="What a guaranteed pod requests is taken from all others; a quota beyond the cluster bounds nothing.",
    fix="Give every user namespace a quota (namespaces.NAME.quota), all together no more than the pools' largest size.",
    check=check,
)
