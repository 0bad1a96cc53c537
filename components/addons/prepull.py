"""Daemons that have the nodes of a pool pull images before pods need them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet

from components.base import PlatformComponent
from components.contract.groups import NodeGroup, by_pool
from components.contract.labels import TRUE, LabelKey
from components.ownership import owned
from components.pause_pod import pause_pod

NAME: Final = "igz-prepull"
NAMESPACE: Final = "kube-system"

RESOURCES: Final = {"cpu": "5m", "memory": "16Mi"}
"""Used as requests and limits: the container does nothing. The kubelet and containerd do the work."""


@dataclass(frozen=True, kw_only=True)
class ImagePrepullArgs:
    """Inputs of the daemons."""

    groups: tuple[NodeGroup, ...]
    """The cluster's groups; those without images are ignored."""
    image: str
    """Image of the container that does nothing."""


class ImagePrepull(PlatformComponent):
    """A DaemonSet for each pool with images. Its pods mount them as volumes: nodes pull and keep them, but run none.

    Nodes pull with their own credentials.
    """

    def __init__(self, name: str, args: ImagePrepullArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:ImagePrepull", name, None, opts)
        pools = by_pool(group for group in args.groups if group.prepull_images)
        for pool, groups in pools.items():
            self._daemon(pool, groups, args.image)
        self.register_outputs({"pools": list(pools)})

    def _daemon(self, pool: str, groups: Sequence[NodeGroup], image: str) -> None:
        labels = {"app.kubernetes.io/name": NAME, LabelKey.POOL.value: pool}
        DaemonSet(
            f"{NAME}/{pool}",
            metadata=owned(
                f"{NAME}-{pool}",
                namespace=NAMESPACE,
                labels=labels,
                # Pulling gigabytes may exceed the timeout, and an image that cannot be pulled must not fail the run.
                annotations={"pulumi.com/skipAwait": TRUE},
            ),
            spec={
                "selector": {"matchLabels": labels},
                # All nodes at once: the pods serve nothing, so an update interrupts nothing.
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
                "template": {"metadata": {"labels": labels}, "spec": _pod(groups, image)},
            },
            opts=self.child(),
        )


def _pod(groups: Sequence[NodeGroup], image: str) -> dict[str, Any]:
    volumes = {f"image-{number}": reference for number, reference in enumerate(groups[0].prepull_images)}
    # With a lower priority class, a full node would have no room for the pod.
    spec = pause_pod(groups, image, RESOURCES, "system-node-critical")
    (container,) = spec["containers"]
    container["volumeMounts"] = [{"name": name, "mountPath": f"/images/{name}", "readOnly": True} for name in volumes]
    spec["volumes"] = [
        {"name": name, "image": {"reference": reference, "pullPolicy": "IfNotPresent"}}
        for name, reference in volumes.items()
    ]
    return spec
