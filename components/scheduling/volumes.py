"""Claims of a user namespace in shared storage, and their volumes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_kubernetes.core.v1 import PersistentVolume, PersistentVolumeClaim

from components.base import PlatformComponent
from components.clusters.handle import CsiVolume, Share
from components.contract.shared_storage import Volume, class_name, volume_name
from components.ownership import owned

SIZE: Final = "1Ti"
"""Size of volumes whose storage has none: Kubernetes requires one, and nothing enforces it."""

MANY: Final = "ReadWriteMany"


@dataclass(frozen=True, kw_only=True)
class NamespaceVolumesArgs:
    """Inputs of the volumes of one namespace."""

    namespace: str
    choices: Mapping[str, Volume]
    """By the name of the claim."""
    shares: Mapping[str, Share]


class NamespaceVolumes(PlatformComponent):
    """Claims, each bound to a volume of its own that no other claim can take.

    Both are declared instead of provisioned: so they are in the state, and an object that is made anew, as in a new
    cluster, finds the same data.
    """

    def __init__(self, name: str, args: NamespaceVolumesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:NamespaceVolumes", name, None, opts)
        for claim, choice in args.choices.items():
            self._claim(args.namespace, claim, choice, args.shares[choice.storage].volumes[args.namespace, claim])
        self.register_outputs({"claims": list(args.choices)})

    def _claim(self, namespace: str, claim: str, choice: Volume, source: CsiVolume) -> None:
        name = volume_name(namespace, claim)
        common = {"accessModes": [MANY], "volumeMode": "Filesystem", "storageClassName": class_name(choice.storage)}
        volume = PersistentVolume(
            name,
            metadata=owned(name),
            spec={
                **common,
                "capacity": {"storage": SIZE},
                # With the claim goes only the object: the data stays in its directory.
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": namespace,
                    "name": claim,
                },
                "csi": {"driver": source.driver, "volumeHandle": source.handle},
            },
            opts=self.child(delete_before_replace=True),
        )
        PersistentVolumeClaim(
            name,
            metadata=owned(claim, namespace=namespace),
            spec={**common, "resources": {"requests": {"storage": SIZE}}, "volumeName": name},
            # A volume that lost its claim binds no other, so that they are replaced together.
            opts=self.child(depends_on=[volume], replace_with=[volume], delete_before_replace=True),
        )
