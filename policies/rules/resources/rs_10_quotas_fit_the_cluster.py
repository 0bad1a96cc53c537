"""RS-10: namespaces have quotas that the cluster can serve."""

from collections.abc import Iterator
from decimal import Decimal

from components.contract.environments import Environment
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import NotJudgeableError
from policies.views.namespaces import RESOURCE_QUOTA, is_user_namespace
from policies.views.node_groups import NodeGroupFacts, user_groups
from policies.views.objects import ByNamespace, by_namespace, name_of

SPELLINGS = {"cpu": ("requests.cpu", "cpu"), "memory": ("requests.memory", "memory")}
"""Spellings of a quota on requests."""


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Recommend quotas where namespaces share a cluster, within the cluster's maximum size.

    A single namespace needs no quota: it competes with no other, and priorities order its work.
    """
    names = [name_of(resource) for resource in stack if is_user_namespace(resource)]
    objects = by_namespace(stack, RESOURCE_QUOTA)
    for resource, spellings in SPELLINGS.items():
        quotas = {name: _quota(objects, name, spellings) for name in names}
        unbounded = [name for name, quota in quotas.items() if quota is None]
        if unbounded and len(names) > 1:
            yield Finding(f"No quota limits the {resource} requests of namespace {', '.join(unbounded)}; expected one.")
        promised = sum((quota for quota in quotas.values() if quota is not None), Decimal(0))
        if promised and promised > (room := _room(stack, resource)) > 0:
            found = f"Quotas add up to {_spelled(resource, promised)} {resource}"
            yield Finding(
                f"{found}; expected at most the {_spelled(resource, room)} that all user pools offer at maximum size."
            )


def _quota(objects: ByNamespace, namespace: str, spellings: tuple[str, ...]) -> Decimal | None:
    """Return the lowest quota on all pods of the namespace; quotas with a scope cover only some."""
    specs = [quota.props.at("spec") for quota in objects(namespace)]
    general = [spec for spec in specs if spec.at("scopes").is_absent and spec.at("scopeSelector").is_absent]
    stated = [spec.at("hard", spelling).quantity() for spec in general for spelling in spellings]
    return min((bound for bound in stated if bound is not None), default=None)


def _room(stack: Stack, resource: str) -> Decimal:
    """Return what all user pools offer at maximum size; 0 where the stack creates none."""
    return sum(
        (_nodes_max(group) * _offer(group, resource) for group in user_groups(stack)),
        Decimal(0),
    )


def _nodes_max(group: NodeGroupFacts) -> int:
    if (nodes := group.nodes_max) is None:
        raise NotJudgeableError(group.location or "the size", "is not set")
    return nodes


def _offer(group: NodeGroupFacts, resource: str) -> Decimal:
    """Return what one node offers, including the share reserved for the system."""
    if not group.instances:
        raise NotJudgeableError(group.location or "the group", "names no machine type")
    offers = (instance.vcpus if resource == "cpu" else instance.memory_mib * 2**20 for instance in group.instances)
    return Decimal(max(offers))


def _spelled(resource: str, amount: Decimal) -> str:
    return f"{amount.normalize():f}" if resource == "cpu" else f"{amount / 2**30:.0f}Gi"


RULE = Rule(
    id="RS-10",
    slug="quotas-fit-the-cluster",
    title="Namespaces that share a cluster should have quotas within its capacity",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits (resources reserved for guaranteed pods)",
    applies_to=WholeStack(),
    why="Without a quota one namespace can request the whole cluster; a quota above its capacity limits nothing.",
    fix="Set namespaces.NAME.quota for every user namespace, in total at most the capacity of all pools at maximum "
    "size.",
    check=check,
)
