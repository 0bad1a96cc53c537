"""Shared storage on AKS: storage accounts that only the nodes' subnet reaches, with an NFS share for each volume."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_azure_native.storage import (
    DeleteRetentionPolicyArgs,
    FileServiceProperties,
    FileShare,
    SkuArgs,
    StorageAccount,
)

from components.base import PlatformComponent
from components.clusters.aks.storage_account import protections
from components.clusters.handle import NO_PROVISIONER, Share
from components.contract.aks.config import AksConfig
from components.contract.aks.shared_storage import SKUS, account_name, share_name
from components.contract.azure import AzureTag
from components.contract.shared_storage import Storage, Volumes, class_name

DRIVER: Final = "file.csi.azure.com"

KIND: Final = "FileStorage"
"""The only kind with NFS shares: kubernetes-sigs/azurefile-csi-driver, ``deploy/example/nfs/README.md`` (2026)."""

RETENTION_DAYS: Final = 14
"""How long a deleted share can be restored."""


@dataclass(frozen=True, kw_only=True)
class SharedStorageArgs:
    """Inputs of the shared storage of a cluster."""

    choices: AksConfig
    storage: Mapping[str, Storage]
    volumes: Volumes
    resource_group: pulumi.Input[str]
    tags: dict[str, str]
    is_production: bool
    """Whether accounts and shares with data that cannot be recomputed are protected."""


class SharedStorage(PlatformComponent):
    """A storage account for each storage, without keys: NFS uses none, and identifies clients by their network alone.

    The stack declares the shares; the cluster's driver creates none, because its identity would need a role that can
    also read the account's keys.
    """

    shares: Mapping[str, Share]

    def __init__(self, name: str, args: SharedStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksSharedStorage", name, None, opts)
        self._name, self._args = name, args
        self.shares = {key: self._share(key, storage) for key, storage in args.storage.items()}
        self.register_outputs({"names": list(args.storage)})

    def _share(self, key: str, storage: Storage) -> Share:
        account = self._account(key, storage)
        FileServiceProperties(
            f"{self._name}-{key}",
            resource_group_name=self._args.resource_group,
            account_name=account.name,
            file_services_name="default",
            share_delete_retention_policy=DeleteRetentionPolicyArgs(
                enabled=storage.has_backups, days=RETENTION_DAYS if storage.has_backups else None
            ),
            opts=self.child(),
        )
        volumes = {at: volume.size_gib for at, volume in self._args.volumes.items() if volume.storage == key}
        return Share(
            class_name=class_name(key),
            provisioner=NO_PROVISIONER,
            volumes={at: self._volume(at, size, storage, key, account) for at, size in volumes.items()},
        )

    def _account(self, key: str, storage: Storage) -> StorageAccount:
        args, choices = self._args, self._args.choices
        return StorageAccount(
            f"{self._name}-{key}",
            resource_group_name=args.resource_group,
            account_name=account_name(choices, key),
            location=choices.location,
            kind=KIND,
            sku=SkuArgs(name=SKUS[storage.copies]),
            tags={**args.tags, AzureTag.PURPOSE.value: storage.purpose.value},
            # TLS is required for NFS too, so that no pod can mount a share by the account's address (Azure/AKS#5230).
            # A later API has a setting for NFS alone: kubernetes-sigs/cloud-provider-azure#10812.
            **protections(choices, bypass="None"),
            opts=self.child(protect=self._is_protected(storage)),
        )

    def _volume(
        self, at: tuple[str, str], size: int | None, storage: Storage, key: str, account: StorageAccount
    ) -> dict[str, Any]:
        namespace, claim = at
        names = account_name(self._args.choices, key), share_name(namespace, claim)
        share = FileShare(
            # Contains the storage: otherwise the engine would replace a protected share with an unprotected one.
            f"{self._name}-{key}.{namespace}.{claim}",
            resource_group_name=self._args.resource_group,
            account_name=account.name,
            share_name=names[1],
            enabled_protocols="NFS",
            share_quota=size,
            opts=self.child(protect=self._is_protected(storage)),
        )
        attributes = {
            "resourceGroup": self._args.choices.resource_group,
            "storageAccount": names[0],
            # Read from the share, so that it is deleted after the claim, which waits for the pods that mount it.
            "shareName": share.id.apply(lambda _: names[1]),
            "protocol": "nfs",
            "encryptInTransit": "true",
        }
        return {"csi": {"driver": DRIVER, "volumeHandle": "_".join(names), "volumeAttributes": attributes}}

    def _is_protected(self, storage: Storage) -> bool:
        return self._args.is_production and storage.purpose.is_kept
