"""Search functions for each type of AWS resource: by name, tags or parent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from workbench.recovery.cloud.aws import backup, ec2, efs, eks, fsx, non_ec2
from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult


@dataclass(frozen=True)
class Search:
    """The search for one type.

    Parameters
    ----------
    run
        Queries AWS.
    needs
        Inputs that the query requires; if one is unknown, the resource cannot exist yet.
    """

    run: Callable[[AwsQueries, LookupQuery], list[LookupResult]]
    needs: tuple[str, ...]


SEARCHES: Final[Mapping[str, Search]] = {
    "aws:autoscaling/schedule:Schedule": Search(
        non_ec2.scheduled_action, ("autoscalingGroupName", "scheduledActionName")
    ),
    "aws:autoscaling/tag:Tag": Search(non_ec2.autoscaling_tag, ("autoscalingGroupName", "tag")),
    "aws:backup/plan:Plan": Search(backup.plan, ("name",)),
    "aws:backup/selection:Selection": Search(backup.selection, ("planId", "name")),
    "aws:backup/vault:Vault": Search(backup.vault, ("name",)),
    "aws:backup/vaultLockConfiguration:VaultLockConfiguration": Search(backup.lock, ("backupVaultName",)),
    "aws:cloudwatch/logGroup:LogGroup": Search(non_ec2.log_group, ("name",)),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": Search(ec2.default_security_group, ("vpcId",)),
    "aws:ec2/route:Route": Search(ec2.route, ("routeTableId", "destinationCidrBlock")),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Search(
        ec2.route_table_association, ("routeTableId", "subnetId")
    ),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": Search(ec2.cidr_block, ("vpcId", "cidrBlock")),
    "aws:efs/accessPoint:AccessPoint": Search(efs.access_point, ("fileSystemId", "rootDirectory")),
    "aws:efs/backupPolicy:BackupPolicy": Search(efs.backup_policy, ("fileSystemId",)),
    "aws:efs/fileSystem:FileSystem": Search(efs.file_system, ("creationToken",)),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": Search(efs.file_system_policy, ("fileSystemId",)),
    "aws:efs/mountTarget:MountTarget": Search(efs.mount_target, ("fileSystemId", "subnetId")),
    "aws:eks/accessEntry:AccessEntry": Search(eks.access_entry, ("clusterName", "principalArn")),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Search(
        eks.access_policy_association, ("clusterName", "principalArn", "policyArn")
    ),
    "aws:eks/addon:Addon": Search(eks.addon, ("clusterName", "addonName")),
    "aws:eks/cluster:Cluster": Search(eks.cluster, ("name",)),
    "aws:eks/nodeGroup:NodeGroup": Search(eks.node_group, ("clusterName", "nodeGroupName")),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Search(
        eks.pod_identity_association, ("clusterName", "namespace", "serviceAccount")
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Search(fsx.file_system, ("tags",)),
    "aws:iam/role:Role": Search(non_ec2.role, ("name",)),
    "aws:iam/rolePolicy:RolePolicy": Search(non_ec2.role_policy, ("role", "name")),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Search(non_ec2.role_policy_attachment, ("role", "policyArn")),
    "aws:kms/alias:Alias": Search(non_ec2.alias, ("name", "targetKeyId")),
    "aws:kms/key:Key": Search(non_ec2.key, ("description",)),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Search(ec2.security_group_rule, ("securityGroupId",)),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Search(ec2.security_group_rule, ("securityGroupId",)),
    **{type_: Search(ec2.by_tags, ()) for type_ in ec2.KINDS},
}
"""Searches by resource type; covers every type that the program uses."""


def search(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the resources that match a query; there may be several.

    Raises
    ------
    KeyError
        No search is defined for the type.
    UserError
        AWS cannot be queried.
    """
    row = SEARCHES[query.type]
    return row.run(account, query) if all(query.inputs.get(key) for key in row.needs) else []
