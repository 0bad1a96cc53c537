"""Parallel file systems on EKS: FSx for Lustre, each with exactly one volume, and the driver's add-on."""

from collections.abc import Iterator
from typing import Any, Final

import pulumi
from pulumi_aws.ec2 import SecurityGroup
from pulumi_aws.fsx import LustreFileSystem
from pulumi_aws.vpc import SecurityGroupEgressRule, SecurityGroupIngressRule

from components.clusters.eks.managed_addons import CORE_NODES, ManagedAddon
from components.clusters.eks.shared_storage import SharedStorageArgs, StorageOfOneType
from components.clusters.handle import NO_PROVISIONER, Share
from components.contract.aws import OwnTag
from components.contract.eks.nodes import NODES
from components.contract.eks.values import LUSTRE_ADDON
from components.contract.labels import WellKnownLabel
from components.contract.shared_storage import Storage, class_name

DRIVER: Final = "fsx.csi.aws.com"

PORTS: Final = ((988, 988), (1018, 1023))
"""Ports of both clients and servers: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html."""

LUSTRE_VERSION: Final = "2.15"
"""Recommended for all new file systems: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html."""

DEPLOYMENT: Final = "PERSISTENT_2"
"""Replicated to other servers of the zone, and with backups, whatever the purpose is.

The type of a file system cannot be changed, and a new purpose must not lose the data (decision 38).
"""

THROUGHPUT: Final = 125
"""In MB/s for each TiB of size: the minimum of that type, and the cheapest."""

RETENTION_DAYS: Final = 14
"""How long daily backups are kept. If the file system is deleted, its backups are deleted too."""

LUSTRE_DRIVER: Final = ManagedAddon(
    # Without a role: the nodes' kernel mounts, and only the controller calls AWS, to create file systems for claims of
    # a class. There is no such class, and without rights the controller only logs the refusals
    # (kubernetes-sigs/aws-fsx-csi-driver v1.9.0, pkg/cloud/cloud.go, pkg/driver/node.go).
    name=LUSTRE_ADDON,
    configuration={"controller": {"nodeSelector": CORE_NODES}},
)


class LustreStorage(StorageOfOneType):
    """File systems in one zone. Lustre requires no identity: every host that reaches the servers can mount them.

    They belong to the stack, not to the cluster: a replacement of the cluster does not change them.
    """

    driver = LUSTRE_DRIVER

    def __init__(self, name: str, args: SharedStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksLustreStorage", name, None, opts)
        self._name, self._args = name, args
        group = SecurityGroup(
            name,
            vpc_id=args.network.vpc_id,
            description="Lustre file systems, from inside the VPC",
            tags={"Name": name},
            opts=self.child(),
        )
        rules = list(self._rules(group))
        self.shares = {key: self._share(key, storage, group, rules) for key, storage in args.storage.items()}
        self.register_outputs({"names": list(args.storage)})

    def _rules(self, group: SecurityGroup) -> Iterator[pulumi.Resource]:
        """Let servers and nodes call each other; servers are in the VPC too, and call each other by the same rules.

        The servers' security group references no group of the cluster: EKS could not delete a referenced group.
        Where pods have a range of their own, a node may call from there: the driver mounts inside a pod that is not on
        the host network (kubernetes-sigs/aws-fsx-csi-driver, the chart's CHANGELOG, v1.6.1).
        """
        choices = self._args.choices
        ranges = {"": choices.network.cidr, **({"-pods": choices.pod_cidr} if choices.pod_cidr else {})}
        for first, last in PORTS:
            name = f"{self._name}-{first}"
            ports: dict[str, Any] = {"ip_protocol": "tcp", "from_port": first, "to_port": last}
            for suffix, cidr in ranges.items():
                servers: dict[str, Any] = {"security_group_id": group.id, "cidr_ipv4": cidr, **ports}
                options = self.child()
                yield SecurityGroupIngressRule(f"{name}{suffix}", description="Lustre clients", **servers, opts=options)
                yield SecurityGroupEgressRule(f"{name}{suffix}", description="Lustre clients", **servers, opts=options)
            SecurityGroupIngressRule(
                f"{name}-nodes",
                security_group_id=self._args.nodes_group,
                referenced_security_group_id=group.id,
                **ports,
                opts=self.child(),
            )

    def _share(self, key: str, storage: Storage, group: SecurityGroup, rules: list[pulumi.Resource]) -> Share:
        args, name, zone = self._args, f"{self._name}-{key}", storage.zone or ""
        files = LustreFileSystem(
            name,
            deployment_type=DEPLOYMENT,
            per_unit_storage_throughput=THROUGHPUT,
            file_system_type_version=LUSTRE_VERSION,
            storage_capacity=storage.size_gib,
            subnet_ids=args.network.node_subnet_ids[zone],
            security_group_ids=[group.id],
            # If left out, they would keep their previous value.
            automatic_backup_retention_days=RETENTION_DAYS if storage.has_backups else 0,
            copy_tags_to_backups=True,
            tags={"Name": name, OwnTag.PURPOSE.value: storage.purpose.value},
            opts=self.child(
                protect=args.is_production and storage.purpose.is_kept,
                # FSx refuses to create a file system whose security group does not admit Lustre.
                depends_on=rules,
            ),
        )
        return Share(
            class_name=class_name(key),
            provisioner=NO_PROVISIONER,
            volumes={at: self._volume(files, zone) for at, volume in args.volumes.items() if volume.storage == key},
        )

    def _volume(self, files: LustreFileSystem, zone: str) -> dict[str, Any]:
        here = {"key": WellKnownLabel.ZONE.value, "operator": "In", "values": [NODES.zone(self._args.choices, zone)]}
        return {
            "csi": {
                "driver": DRIVER,
                "volumeHandle": files.id,
                "volumeAttributes": {"dnsname": files.dns_name, "mountname": files.mount_name},
            },
            # File locks apply on all nodes: examples/kubernetes/static_provisioning of the driver.
            "mountOptions": ["flock"],
            # Other zones can reach it too, but more slowly, and their traffic is charged.
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        }
