"""Runs our program against AWS's own API: each resource that it declares is really made, with its tags and names."""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest

from components.contract.eks import EksChoices
from infra.program import run
from support import eks
from support.recorder import Recorder, record
from workbench.clouds.aws.double.client import Double
from workbench.clouds.aws.provider import OfflineAws
from workbench.recovery.cloud import Account, open_account

STACK = "test"
"""As the recorder calls every stack."""

Made = tuple[str, dict[str, Any]]
"""Id and outputs."""

MADE_WITH_TAGS = {
    "aws:ec2/eip:Eip": ("allocate_address", "elastic-ip", "AllocationId", {"domain": "Domain"}),
    "aws:ec2/internetGateway:InternetGateway": (
        "create_internet_gateway",
        "internet-gateway",
        "InternetGateway.InternetGatewayId",
        {},
    ),
    "aws:ec2/natGateway:NatGateway": (
        "create_nat_gateway",
        "natgateway",
        "NatGateway.NatGatewayId",
        {"allocationId": "AllocationId", "subnetId": "SubnetId"},
    ),
    "aws:ec2/routeTable:RouteTable": (
        "create_route_table",
        "route-table",
        "RouteTable.RouteTableId",
        {"vpcId": "VpcId"},
    ),
    "aws:ec2/securityGroup:SecurityGroup": (
        "create_security_group",
        "security-group",
        "GroupId",
        {"vpcId": "VpcId", "name": "GroupName", "description": "Description"},
    ),
    "aws:ec2/subnet:Subnet": (
        "create_subnet",
        "subnet",
        "Subnet.SubnetId",
        {"vpcId": "VpcId", "cidrBlock": "CidrBlock", "availabilityZone": "AvailabilityZone"},
    ),
    "aws:ec2/vpc:Vpc": ("create_vpc", "vpc", "Vpc.VpcId", {"cidrBlock": "CidrBlock"}),
    "aws:ec2/vpcEndpoint:VpcEndpoint": (
        "create_vpc_endpoint",
        "vpc-endpoint",
        "VpcEndpoint.VpcEndpointId",
        {
            "vpcId": "VpcId",
            "serviceName": "ServiceName",
            "vpcEndpointType": "VpcEndpointType",
            "subnetIds": "SubnetIds",
            "securityGroupIds": "SecurityGroupIds",
            "routeTableIds": "RouteTableIds",
        },
    ),
}
"""Request, type in its tag specification, place of the id in the answer, member by input."""


@dataclass(frozen=True)
class Resource:
    """One resource that exists: as a state knows it, and as AWS does."""

    urn: str
    type: str
    inputs: dict[str, Any]
    id: str

    @property
    def state(self) -> dict[str, Any]:
        """The resource in a deployment."""
        return {"urn": self.urn, "type": self.type, "custom": True, "id": self.id, "inputs": self.inputs, "outputs": {}}

    @property
    def pending(self) -> dict[str, Any]:
        """The operation that a run which is killed now leaves."""
        resource = {"urn": self.urn, "type": self.type, "custom": True, "inputs": self.inputs}
        return {"type": "creating", "resource": resource}


@dataclass
class Maker(Recorder):
    """Takes the engine's and the provider's place: what the program declares is made."""

    things: list[Resource] = field(default_factory=list)
    provider: OfflineAws = field(default_factory=OfflineAws)
    default_tags: dict[str, str] = field(default_factory=dict)

    def new_resource(self, args: Any) -> Made:
        if args.typ == "pulumi:providers:aws":
            given = args.inputs["defaultTags"]
            self.default_tags.update((json.loads(given) if isinstance(given, str) else given)["tags"])
        if not args.typ.startswith("aws:"):
            return super().new_resource(args)
        checked = self.provider.check(args.typ, args.name, args.inputs, seed=b"then", kept={})
        inputs = {**args.inputs, **checked.filled, "__defaults": sorted(checked.filled)}
        identifier, outputs = make(args.typ, inputs, {**self.default_tags, **inputs.get("tags", {})})
        urn = f"urn:pulumi:test::igz-clusters::{args.typ}::{args.name}"
        self.things.append(Resource(urn, args.typ, inputs, identifier))
        return identifier, {**inputs, **outputs}


def account_at(double: Double, patch: pytest.MonkeyPatch) -> Account:
    """Return the account of the test stack, with the double in AWS's place until the patch ends."""
    for name, value in double.environment.items():
        patch.setenv(name, value)
    choices = eks.config().cluster
    assert isinstance(choices, EksChoices)
    return open_account(STACK, choices)


def build_in_aws(changes: dict[str, Any] | None = None) -> list[Resource]:
    """Make all that the program of the test stack with ``changes`` declares, and return what is of AWS."""
    choices, maker = eks.config(changes), Maker()
    assert isinstance(choices.cluster, EksChoices)
    for entry in choices.cluster.access.all_entries.values():  # whoever owns the account made these before
        name = entry.role_arn.rpartition("/")[2]
        boto3.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps({"Statement": []}))
    record(lambda: run(choices), recorder=maker)
    return maker.things


def make(type_: str, inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    """Make one resource as the AWS provider does, tags included."""
    if row := MADE_WITH_TAGS.get(type_):
        operation, kind, place, members = row
        given = {member: inputs[key] for key, member in members.items() if key in inputs}
        answer = getattr(boto3.client("ec2"), operation)(**given, TagSpecifications=specification(kind, tags))
        for part in place.split("."):
            answer = answer[part]
        return str(answer), {}
    return OTHERS[type_](inputs, tags)


def specification(kind: str, tags: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": listed(tags)}]


def listed(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def _log_group(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    boto3.client("logs").create_log_group(logGroupName=inputs["name"], tags=dict(tags))
    return inputs["name"], {"arn": f"arn:aws:logs:eu-west-1:{eks.ACCOUNT}:log-group:{inputs['name']}"}


def _default_security_group(inputs: Mapping[str, Any], _: Mapping[str, str]) -> Made:
    filters = [{"Name": "vpc-id", "Values": [inputs["vpcId"]]}]
    groups = boto3.client("ec2").describe_security_groups(Filters=filters)["SecurityGroups"]
    (identifier,) = [group["GroupId"] for group in groups if group["GroupName"] == "default"]
    return identifier, {}


def _flow_log(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    answer = boto3.client("ec2").create_flow_logs(
        ResourceIds=[inputs["vpcId"]],
        ResourceType="VPC",
        TrafficType=inputs["trafficType"],
        LogDestinationType=inputs["logDestinationType"],
        LogGroupName=inputs["logDestination"].rpartition(":")[2],
        DeliverLogsPermissionArn=inputs["iamRoleArn"],
        TagSpecifications=specification("vpc-flow-log", tags),
    )
    return answer["FlowLogIds"][0], {}


def _launch_template(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    answer = boto3.client("ec2").create_launch_template(
        LaunchTemplateName=inputs["name"],
        LaunchTemplateData={"DisableApiStop": False},
        TagSpecifications=specification("launch-template", tags),
    )
    return answer["LaunchTemplate"]["LaunchTemplateId"], {"latestVersion": 1}


def _route(inputs: Mapping[str, Any], _: Mapping[str, str]) -> Made:
    table, destination = inputs["routeTableId"], inputs["destinationCidrBlock"]
    members = {"gatewayId": "GatewayId", "natGatewayId": "NatGatewayId"}
    target = {member: inputs[key] for key, member in members.items() if key in inputs}
    boto3.client("ec2").create_route(RouteTableId=table, DestinationCidrBlock=destination, **target)
    # As it stands in the states of everybody who has a default route: CRC-32 of 0.0.0.0/0.
    return {"0.0.0.0/0": f"r-{table}1080289494"}[destination], {}


def _route_table_association(inputs: Mapping[str, Any], _: Mapping[str, str]) -> Made:
    answer = boto3.client("ec2").associate_route_table(RouteTableId=inputs["routeTableId"], SubnetId=inputs["subnetId"])
    return answer["AssociationId"], {}


def _ingress_rule(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    ec2 = boto3.client("ec2")
    permission = {
        "IpProtocol": inputs["ipProtocol"],
        "FromPort": int(inputs["fromPort"]),
        "ToPort": int(inputs["toPort"]),
        "IpRanges": [{"CidrIp": inputs["cidrIpv4"], "Description": inputs["description"]}],
    }
    answer = ec2.authorize_security_group_ingress(GroupId=inputs["securityGroupId"], IpPermissions=[permission])
    identifier = answer["SecurityGroupRules"][0]["SecurityGroupRuleId"]
    ec2.create_tags(Resources=[identifier], Tags=listed(tags))
    return identifier, {}


def _role(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    role = boto3.client("iam").create_role(
        RoleName=inputs["name"], AssumeRolePolicyDocument=inputs["assumeRolePolicy"], Tags=listed(tags)
    )["Role"]
    return inputs["name"], {"arn": role["Arn"]}


def _role_policy(inputs: Mapping[str, Any], _: Mapping[str, str]) -> Made:
    role, name = inputs["role"], inputs["name"]
    boto3.client("iam").put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=inputs["policy"])
    return f"{role}:{name}", {}


def _role_policy_attachment(inputs: Mapping[str, Any], _: Mapping[str, str]) -> Made:
    role, policy = inputs["role"], inputs["policyArn"]
    boto3.client("iam").attach_role_policy(RoleName=role, PolicyArn=policy)
    return f"{role}-{policy}", {}


def _key(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    own = [{"TagKey": key, "TagValue": value} for key, value in tags.items()]
    key = boto3.client("kms").create_key(Description=inputs["description"], Tags=own)["KeyMetadata"]
    return key["KeyId"], {"keyId": key["KeyId"], "arn": key["Arn"]}


def _alias(inputs: Mapping[str, Any], _: Mapping[str, str]) -> Made:
    boto3.client("kms").create_alias(AliasName=inputs["name"], TargetKeyId=inputs["targetKeyId"])
    return inputs["name"], {}


def _autoscaling_tag(inputs: Mapping[str, Any], _: Mapping[str, str]) -> Made:
    group, tag = inputs["autoscalingGroupName"], inputs["tag"]
    own = {
        "ResourceId": group,
        "ResourceType": "auto-scaling-group",
        "Key": tag["key"],
        "Value": tag["value"],
        "PropagateAtLaunch": False,
    }
    boto3.client("autoscaling").create_or_update_tags(Tags=[own])
    return f"{group},{tag['key']}", {}


def _cluster(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    config = inputs["vpcConfig"]
    boto3.client("eks").create_cluster(
        name=inputs["name"],
        version=inputs["version"],
        roleArn=inputs["roleArn"],
        resourcesVpcConfig={"subnetIds": config["subnetIds"], "endpointPrivateAccess": True},
        accessConfig={"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
        tags=dict(tags),
    )
    return inputs["name"], {"endpoint": "https://127.0.0.1:1", "certificateAuthority": {"data": "bm9uZQ=="}}


def _node_group(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    eks_api, cluster, name = boto3.client("eks"), inputs["clusterName"], inputs["nodeGroupName"]
    group = eks_api.create_nodegroup(
        clusterName=cluster,
        nodegroupName=name,
        nodeRole=inputs["nodeRoleArn"],
        subnets=inputs["subnetIds"],
        labels=inputs["labels"],
        scalingConfig={key: int(value) for key, value in inputs["scalingConfig"].items()},
        tags=dict(tags),
    )["nodegroup"]
    scaling = [{"name": each["name"]} for each in group.get("resources", {}).get("autoScalingGroups", [])]
    return f"{cluster}:{name}", {"resources": [{"autoscalingGroups": scaling}]}


def _addon(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    cluster, name = inputs["clusterName"], inputs["addonName"]
    boto3.client("eks").create_addon(clusterName=cluster, addonName=name, tags=dict(tags))
    return f"{cluster}:{name}", {}


def _access_entry(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    cluster, principal = inputs["clusterName"], inputs["principalArn"]
    boto3.client("eks").create_access_entry(clusterName=cluster, principalArn=principal, tags=dict(tags))
    return f"{cluster}:{principal}", {}


def _access_policy_association(inputs: Mapping[str, Any], _: Mapping[str, str]) -> Made:
    cluster, principal, policy = inputs["clusterName"], inputs["principalArn"], inputs["policyArn"]
    boto3.client("eks").associate_access_policy(
        clusterName=cluster, principalArn=principal, policyArn=policy, accessScope=inputs["accessScope"]
    )
    return f"{cluster}#{principal}#{policy}", {}


def _pod_identity_association(inputs: Mapping[str, Any], tags: Mapping[str, str]) -> Made:
    answer = boto3.client("eks").create_pod_identity_association(
        clusterName=inputs["clusterName"],
        namespace=inputs["namespace"],
        serviceAccount=inputs["serviceAccount"],
        roleArn=inputs["roleArn"],
        clientRequestToken=str(uuid.uuid4()),
        tags=dict(tags),
    )
    return answer["association"]["associationId"], {}


OTHERS: dict[str, Callable[[Mapping[str, Any], Mapping[str, str]], Made]] = {
    "aws:autoscaling/tag:Tag": _autoscaling_tag,
    "aws:cloudwatch/logGroup:LogGroup": _log_group,
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _default_security_group,
    "aws:ec2/flowLog:FlowLog": _flow_log,
    "aws:ec2/launchTemplate:LaunchTemplate": _launch_template,
    "aws:ec2/route:Route": _route,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _route_table_association,
    "aws:eks/accessEntry:AccessEntry": _access_entry,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _access_policy_association,
    "aws:eks/addon:Addon": _addon,
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _pod_identity_association,
    "aws:iam/role:Role": _role,
    "aws:iam/rolePolicy:RolePolicy": _role_policy,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _role_policy_attachment,
    "aws:kms/alias:Alias": _alias,
    "aws:kms/key:Key": _key,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _ingress_rule,
}
