"""Every type, from its first request to its last, against a server that runs."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from emulators.aws.client import Emulator
from emulators.aws.resources import KINDS
from support.aws_resources import CLUSTER, GROUP, KEY, LOGS, ROLE, SUBNET, TEMPLATE, VPC, Stack, trust
from support.minors import CHOSEN
from workbench.offline.aws.operations import OPERATIONS
from workbench.offline.provider import Existing

Made = tuple[str, dict[str, Any], dict[str, Any]]
"""Type, inputs, and inputs that change in place; None takes one away."""

FILES = "aws:efs/fileSystem:FileSystem"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
VAULT = "aws:backup/vault:Vault"
NEVER_GONE = (
    "aws:backup/vaultLockConfiguration:VaultLockConfiguration",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "aws:efs/backupPolicy:BackupPolicy",
)
"""AWS's own for as long as there is the vault, the VPC or the file system."""

EVERYWHERE = "0.0.0.0/0"
ALLOW = {"Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": "*"}


def policy(**statement: str) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{**ALLOW, **statement}]})


def vpc(_: Stack) -> Made:
    return (
        VPC,
        {"cidrBlock": "10.1.0.0/16", "enableDnsHostnames": True, "tags": {"Name": "a"}},
        {
            "enableDnsHostnames": False,
            "tags": {"Name": "b", "more": "c"},
        },
    )


def block(stack: Stack) -> Made:
    network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
    type_ = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
    return type_, {"vpcId": network.id, "cidrBlock": "100.64.0.0/16"}, {}


def subnet(stack: Stack) -> Made:
    network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
    given = {"vpcId": network.id, "cidrBlock": "10.0.9.0/24", "availabilityZone": "eu-west-1a"}
    return SUBNET, {**given, "mapPublicIpOnLaunch": False}, {"mapPublicIpOnLaunch": True}


def default_security_group(stack: Stack) -> Made:
    network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
    type_ = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
    return type_, {"vpcId": network.id, "ingress": [], "egress": []}, {"tags": {"Name": "nobody's"}}


def internet_gateway(stack: Stack) -> Made:
    one, other = (stack.make(VPC, name, cidrBlock=f"10.{name}.0.0/16") for name in "12")
    return "aws:ec2/internetGateway:InternetGateway", {"vpcId": one.id}, {"vpcId": other.id, "tags": {"a": "b"}}


def route_table(stack: Stack) -> Made:
    network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
    return "aws:ec2/routeTable:RouteTable", {"vpcId": network.id, "tags": {"Name": "a"}}, {"tags": {}}


def route_table_association(stack: Stack) -> Made:
    network, (here, _) = stack.network()
    one, other = (stack.make("aws:ec2/routeTable:RouteTable", name, vpcId=network.id) for name in "12")
    given = {"subnetId": here.id, "routeTableId": one.id}
    return "aws:ec2/routeTableAssociation:RouteTableAssociation", given, {"routeTableId": other.id}


def route(stack: Stack) -> Made:
    network, (here, _) = stack.network()
    internet = stack.make("aws:ec2/internetGateway:InternetGateway", vpcId=network.id)  # it cannot go before the other
    own = stack.make("aws:ec2/eip:Eip", domain="vpc")
    gateway = stack.make("aws:ec2/natGateway:NatGateway", allocationId=own.id, subnetId=here.id)
    table = stack.make("aws:ec2/routeTable:RouteTable", vpcId=network.id)
    given = {"routeTableId": table.id, "destinationCidrBlock": EVERYWHERE, "gatewayId": internet.id}
    return "aws:ec2/route:Route", given, {"gatewayId": None, "natGatewayId": gateway.id}


def address(_: Stack) -> Made:
    return "aws:ec2/eip:Eip", {"domain": "vpc", "tags": {"Name": "a"}}, {"tags": {"Name": "b"}}


def nat_gateway(stack: Stack) -> Made:
    network, (here, _) = stack.network()
    stack.make("aws:ec2/internetGateway:InternetGateway", vpcId=network.id)
    own = stack.make("aws:ec2/eip:Eip", domain="vpc")
    return "aws:ec2/natGateway:NatGateway", {"allocationId": own.id, "subnetId": here.id}, {"tags": {"Name": "a"}}


def security_group(stack: Stack) -> Made:
    network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
    return "aws:ec2/securityGroup:SecurityGroup", {"vpcId": network.id, "description": "d"}, {"tags": {"a": "b"}}


def rule(direction: str) -> Callable[[Stack], Made]:
    def made(stack: Stack) -> Made:
        network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
        group = stack.make("aws:ec2/securityGroup:SecurityGroup", vpcId=network.id, description="a")
        given = {"securityGroupId": group.id, "ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0}
        type_ = f"aws:vpc/securityGroup{direction}Rule:SecurityGroup{direction}Rule"
        return type_, {**given, "cidrIpv4": "10.0.0.0/16", "description": "a"}, {"toPort": 444.0, "description": "b"}

    return made


def gateway_endpoint(stack: Stack) -> Made:
    network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
    one, other = (stack.make("aws:ec2/routeTable:RouteTable", name, vpcId=network.id) for name in "12")
    given = {"vpcId": network.id, "serviceName": "com.amazonaws.eu-west-1.s3", "vpcEndpointType": "Gateway"}
    return "aws:ec2/vpcEndpoint:VpcEndpoint", {**given, "routeTableIds": [one.id, other.id]}, {"tags": {"a": "b"}}


def interface_endpoint(stack: Stack) -> Made:
    network, (one, other) = stack.network()
    group = stack.make("aws:ec2/securityGroup:SecurityGroup", vpcId=network.id, description="a")
    given = {"vpcId": network.id, "serviceName": "com.amazonaws.eu-west-1.ec2", "vpcEndpointType": "Interface"}
    inside = {"subnetIds": [one.id], "securityGroupIds": [group.id], "privateDnsEnabled": True}
    return "aws:ec2/vpcEndpoint:VpcEndpoint", {**given, **inside}, {"subnetIds": [one.id, other.id]}


def launch_template(_: Stack) -> Made:
    disk = {"volumeType": "gp3", "volumeSize": 100.0, "encrypted": "true", "deleteOnTermination": "true"}
    given = {
        "updateDefaultVersion": True,
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1.0},
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": disk}],
        "disableApiStop": False,
        "disableApiTermination": True,
        "tagSpecifications": [{"resourceType": kind, "tags": {"Name": "n"}} for kind in ("instance", "volume")],
        "userData": "bm9kZXM=",
    }
    larger = {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {**disk, "volumeSize": 200.0}}]}
    return TEMPLATE, given, larger


def near_template(stack: Stack) -> Made:
    network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
    group = stack.make("aws:ec2/securityGroup:SecurityGroup", vpcId=network.id, description="a")
    near = stack.make("aws:ec2/placementGroup:PlacementGroup", strategy="cluster")
    interfaces = [
        {
            "networkCardIndex": float(card),
            "deviceIndex": 0.0,
            "interfaceType": kind,
            "securityGroups": [group.id],
            "deleteOnTermination": "true",
        }
        for card, kind in enumerate(("efa", "efa-only", "efa-only"))
    ]
    given = {"updateDefaultVersion": True, "networkInterfaces": interfaces, "placement": {"groupName": near.id}}
    return TEMPLATE, given, {"networkInterfaces": interfaces[:1], "placement": None}


def placement_group(_: Stack) -> Made:
    type_ = "aws:ec2/placementGroup:PlacementGroup"
    return type_, {"strategy": "cluster", "tags": {"Name": "a"}}, {"tags": {"Name": "b", "more": "c"}}


def flow_log(stack: Stack) -> Made:
    network = stack.make(VPC, "vpc", cidrBlock="10.0.0.0/16")
    logs = stack.make(LOGS, name="/flow")
    role = stack.role("vpc-flow-logs.amazonaws.com")
    given = {"vpcId": network.id, "trafficType": "ALL", "logDestinationType": "cloud-watch-logs"}
    there = {"logDestination": logs.outputs["arn"], "iamRoleArn": role.outputs["arn"]}
    return "aws:ec2/flowLog:FlowLog", {**given, **there}, {"tags": {"a": "b"}}


def log_group(_: Stack) -> Made:
    return LOGS, {"name": "/aws/eks/a/cluster", "retentionInDays": 30.0}, {"retentionInDays": 365.0, "tags": {"a": "b"}}


def role(_: Stack) -> Made:
    other = {"assumeRolePolicy": trust("ec2.amazonaws.com"), "description": "d"}
    return ROLE, {"assumeRolePolicy": trust("eks.amazonaws.com"), "tags": {"a": "b"}}, {**other, "tags": {"a": "c"}}


def role_policy(stack: Stack) -> Made:
    owner = stack.role("ec2.amazonaws.com")
    return "aws:iam/rolePolicy:RolePolicy", {"role": owner.id, "policy": policy()}, {"policy": policy(Effect="Deny")}


def attachment(stack: Stack) -> Made:
    owner = stack.role("eks.amazonaws.com")
    managed = {"role": owner.id, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"}
    return "aws:iam/rolePolicyAttachment:RolePolicyAttachment", managed, {}


def key(_: Stack) -> Made:
    return (
        KEY,
        {"description": "a", "enableKeyRotation": True, "deletionWindowInDays": 30.0},
        {
            "description": "b",
            "enableKeyRotation": False,
            "tags": {"a": "b"},
        },
    )


def alias(stack: Stack) -> Made:
    one, other = (stack.make(KEY, name) for name in "12")
    type_ = "aws:kms/alias:Alias"
    return type_, {"name": "alias/a", "targetKeyId": one.outputs["keyId"]}, {"targetKeyId": other.outputs["keyId"]}


def cluster(stack: Stack) -> Made:
    _, subnets = stack.network()
    made = stack.cluster(subnets, encryptionConfig={"resources": ["secrets"], "provider": {"keyArn": _key(stack)}})
    given = {name: value for name, value in made.inputs.items() if name != "tagsAll"}
    stack.delete(made)
    narrow = {**given["vpcConfig"], "publicAccessCidrs": ["198.51.100.0/24"]}
    return (
        CLUSTER,
        given,
        {
            "version": CHOSEN,
            "vpcConfig": narrow,
            "enabledClusterLogTypes": ["audit"],
            "upgradePolicy": {"supportType": "EXTENDED"},
            "tags": {"a": "b"},
        },
    )


def _key(stack: Stack) -> str:
    return str(stack.make(KEY, "secrets").outputs["arn"])


def node_group(stack: Stack) -> Made:
    _, subnets = stack.network()
    made = stack.group(stack.cluster(subnets), subnets)
    given = {name: value for name, value in made.inputs.items() if name not in ("tagsAll", "nodeGroupName")}
    stack.delete(made)
    return (
        GROUP,
        given,
        {
            "labels": {"a": "2", "c": "3"},
            "taints": [{"key": "other", "value": "v", "effect": "NO_EXECUTE"}],
            "scalingConfig": {"minSize": 2.0, "maxSize": 6.0, "desiredSize": 3.0},
            "updateConfig": {"maxUnavailable": 1.0},
            "nodeRepairConfig": {"enabled": False},
            "warmPoolConfig": {"minSize": 2.0, "maxGroupPreparedCapacity": 2.0, "poolState": "STOPPED"},
            "tags": {"a": "b"},
        },
    )


def tag(stack: Stack) -> Made:
    _, subnets = stack.network()
    group = stack.group(stack.cluster(subnets), subnets)
    own = {"key": "k8s.io/a", "value": "b", "propagateAtLaunch": False}
    name = group.outputs["resources"][0]["autoscalingGroups"][0]["name"]
    return "aws:autoscaling/tag:Tag", {"autoscalingGroupName": name, "tag": own}, {"tag": {**own, "value": "c"}}


def schedule(stack: Stack) -> Made:
    _, subnets = stack.network()
    group = stack.group(stack.cluster(subnets), subnets)
    name = group.outputs["resources"][0]["autoscalingGroups"][0]["name"]
    own = {"autoscalingGroupName": name, "scheduledActionName": "night", "recurrence": "0 19 * * 1", "timeZone": "UTC"}
    return (
        "aws:autoscaling/schedule:Schedule",
        {**own, "minSize": 0, "maxSize": -1, "desiredCapacity": -1},
        {"minSize": 1},
    )


def addon(stack: Stack) -> Made:
    _, subnets = stack.network()
    owner = stack.role("pods.eks.amazonaws.com", "AmazonEKS_CNI_Policy")
    given = {
        "clusterName": stack.cluster(subnets).id,
        "addonName": "vpc-cni",
        "configurationValues": '{"enableNetworkPolicy": "true"}',
        "podIdentityAssociations": [{"roleArn": owner.outputs["arn"], "serviceAccount": "aws-node"}],
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
    }
    return "aws:eks/addon:Addon", given, {"configurationValues": '{"enableNetworkPolicy": "false"}'}


def access_entry(stack: Stack) -> Made:
    _, subnets = stack.network()
    given = {"clusterName": stack.cluster(subnets).id, "principalArn": stack.role("ec2.amazonaws.com").outputs["arn"]}
    return (
        "aws:eks/accessEntry:AccessEntry",
        {**given, "type": "STANDARD", "kubernetesGroups": ["a"]},
        {
            "kubernetesGroups": ["b", "a"],
            "tags": {"a": "b"},
        },
    )


def access_policy(stack: Stack) -> Made:
    _, given, _ = access_entry(stack)
    stack.make("aws:eks/accessEntry:AccessEntry", **given)
    whom = {name: given[name] for name in ("clusterName", "principalArn")}
    level = {"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"}
    scope = {"accessScope": {"type": "namespace", "namespaces": ["b", "a"]}}
    return "aws:eks/accessPolicyAssociation:AccessPolicyAssociation", {**whom, **level, **scope}, {}


def pod_identity(stack: Stack) -> Made:
    _, subnets = stack.network()
    one = stack.role("pods.eks.amazonaws.com")
    other = stack.make(ROLE, "other", assumeRolePolicy=one.inputs["assumeRolePolicy"])
    account = {"clusterName": stack.cluster(subnets).id, "namespace": "kube-system", "serviceAccount": "a"}
    type_ = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
    return type_, {**account, "roleArn": one.outputs["arn"]}, {"roleArn": other.outputs["arn"]}


def file_system(_: Stack) -> Made:
    given = {"creationToken": "a-b", "encrypted": True, "throughputMode": "elastic", "tags": {"Name": "a"}}
    return FILES, given, {"throughputMode": "bursting", "tags": {"Name": "b"}}


def mount_target(stack: Stack) -> Made:
    network, (here, _) = stack.network()
    one, other = (
        stack.make("aws:ec2/securityGroup:SecurityGroup", name, vpcId=network.id, description=name) for name in "12"
    )
    given = {"fileSystemId": stack.make(FILES, creationToken="a").id, "subnetId": here.id, "securityGroups": [one.id]}
    return "aws:efs/mountTarget:MountTarget", given, {"securityGroups": [other.id]}


def access_point(stack: Stack) -> Made:
    owner = {"ownerUid": 1000.0, "ownerGid": 100.0, "permissions": "0770"}
    inside = {"posixUser": {"uid": 1000.0, "gid": 100.0}, "rootDirectory": {"path": "/ns/a/b", "creationInfo": owner}}
    given = {"fileSystemId": stack.make(FILES, creationToken="a").id, **inside, "tags": {"Name": "a"}}
    return "aws:efs/accessPoint:AccessPoint", given, {"tags": {"Name": "b"}}


def backup_policy(stack: Stack) -> Made:
    given = {"fileSystemId": stack.make(FILES, creationToken="a").id, "backupPolicy": {"status": "ENABLED"}}
    return "aws:efs/backupPolicy:BackupPolicy", given, {"backupPolicy": {"status": "DISABLED"}}


def file_system_policy(stack: Stack) -> Made:
    mount = {"Action": "elasticfilesystem:ClientMount", "Principal": "*"}
    given = {"fileSystemId": stack.make(FILES, creationToken="a").id, "policy": policy(**mount)}
    return "aws:efs/fileSystemPolicy:FileSystemPolicy", given, {"policy": policy(**mount, Effect="Deny")}


def lustre(stack: Stack) -> Made:
    network, (here, _) = stack.network()
    group = stack.make("aws:ec2/securityGroup:SecurityGroup", vpcId=network.id, description="a")
    among = {"securityGroupId": group.id, "referencedSecurityGroupId": group.id, "ipProtocol": "-1"}
    for way in ("Ingress", "Egress"):
        stack.make(f"aws:vpc/securityGroup{way}Rule:SecurityGroup{way}Rule", way, **among)
    given = {
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 125.0,
        "storageCapacity": 1200.0,
        "subnetIds": here.id,
        "securityGroupIds": [group.id],
        "automaticBackupRetentionDays": 7.0,
        "dataCompressionType": "LZ4",
        "tags": {"Name": "a"},
    }
    changes = {"storageCapacity": 4800.0, "perUnitStorageThroughput": 250.0, "skipFinalBackup": True}
    return LUSTRE, given, {**changes, "tags": {"Name": "b"}}


def vault(_: Stack) -> Made:
    return VAULT, {"tags": {"Name": "a"}}, {"tags": {"Name": "b", "more": "c"}}


def vault_lock(stack: Stack) -> Made:
    given = {"backupVaultName": stack.make(VAULT).id, "minRetentionDays": 35.0}
    return "aws:backup/vaultLockConfiguration:VaultLockConfiguration", given, {}


def plan(stack: Stack) -> Made:
    rule = {
        "ruleName": "cluster",
        "targetVaultName": stack.make(VAULT).id,
        "schedule": "cron(0 2 ? * * *)",
        "startWindow": 60.0,  # as they come over the wire
        "completionWindow": 10080.0,
        "lifecycle": {"deleteAfter": 35.0},
        "recoveryPointTags": {"team": "ml"},
    }
    changed = {**rule, "schedule": "cron(0 2,14 ? * * *)", "lifecycle": {"deleteAfter": 90.0}}
    type_ = "aws:backup/plan:Plan"
    return type_, {"rules": [rule], "tags": {"Name": "a"}}, {"rules": [changed], "tags": {"Name": "b"}}


def selection(stack: Stack) -> Made:
    type_, inputs, _ = plan(stack)
    given = {
        "planId": stack.make(type_, **inputs).id,
        "iamRoleArn": stack.role("backup.amazonaws.com").outputs["arn"],
        "resources": ["arn:aws:eks:eu-west-1:111122223333:cluster/dev"],
    }
    return "aws:backup/selection:Selection", given, {}


LIVES = (
    vpc, block, subnet, default_security_group, internet_gateway, route_table, route_table_association, route, address,
    nat_gateway, security_group, rule("Ingress"), rule("Egress"), gateway_endpoint, interface_endpoint,
    launch_template, near_template, placement_group,
    flow_log, log_group, role, role_policy, attachment, key, alias, cluster, node_group, tag, addon,
    access_entry, access_policy, pod_identity, file_system, mount_target, access_point, backup_policy,
    file_system_policy, lustre, vault, vault_lock, plan, selection,
)  # fmt: skip


@pytest.mark.parametrize("begin", LIVES, ids=lambda begin: begin.__name__)
def test_a_resource_is_made_read_changed_and_deleted_and_nothing_moves_by_itself(
    begin: Callable[[Stack], Made], stack: Stack, aws: Emulator
) -> None:
    type_, inputs, changes = begin(stack)
    resource = stack.make(type_, **inputs)
    assert resource.id in aws.inventory()[type_]
    assert unmoved(stack, resource)
    if changes:
        dropped = [name for name, value in changes.items() if value is None]
        resource = stack.change(resource, *dropped, **{n: v for n, v in changes.items() if v is not None})
        assert unmoved(stack, resource)
    adopted = stack.provider.read(Existing(type_, "main", resource.id, resource.inputs))
    assert adopted
    assert adopted.inputs == resource.inputs
    stack.delete(resource)
    if type_ not in NEVER_GONE:
        assert stack.provider.read(resource) is None
        stack.provider.delete(resource)  # what is gone already is no error


def unmoved(stack: Stack, resource: Existing) -> bool:
    """Return whether a refresh of a resource finds what the state has, and AWS has what was asked for."""
    found = stack.provider.read(resource)
    assert found
    assert found.inputs == resource.inputs
    assert found.outputs == resource.outputs
    for name, value in resource.inputs.items():
        assert name in resource.outputs or not value
    return True


def test_every_type_that_we_use_can_be_made() -> None:
    assert KINDS.keys() == OPERATIONS.keys()


def test_a_gateway_that_a_killed_deletion_detached_is_deleted(stack: Stack, aws: Emulator) -> None:
    type_, inputs, _ = internet_gateway(stack)
    made = stack.make(type_, **inputs)
    aws.api("ec2").detach_internet_gateway(InternetGatewayId=made.id, VpcId=inputs["vpcId"])
    found = stack.provider.read(made)
    assert found
    assert "vpcId" not in found.outputs
    left = Existing(type_, made.name, made.id, found.inputs, found.outputs)
    stack.provider.delete(left)
    assert stack.provider.read(left) is None


def test_what_a_removal_needs_is_of_a_request_that_it_makes() -> None:
    for kind in KINDS.values():
        assert kind.removal.needs.keys() <= {operation for _, operation, _ in kind.removal.requests}
