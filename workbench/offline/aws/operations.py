"""Maps each resource's inputs to requests of AWS's API.

Names that differ only in case need no entry at any depth: ``subnetId`` is ``SubnetId``. A resource with several
requests lists all of them; the first one creates it, and only its required members are checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Request:
    """One request, and the places of inputs in it.

    Parameters
    ----------
    service, operation
        Names in botocore.
    members
        Place in the request by input, both as dotted paths; lists in between are skipped.
    inside
        Place of all other inputs, default the request itself; None if it takes only those in ``members``.
    supplied
        Required members that the provider fills in from elsewhere.
    """

    service: str
    operation: str
    members: Mapping[str, str] = field(default_factory=dict)
    inside: str | None = ""
    supplied: frozenset[str] = frozenset()


_TAGS: Final = {"tags": "TagSpecifications.Tags"}
_RULE: Final = {
    "securityGroupId": "GroupId",
    "ipProtocol": "IpPermissions.IpProtocol",
    "fromPort": "IpPermissions.FromPort",
    "toPort": "IpPermissions.ToPort",
    "cidrIpv4": "IpPermissions.IpRanges.CidrIp",
    "cidrIpv6": "IpPermissions.Ipv6Ranges.CidrIpv6",
    "prefixListId": "IpPermissions.PrefixListIds.PrefixListId",
    "referencedSecurityGroupId": "IpPermissions.UserIdGroupPairs.GroupId",
    "description": "IpPermissions.IpRanges.Description",
    "tags": "TagSpecifications.Tags",
}
_PERMISSIONS: Final = {"protocol": "IpProtocol", "fromPort": "FromPort", "toPort": "ToPort"}


def _permissions(direction: str) -> Request:
    members = {f"{direction}[].{name}": f"IpPermissions.{member}" for name, member in _PERMISSIONS.items()}
    return Request("ec2", f"AuthorizeSecurityGroup{direction.capitalize()}", members, inside=None)


OPERATIONS: Final[Mapping[str, tuple[Request, ...]]] = {
    "aws:autoscaling/tag:Tag": (
        Request(
            "autoscaling",
            "CreateOrUpdateTags",
            {
                "autoscalingGroupName": "Tags.ResourceId",
                "tag": "Tags",
            },
        ),
    ),
    "aws:cloudwatch/logGroup:LogGroup": (
        Request("logs", "CreateLogGroup", {"name": "logGroupName", "namePrefix": "logGroupName"}),
        Request("logs", "PutRetentionPolicy", {"retentionInDays": "retentionInDays"}, inside=None),
    ),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": (
        Request("ec2", "CreateTags", {"tags": "Tags"}, inside=None, supplied=frozenset({"Resources", "Tags"})),
        _permissions("ingress"),
        _permissions("egress"),
    ),
    "aws:ec2/eip:Eip": (
        Request("ec2", "AllocateAddress", _TAGS),
        Request(
            "ec2",
            "AssociateAddress",
            {
                "instance": "InstanceId",
                "networkInterface": "NetworkInterfaceId",
                "associateWithPrivateIp": "PrivateIpAddress",
            },
            inside=None,
        ),
    ),
    "aws:ec2/flowLog:FlowLog": (
        Request(
            "ec2",
            "CreateFlowLogs",
            {
                **_TAGS,
                "iamRoleArn": "DeliverLogsPermissionArn",
                "vpcId": "ResourceIds",
                "subnetId": "ResourceIds",
                "eniId": "ResourceIds",
                "transitGatewayId": "ResourceIds",
                "transitGatewayAttachmentId": "ResourceIds",
            },
            supplied=frozenset({"ResourceType"}),
        ),
    ),
    "aws:ec2/internetGateway:InternetGateway": (
        Request("ec2", "CreateInternetGateway", _TAGS),
        Request("ec2", "AttachInternetGateway", {"vpcId": "VpcId"}, inside=None),
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": (
        Request(
            "ec2",
            "CreateLaunchTemplate",
            {
                **_TAGS,
                "name": "LaunchTemplateName",
                "namePrefix": "LaunchTemplateName",
                "description": "VersionDescription",
                "vpcSecurityGroupIds": "LaunchTemplateData.SecurityGroupIds",
                "securityGroupNames": "LaunchTemplateData.SecurityGroups",
                "networkInterfaces[].securityGroups": "LaunchTemplateData.NetworkInterfaces.Groups",
            },
            inside="LaunchTemplateData",
        ),
    ),
    "aws:ec2/natGateway:NatGateway": (Request("ec2", "CreateNatGateway", {**_TAGS, "privateIp": "PrivateIpAddress"}),),
    "aws:ec2/route:Route": (
        Request(
            "ec2",
            "CreateRoute",
            {"egressOnlyGatewayId": "EgressOnlyInternetGatewayId"},
        ),
    ),
    "aws:ec2/routeTable:RouteTable": (
        Request("ec2", "CreateRouteTable", _TAGS),
        Request(
            "ec2",
            "CreateRoute",
            {
                "routes[].cidrBlock": "DestinationCidrBlock",
                "routes[].ipv6CidrBlock": "DestinationIpv6CidrBlock",
                "routes[].gatewayId": "GatewayId",
                "routes[].natGatewayId": "NatGatewayId",
            },
            inside=None,
        ),
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": (Request("ec2", "AssociateRouteTable"),),
    "aws:ec2/securityGroup:SecurityGroup": (
        Request("ec2", "CreateSecurityGroup", {**_TAGS, "name": "GroupName", "namePrefix": "GroupName"}),
        _permissions("ingress"),
        _permissions("egress"),
    ),
    "aws:ec2/subnet:Subnet": (
        Request("ec2", "CreateSubnet", _TAGS),
        Request(
            "ec2",
            "ModifySubnetAttribute",
            {
                "assignIpv6AddressOnCreation": "AssignIpv6AddressOnCreation.Value",
                "customerOwnedIpv4Pool": "CustomerOwnedIpv4Pool",
                "enableDns64": "EnableDns64.Value",
                "enableLniAtDeviceIndex": "EnableLniAtDeviceIndex",
                "enableResourceNameDnsARecordOnLaunch": "EnableResourceNameDnsARecordOnLaunch.Value",
                "enableResourceNameDnsAaaaRecordOnLaunch": "EnableResourceNameDnsAAAARecordOnLaunch.Value",
                "mapCustomerOwnedIpOnLaunch": "MapCustomerOwnedIpOnLaunch.Value",
                "mapPublicIpOnLaunch": "MapPublicIpOnLaunch.Value",
                "privateDnsHostnameTypeOnLaunch": "PrivateDnsHostnameTypeOnLaunch",
            },
            inside=None,
        ),
    ),
    "aws:ec2/vpc:Vpc": (
        Request("ec2", "CreateVpc", {**_TAGS, "assignGeneratedIpv6CidrBlock": "AmazonProvidedIpv6CidrBlock"}),
        Request(
            "ec2",
            "ModifyVpcAttribute",
            {
                "enableDnsHostnames": "EnableDnsHostnames.Value",
                "enableDnsSupport": "EnableDnsSupport.Value",
                "enableNetworkAddressUsageMetrics": "EnableNetworkAddressUsageMetrics.Value",
            },
            inside=None,
        ),
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": (Request("ec2", "CreateVpcEndpoint", {**_TAGS, "policy": "PolicyDocument"}),),
    "aws:eks/accessEntry:AccessEntry": (Request("eks", "CreateAccessEntry"),),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": (Request("eks", "AssociateAccessPolicy"),),
    "aws:eks/addon:Addon": (
        Request("eks", "CreateAddon", {"resolveConflictsOnCreate": "resolveConflicts"}),
        Request("eks", "UpdateAddon", {"resolveConflictsOnUpdate": "resolveConflicts"}, inside=None),
        Request("eks", "DeleteAddon", {"preserve": "preserve"}, inside=None),
    ),
    "aws:eks/cluster:Cluster": (
        Request(
            "eks",
            "CreateCluster",
            {"enabledClusterLogTypes": "logging.clusterLogging.types", "vpcConfig": "resourcesVpcConfig"},
        ),
        Request("eks", "UpdateClusterVersion", {"forceUpdateVersion": "force"}, inside=None),
    ),
    "aws:eks/nodeGroup:NodeGroup": (
        Request(
            "eks",
            "CreateNodegroup",
            {
                "nodeGroupName": "nodegroupName",
                "nodeGroupNamePrefix": "nodegroupName",
                "nodeRoleArn": "nodeRole",
                "subnetIds": "subnets",
                "remoteAccess.sourceSecurityGroupIds": "remoteAccess.sourceSecurityGroups",
            },
        ),
        Request("eks", "UpdateNodegroupVersion", {"forceUpdateVersion": "force"}, inside=None),
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": (Request("eks", "CreatePodIdentityAssociation"),),
    "aws:iam/role:Role": (
        Request(
            "iam",
            "CreateRole",
            {"name": "RoleName", "namePrefix": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument"},
        ),
        Request(
            "iam",
            "PutRolePolicy",
            {"inlinePolicies[].name": "PolicyName", "inlinePolicies[].policy": "PolicyDocument"},
            inside=None,
        ),
    ),
    "aws:iam/rolePolicy:RolePolicy": (
        Request(
            "iam",
            "PutRolePolicy",
            {"name": "PolicyName", "namePrefix": "PolicyName", "policy": "PolicyDocument", "role": "RoleName"},
        ),
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": (Request("iam", "AttachRolePolicy", {"role": "RoleName"}),),
    "aws:kms/alias:Alias": (Request("kms", "CreateAlias", {"name": "AliasName", "namePrefix": "AliasName"}),),
    "aws:kms/key:Key": (
        Request("kms", "CreateKey", {"bypassPolicyLockoutSafetyCheck": "BypassPolicyLockoutSafetyCheck"}),
        Request("kms", "ScheduleKeyDeletion", {"deletionWindowInDays": "PendingWindowInDays"}, inside=None),
        Request("kms", "EnableKeyRotation", {"rotationPeriodInDays": "RotationPeriodInDays"}, inside=None),
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": (Request("ec2", "AuthorizeSecurityGroupEgress", _RULE),),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": (
        Request("ec2", "AuthorizeSecurityGroupIngress", _RULE),
    ),
}
