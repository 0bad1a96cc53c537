"""Placeholder pods, for which the autoscaler keeps room free."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.scheduling.v1 import PriorityClass

from components.base import PlatformComponent
from components.contract.groups import NodeGroup, by_pool
from components.contract.headroom import HEADROOM, PRIORITY, Headroom
from components.contract.labels import TRUE, LabelKey, WellKnownLabel
from components.contract.priorities import PreemptionPolicy
from components.ownership import owned
from components.pause_pod import pause_pod

RESTRICTED: Final = "restricted"
"""Pod Security's strictest level."""


@dataclass(frozen=True, kw_only=True)
class HeadroomPodsArgs:
    """Inputs of the placeholder pods."""

    groups: tuple[NodeGroup, ...]
    """The cluster's groups; those without headroom are ignored."""
    image: str
    """An image that does nothing. No node pulls it, because no placeholder is ever placed."""


class HeadroomPods(PlatformComponent):
    """A priority class, a namespace, and in it a Deployment for each pool with headroom, named as the pool."""

    def __init__(self, name: str, args: HeadroomPodsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:HeadroomPods", name, None, opts)
        tier = PriorityClass(
            HEADROOM,
            metadata=owned(HEADROOM),
            value=PRIORITY,
            preemption_policy=PreemptionPolicy.NEVER.value,
            global_default=False,
            description="Placeholders of headroom; no scheduler takes them, and every other pod comes first.",
            opts=self.child(),
        )
        levels = (WellKnownLabel.POD_SECURITY_ENFORCE, WellKnownLabel.POD_SECURITY_WARN)
        namespace = Namespace(
            HEADROOM,
            metadata=owned(HEADROOM, labels={level.value: RESTRICTED for level in levels}),
            opts=self.child(),
        )
        pools = by_pool(group for group in args.groups if group.headroom)
        for pool, groups in pools.items():
            self._placeholders(pool, groups, args.image, [tier, namespace])
        self.register_outputs({"pools": list(pools)})

    def _placeholders(
        self, pool: str, groups: Sequence[NodeGroup], image: str, needed: Sequence[pulumi.Resource]
    ) -> None:
        first = groups[0]
        if first.headroom is None:
            return
        labels = {"app.kubernetes.io/name": HEADROOM, LabelKey.POOL.value: pool}
        resources = _requests(first.headroom, first.gpu_resource)
        pod = {"schedulerName": HEADROOM, **pause_pod(groups, image, resources, HEADROOM)}
        Deployment(
            f"{HEADROOM}/{pool}",
            # They stay pending by design, so an update that waited for them would fail.
            metadata=owned(pool, namespace=HEADROOM, labels=labels, annotations={"pulumi.com/skipAwait": TRUE}),
            spec={
                "replicas": first.headroom.pods,
                "strategy": {"type": "Recreate"},  # a rolling update would wait for a ready pod for ever
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
            opts=self.child(depends_on=list(needed)),
        )


def _requests(headroom: Headroom, gpu_resource: str | None) -> dict[str, str]:
    gpus = {gpu_resource: str(headroom.gpus)} if gpu_resource and headroom.gpus else {}
    return {"cpu": headroom.cpu, "memory": headroom.memory, **gpus}
