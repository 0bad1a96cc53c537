"""What an acceptance run will create, how long it will take and what it will cost."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import ClusterKind
from components.contract.namespaces import volumes_of
from infra.config import StackConfig
from workbench.acceptance.copied_stack import CopiedStack
from workbench.engine.clouds.find import CLOUDS

HOURS: Final = {ClusterKind.EXISTING: 0.25, ClusterKind.LOCAL: 0.1}
"""Hours that a run takes on a local or existing cluster."""

CLOUD_HOURS: Final = 2.5
"""Hours in a cloud: a cluster takes up to 15 minutes, a node group up to 10, and deleting them as long. The run updates
the cluster eight times; the largest part is waiting. Not measured in an account."""

POD_SHARE: Final = 0.3
"""Fraction of the run in which pods occupy nodes of pools that are otherwise empty."""


def announcement(copied: CopiedStack, source: str) -> Iterator[str]:
    """Return what the run will create and cost, line by line."""
    config = copied.stack.config
    kind = ClusterKind(config.cluster.kind)
    hours, least = HOURS.get(kind, CLOUD_HOURS), sum(group.size.min for group in config.groups)
    empty = sum(pool.size.min == 0 for pool in config.pools.values())
    yield f"The acceptance run tests the whole life cycle of a copy of '{source}', named '{copied.name}'. It creates"
    yield {
        ClusterKind.LOCAL: "a control plane on this machine, with simulated nodes.",
        ClusterKind.EXISTING: "labels, taints, classes and namespaces on the stack's cluster, removed at the end.",
    }.get(kind, f"a cluster of its own ({kind}), with network, keys, roles and {least} to {least + empty} nodes.")
    if kind is not ClusterKind.LOCAL and (sizes := list(_sizes(config))):
        yield f"Storage is made in its full size, and clouds charge for that while it exists: {', '.join(sizes)}."
    yield f"It takes about {_time(hours)}. The original stack and its file are not changed."
    if type(config.cluster) in CLOUDS:
        used = hours * (least + POD_SHARE * empty)
        types = sorted({each.instances[0].name for each in config.groups if each.instances})
        yield f"Cost: about {used:.0f} node-hours ({', '.join(types)}), {hours:g} hours of a control plane, and the"
        yield "network's gateways, addresses and logs for that time. These hours are estimates, not measured."
    yield f"Stack file and record: {copied.folder}"


def _sizes(config: StackConfig) -> Iterator[str]:
    """Yield the shared storage whose size does not depend on its content: Lustre file systems, shares and claims."""
    for name, storage in config.storage.items():
        if storage.size_gib is not None:
            yield f"Lustre file system '{name}' ({storage.size_gib:,} GiB)"
    for (namespace, claim), volume in volumes_of(config.namespaces).items():
        if volume.size_gib is not None:
            yield f"volume '{claim}' of namespace '{namespace}' ({volume.size_gib:,} GiB)"


def _time(hours: float) -> str:
    return f"{hours:g} hours" if hours >= 1 else f"{hours * 60:.0f} minutes"
