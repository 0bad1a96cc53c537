"""Shared storage on EKS: EFS file systems, an access point for each volume, the driver's add-on; also Lustre."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pulumi
from pulumi_aws.ec2 import SecurityGroup
from pulumi_aws.efs import (
    AccessPoint,
    AccessPointPosixUserArgs,
    AccessPointRootDirectoryArgs,
    AccessPointRootDirectoryCreationInfoArgs,
    BackupPolicy,
    BackupPolicyBackupPolicyArgs,
    FileSystem,
    FileSystemPolicy,
    MountTarget,
)
from pulumi_aws.vpc import SecurityGroupIngressRule

from components.base import PlatformComponent
from components.clusters.eks.identity import EFS_POLICIES, POLICY_VERSION, PodRole
from components.clusters.eks.managed_addons import CORE_NODES, ManagedAddon
from components.clusters.eks.network import Network
from components.clusters.handle import Share
from components.contract.aws import OwnTag
from components.contract.eks.config import EksConfig
from components.contract.eks.shared_storage import creation_token
from components.contract.eks.values import EFS_ADDON
from components.contract.shared_storage import Storage, Volumes, class_name

DRIVER: Final = "efs.csi.aws.com"
NFS_PORT: Final = 2049

USER: Final = 1000
GROUP: Final = 100
"""User and group that own all files: an access point replaces the user and group of its clients.

Those of Jupyter's images (jupyter/docker-stacks, ``images/docker-stacks-foundation/Dockerfile``).
"""

MODE: Final = "0770"

CLASS_PARAMETERS: Final = {
    "provisioningMode": "efs-ap",
    "directoryPerms": MODE,
    "uid": str(USER),
    "gid": str(GROUP),
    # Next to /ns, which holds the volumes of the stack file.
    "basePath": "/claims",
}
"""https://github.com/kubernetes-sigs/aws-efs-csi-driver/blob/master/docs/README.md."""

EFS_DRIVER: Final = ManagedAddon(
    name=EFS_ADDON,
    configuration={"controller": {"nodeSelector": CORE_NODES}},
    # Only the controller calls AWS, to create access points for claims of a class; mounts need no role.
    pod=PodRole(service_account="efs-csi-controller-sa", managed_policies=EFS_POLICIES),
)


@dataclass(frozen=True, kw_only=True)
class SharedStorageArgs:
    """Inputs of the shared storage of a cluster."""

    choices: EksConfig
    storage: Mapping[str, Storage]
    volumes: Volumes
    network: Network
    nodes_group: pulumi.Input[str]
    """Security group of the nodes."""
    is_production: bool
    """Whether file systems with data that cannot be recomputed are protected."""


class StorageOfOneType(PlatformComponent):
    """All storage of one type."""

    driver: ManagedAddon
    """The add-on that mounts it."""
    shares: Mapping[str, Share]
    """By the name of the storage."""


class SharedStorage(StorageOfOneType):
    """File systems that are reached from inside the VPC only, with TLS and through an access point.

    They belong to the stack, not to the cluster: a replacement of the cluster does not change them.
    """

    driver = EFS_DRIVER

    def __init__(self, name: str, args: SharedStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksSharedStorage", name, None, opts)
        self._name, self._args = name, args
        group = self._security_group()
        self.shares = {key: self._share(key, storage, group) for key, storage in args.storage.items()}
        self.register_outputs({"names": list(args.storage)})

    def _security_group(self) -> SecurityGroup:
        group = SecurityGroup(
            self._name,
            vpc_id=self._args.network.vpc_id,
            description="Shared storage, from inside the VPC",
            tags={"Name": self._name},
            opts=self.child(),
        )
        SecurityGroupIngressRule(
            self._name,
            security_group_id=group.id,
            description="NFS from the VPC",
            ip_protocol="tcp",
            from_port=NFS_PORT,
            to_port=NFS_PORT,
            cidr_ipv4=self._args.choices.network.cidr,
            opts=self.child(),
        )
        return group

    def _share(self, key: str, storage: Storage, group: SecurityGroup) -> Share:
        args, name = self._args, f"{self._name}-{key}"
        files = FileSystem(
            name,
            # Set, so that a file system is found again if the run was killed while AWS made it.
            creation_token=creation_token(args.choices.name, key),
            encrypted=True,
            # Bursting throughput grows with the size of the data, so a small dataset would be slow.
            throughput_mode="elastic",
            tags={"Name": name, OwnTag.PURPOSE.value: storage.purpose.value},
            opts=self.child(
                protect=args.is_production and storage.purpose.is_kept,
                # Used at creation only: a new name of the cluster must not replace the file system.
                ignore_changes=["creationToken"],
            ),
        )
        if storage.has_backups:
            backups = BackupPolicyBackupPolicyArgs(status="ENABLED")
            BackupPolicy(name, file_system_id=files.id, backup_policy=backups, opts=self.child())
        FileSystemPolicy(name, file_system_id=files.id, policy=self._policy(), opts=self.child())
        for zone, subnet in args.network.node_subnet_ids.items():
            MountTarget(
                f"{name}-{zone}",
                file_system_id=files.id,
                subnet_id=subnet,
                security_groups=[group.id],
                opts=self.child(),
            )
        return Share(
            class_name=class_name(key),
            provisioner=DRIVER,
            parameters={**CLASS_PARAMETERS, "fileSystemId": files.id},
            volumes={at: self._volume(at, files) for at, volume in args.volumes.items() if volume.storage == key},
        )

    def _policy(self) -> str:
        """Return what clients may do: without a policy, any client of a mount target can mount everything, unencrypted.

        https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html
        """
        choices = self._args.choices
        points = f"arn:aws:elasticfilesystem:{choices.region}:{choices.account_id}:access-point/*"
        statement: dict[str, Any] = {
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
            "Condition": {
                "Bool": {"aws:SecureTransport": "true", "elasticfilesystem:AccessedViaMountTarget": "true"},
                "StringLike": {"elasticfilesystem:AccessPointArn": points},
            },
        }
        return json.dumps({"Version": POLICY_VERSION, "Statement": [statement]}, sort_keys=True)

    def _volume(self, at: tuple[str, str], files: FileSystem) -> dict[str, Any]:
        namespace, claim = at
        name = f"{self._name}-{namespace}.{claim}"
        point = AccessPoint(
            name,
            file_system_id=files.id,
            posix_user=AccessPointPosixUserArgs(uid=USER, gid=GROUP),
            root_directory=AccessPointRootDirectoryArgs(
                path=f"/ns/{namespace}/{claim}",
                creation_info=AccessPointRootDirectoryCreationInfoArgs(
                    owner_uid=USER, owner_gid=GROUP, permissions=MODE
                ),
            ),
            tags={"Name": name},
            opts=self.child(),
        )
        return {"csi": {"driver": DRIVER, "volumeHandle": pulumi.Output.concat(files.id, "::", point.id)}}


def storage_by_type(name: str, args: SharedStorageArgs, opts: pulumi.ResourceOptions) -> list[StorageOfOneType]:
    """Declare all storage.

    Parameters
    ----------
    name
        Beginning of the names of all resources.
    """
    files = {key: each for key, each in args.storage.items() if not each.is_lustre}
    lustre = {key: each for key, each in args.storage.items() if each.is_lustre}
    declared: list[StorageOfOneType] = []
    if files:
        declared.append(SharedStorage(f"{name}-storage", replace(args, storage=files), opts))
    if lustre:
        # Only stacks with such storage load the SDK of FSx.
        from components.clusters.eks.lustre import LustreStorage  # noqa: PLC0415

        declared.append(LustreStorage(f"{name}-lustre", replace(args, storage=lustre), opts))
    return declared
