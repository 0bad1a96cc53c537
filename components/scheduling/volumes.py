"""Claims of a user namespace in shared storage, and their volumes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.core.v1 import PersistentVolume, PersistentVolumeClaim

from components.base import PlatformComponent
from components.clusters.handle import Share
from components.contract.labels import AnnotationKey
from components.contract.shared_storage import Storage, Volume, volume_name
from components.ownership import owned

SIZE: Final = "1Ti"
"""Size of each declared volume: Kubernetes requires one, does not enforce it, and cannot expand declared volumes."""

MANY: Final = "ReadWriteMany"


@dataclass(frozen=True, kw_only=True)
class NamespaceVolumesArgs:
    """Inputs of the volumes of one namespace."""

    namespace: str
    choices: Mapping[str, Volume]
    """By the name of the claim."""
    storage: Mapping[str, Storage]
    shares: Mapping[str, Share]
    is_production: bool
    """Whether claims with data that cannot be recomputed are protected if deleting them may delete it."""


class NamespaceVolumes(PlatformComponent):
    """Claims, each bound to a volume of its own that no other claim can use.

    If the stack creates the storage, the volumes are declared instead of provisioned: they are in the state, and an
    object that is created again, such as in a new cluster, refers to the same data.
    """

    def __init__(self, name: str, args: NamespaceVolumesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:NamespaceVolumes", name, None, opts)
        self._args = args
        for claim, choice in args.choices.items():
            share = args.shares[choice.storage]
            if source := share.volumes.get((args.namespace, claim)):
                self._declared(claim, share.class_name, source)
            else:
                self._provisioned(claim, choice, share.class_name)
        self.register_outputs({"claims": list(args.choices)})

    def _declared(self, claim: str, class_name: str, source: Mapping[str, Any]) -> None:
        namespace = self._args.namespace
        name = volume_name(namespace, claim)
        volume = PersistentVolume(
            name,
            metadata=owned(name),
            spec={
                **_common(class_name),
                "capacity": {"storage": SIZE},
                # A deletion of the claim deletes only this object: the data stays in its directory.
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": namespace,
                    "name": claim,
                },
                **source,
            },
            opts=self.child(delete_before_replace=True),
        )
        PersistentVolumeClaim(
            name,
            metadata=owned(claim, namespace=namespace),
            spec={**_common(class_name), "resources": {"requests": {"storage": SIZE}}, "volumeName": name},
            # A volume whose claim was deleted binds to no other, so both are replaced together.
            opts=self.child(depends_on=[volume], replace_with=[volume], delete_before_replace=True),
        )

    def _provisioned(self, claim: str, choice: Volume, class_name: str) -> None:
        size = {"storage": f"{choice.size_gib}Gi"}
        purpose = self._args.storage[choice.storage].purpose
        noted = {AnnotationKey.PURPOSE.value: purpose.value}
        PersistentVolumeClaim(
            volume_name(self._args.namespace, claim),
            metadata=owned(claim, namespace=self._args.namespace, annotations=noted),
            spec={**_common(class_name), "resources": {"requests": size}},
            # Its driver may delete the data with the claim.
            opts=self.child(delete_before_replace=True, protect=self._args.is_production and purpose.is_kept),
        )


def _common(class_name: str) -> dict[str, Any]:
    return {"accessModes": [MANY], "volumeMode": "Filesystem", "storageClassName": class_name}
