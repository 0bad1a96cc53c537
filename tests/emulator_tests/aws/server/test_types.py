"""Every type but those of EKS, EFS, FSx, IAM and KMS: made, read, tags changed, deleted, as the provider does it."""

from typing import Any

from emulators.aws.client import Emulator
from emulators.aws.server.inventory import route_id
from support.aws import Network, exists, refused, tags
from workbench.offline.aws.operations import OPERATIONS


def read_tags(aws: Emulator, id_: str) -> dict[str, str]:
    found = aws.api("ec2").describe_tags(Filters=[{"Name": "resource-id", "Values": [id_]}])["Tags"]
    return {tag["Key"]: tag["Value"] for tag in found}


def retag(aws: Emulator, id_: str) -> None:
    """Change one tag, add one and remove one, and see it."""
    ec2 = aws.api("ec2")
    assert read_tags(aws, id_)["team"] == "a"
    ec2.create_tags(Resources=[id_], Tags=[{"Key": "team", "Value": "b"}, {"Key": "more", "Value": "c"}])
    assert read_tags(aws, id_) == {"team": "b", "more": "c"}
    ec2.delete_tags(Resources=[id_], Tags=[{"Key": "more"}])
    assert read_tags(aws, id_) == {"team": "b"}


def test_vpc(aws: Emulator) -> None:
    ec2 = aws.api("ec2")
    made = ec2.create_vpc(CidrBlock="10.200.0.0/16", TagSpecifications=tags("vpc", team="a"))["Vpc"]
    vpc = made["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    assert ec2.describe_vpc_attribute(VpcId=vpc, Attribute="enableDnsHostnames")["EnableDnsHostnames"]["Value"]
    assert ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["CidrBlock"] == "10.200.0.0/16"
    retag(aws, vpc)
    ec2.delete_vpc(VpcId=vpc)
    with refused("InvalidVpcID.NotFound"):
        ec2.describe_vpcs(VpcIds=[vpc])


def test_subnet(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    made = ec2.create_subnet(
        VpcId=net.vpc,
        CidrBlock="10.0.9.0/24",
        AvailabilityZone="eu-west-1b",
        TagSpecifications=tags("subnet", team="a"),
    )["Subnet"]
    subnet = made["SubnetId"]
    ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": True})
    found = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]
    assert (found["AvailabilityZone"], found["MapPublicIpOnLaunch"]) == ("eu-west-1b", True)
    retag(aws, subnet)
    ec2.delete_subnet(SubnetId=subnet)
    with refused("InvalidSubnetID.NotFound"):
        ec2.describe_subnets(SubnetIds=[subnet])


def test_default_security_group_can_be_emptied(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    filters = [{"Name": "vpc-id", "Values": [net.vpc]}, {"Name": "group-name", "Values": ["default"]}]
    group = ec2.describe_security_groups(Filters=filters)["SecurityGroups"][0]
    # As AWS makes it: everything from inside the group, and everything out.
    assert group["IpPermissions"][0]["UserIdGroupPairs"][0]["GroupId"] == group["GroupId"]
    assert group["IpPermissionsEgress"][0]["IpRanges"] == [{"CidrIp": "0.0.0.0/0"}]
    ec2.revoke_security_group_ingress(GroupId=group["GroupId"], IpPermissions=group["IpPermissions"])
    ec2.revoke_security_group_egress(GroupId=group["GroupId"], IpPermissions=group["IpPermissionsEgress"])
    found = ec2.describe_security_groups(GroupIds=[group["GroupId"]])["SecurityGroups"][0]
    assert (found["IpPermissions"], found["IpPermissionsEgress"]) == ([], [])
    assert exists(aws, "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", group["GroupId"])
    with refused("CannotDelete"):
        ec2.delete_security_group(GroupId=group["GroupId"])


def test_security_group_and_its_rules(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    group = ec2.create_security_group(
        GroupName="endpoints", Description="d", VpcId=net.vpc, TagSpecifications=tags("security-group", team="a")
    )["GroupId"]
    retag(aws, group)
    permission = {
        "IpProtocol": "tcp",
        "FromPort": 443,
        "ToPort": 443,
        "IpRanges": [{"CidrIp": "10.0.0.0/16", "Description": "HTTPS"}],
    }
    specification = tags("security-group-rule", team="a")
    made = {
        "Ingress": ec2.authorize_security_group_ingress(
            GroupId=group, IpPermissions=[permission], TagSpecifications=specification
        ),
        "Egress": ec2.authorize_security_group_egress(
            GroupId=group, IpPermissions=[permission], TagSpecifications=specification
        ),
    }
    for direction, answer in made.items():
        rule = answer["SecurityGroupRules"][0]["SecurityGroupRuleId"]
        found = ec2.describe_security_group_rules(SecurityGroupRuleIds=[rule])["SecurityGroupRules"][0]
        assert (found["FromPort"], found["CidrIpv4"], found["Description"]) == (443, "10.0.0.0/16", "HTTPS")
        assert found["IsEgress"] == (direction == "Egress")
        type_ = f"aws:vpc/securityGroup{direction}Rule:SecurityGroup{direction}Rule"
        assert exists(aws, type_, rule)
        retag(aws, rule)
        getattr(ec2, f"revoke_security_group_{direction.lower()}")(GroupId=group, SecurityGroupRuleIds=[rule])
        assert not exists(aws, type_, rule)
        with refused("InvalidSecurityGroupRuleId.NotFound"):
            ec2.describe_security_group_rules(SecurityGroupRuleIds=[rule])
    ec2.delete_security_group(GroupId=group)
    with refused("InvalidGroup.NotFound"):
        ec2.describe_security_groups(GroupIds=[group])


def test_internet_gateway(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    made = ec2.create_internet_gateway(TagSpecifications=tags("internet-gateway", team="a"))["InternetGateway"]
    retag(aws, made["InternetGatewayId"])
    found = ec2.describe_internet_gateways(InternetGatewayIds=[net.gateway])["InternetGateways"][0]
    assert found["Attachments"] == [{"State": "available", "VpcId": net.vpc}]
    with refused("DependencyViolation"):
        ec2.delete_internet_gateway(InternetGatewayId=net.gateway)
    ec2.detach_internet_gateway(InternetGatewayId=net.gateway, VpcId=net.vpc)
    ec2.delete_internet_gateway(InternetGatewayId=net.gateway)
    with refused("InvalidInternetGatewayID.NotFound"):
        ec2.describe_internet_gateways(InternetGatewayIds=[net.gateway])


def test_address_and_nat_gateway(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    address = ec2.allocate_address(Domain="vpc", TagSpecifications=tags("elastic-ip", team="a"))["AllocationId"]
    retag(aws, address)
    made = ec2.create_nat_gateway(
        SubnetId=net.subnet, AllocationId=address, TagSpecifications=tags("natgateway", team="a")
    )["NatGateway"]["NatGatewayId"]
    found = ec2.describe_nat_gateways(NatGatewayIds=[made])["NatGateways"][0]
    assert (found["State"], found["SubnetId"]) == ("available", net.subnet)
    assert found["NatGatewayAddresses"][0]["AllocationId"] == address
    assert ec2.describe_addresses(AllocationIds=[address])["Addresses"][0]["AssociationId"]
    retag(aws, made)
    ec2.delete_nat_gateway(NatGatewayId=made)
    assert ec2.describe_nat_gateways(NatGatewayIds=[made])["NatGateways"][0]["State"] == "deleted"
    with refused("NatGatewayNotFound"):
        ec2.delete_nat_gateway(NatGatewayId=made)
    ec2.release_address(AllocationId=address)
    with refused("InvalidAllocationID.NotFound"):
        ec2.describe_addresses(AllocationIds=[address])


def test_a_vpc_keeps_another_block_while_a_subnet_lies_in_it(aws: Emulator, net: Network) -> None:
    ec2, type_ = aws.api("ec2"), "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
    made = ec2.associate_vpc_cidr_block(VpcId=net.vpc, CidrBlock="100.64.0.0/16")["CidrBlockAssociation"]
    id_ = made["AssociationId"]
    assert exists(aws, type_, id_)
    subnet = ec2.create_subnet(VpcId=net.vpc, CidrBlock="100.64.0.0/18")["Subnet"]["SubnetId"]
    with refused("DependencyViolation"):
        ec2.disassociate_vpc_cidr_block(AssociationId=id_)
    ec2.delete_subnet(SubnetId=subnet)
    ec2.disassociate_vpc_cidr_block(AssociationId=id_)
    assert not exists(aws, type_, id_)
    with refused("InvalidVpcCidrBlockAssociationID.NotFound"):
        ec2.disassociate_vpc_cidr_block(AssociationId=id_)


def test_route_table_its_routes_and_associations(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    table = ec2.create_route_table(VpcId=net.vpc, TagSpecifications=tags("route-table", team="a"))["RouteTable"]
    table = table["RouteTableId"]
    retag(aws, table)
    everywhere = "0.0.0.0/0"
    ec2.create_route(RouteTableId=table, DestinationCidrBlock=everywhere, GatewayId=net.gateway)
    with refused("RouteAlreadyExists"):
        ec2.create_route(RouteTableId=table, DestinationCidrBlock=everywhere, GatewayId=net.gateway)
    assert exists(aws, "aws:ec2/route:Route", route_id(table, everywhere))
    association = ec2.associate_route_table(RouteTableId=table, SubnetId=net.subnet)["AssociationId"]
    assert exists(aws, "aws:ec2/routeTableAssociation:RouteTableAssociation", association)
    found = ec2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0]
    assert {(route["DestinationCidrBlock"], route["GatewayId"]) for route in found["Routes"]} >= {
        (everywhere, net.gateway)
    }
    assert [each["SubnetId"] for each in found["Associations"]] == [net.subnet]
    with refused("DependencyViolation"):
        ec2.delete_route_table(RouteTableId=table)
    ec2.disassociate_route_table(AssociationId=association)
    ec2.delete_route(RouteTableId=table, DestinationCidrBlock=everywhere)
    with refused("InvalidRoute.NotFound"):
        ec2.delete_route(RouteTableId=table, DestinationCidrBlock=everywhere)
    ec2.delete_route_table(RouteTableId=table)
    with refused("InvalidRouteTableID.NotFound"):
        ec2.describe_route_tables(RouteTableIds=[table])


def test_vpc_endpoints(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    table = ec2.create_route_table(VpcId=net.vpc)["RouteTable"]["RouteTableId"]
    ec2.modify_vpc_attribute(VpcId=net.vpc, EnableDnsHostnames={"Value": True})
    group = ec2.create_security_group(GroupName="e", Description="d", VpcId=net.vpc)["GroupId"]
    gateway = ec2.create_vpc_endpoint(
        VpcId=net.vpc,
        ServiceName="com.amazonaws.eu-west-1.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[table],
        TagSpecifications=tags("vpc-endpoint", team="a"),
    )["VpcEndpoint"]
    interface = ec2.create_vpc_endpoint(
        VpcId=net.vpc,
        ServiceName="com.amazonaws.eu-west-1.sts",
        VpcEndpointType="Interface",
        SubnetIds=[net.subnet],
        SecurityGroupIds=[group],
        PrivateDnsEnabled=True,
    )["VpcEndpoint"]
    found = ec2.describe_vpc_endpoints(VpcEndpointIds=[gateway["VpcEndpointId"]])["VpcEndpoints"][0]
    assert (found["State"].lower(), found["RouteTableIds"]) == ("available", [table])
    retag(aws, gateway["VpcEndpointId"])
    found = ec2.describe_vpc_endpoints(VpcEndpointIds=[interface["VpcEndpointId"]])["VpcEndpoints"][0]
    assert (found["SubnetIds"], found["PrivateDnsEnabled"]) == ([net.subnet], True)
    assert [each["GroupId"] for each in found["Groups"]] == [group]
    with refused("DependencyViolation"):
        ec2.delete_security_group(GroupId=group)
    both = [gateway["VpcEndpointId"], interface["VpcEndpointId"]]
    ec2.delete_vpc_endpoints(VpcEndpointIds=both)
    with refused("InvalidVpcEndpointId.NotFound"):
        ec2.describe_vpc_endpoints(VpcEndpointIds=both)
    ec2.delete_security_group(GroupId=group)
    ec2.delete_route_table(RouteTableId=table)


def test_placement_group(aws: Emulator) -> None:
    ec2 = aws.api("ec2")
    made = ec2.create_placement_group(
        GroupName="near", Strategy="cluster", TagSpecifications=tags("placement-group", team="a")
    )["PlacementGroup"]
    assert (made["State"], made["Strategy"]) == ("available", "cluster")
    with refused("InvalidPlacementGroup.Duplicate"):
        ec2.create_placement_group(GroupName="near", Strategy="cluster")
    retag(aws, made["GroupId"])
    wanted = [{"Name": "tag:team", "Values": ["b"]}]
    assert [each["GroupName"] for each in ec2.describe_placement_groups(Filters=wanted)["PlacementGroups"]] == ["near"]
    assert exists(aws, "aws:ec2/placementGroup:PlacementGroup", "near")
    ec2.delete_placement_group(GroupName="near")
    with refused("InvalidPlacementGroup.Unknown"):
        ec2.describe_placement_groups(GroupNames=["near"])
    with refused("InvalidPlacementGroup.Unknown"):
        ec2.delete_placement_group(GroupName="near")


def test_launch_template_and_its_versions(aws: Emulator) -> None:
    ec2 = aws.api("ec2")
    data: dict[str, Any] = {
        "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 1},
        "BlockDeviceMappings": [
            {
                "DeviceName": "/dev/xvda",
                "Ebs": {"VolumeType": "gp3", "VolumeSize": 100, "Encrypted": True, "DeleteOnTermination": True},
            }
        ],
        "DisableApiStop": True,
        "DisableApiTermination": True,
        "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "n"}]}],
        "UserData": "bm9kZXM=",
    }
    template = ec2.create_launch_template(
        LaunchTemplateName="lt-of-test", LaunchTemplateData=data, TagSpecifications=tags("launch-template", team="a")
    )["LaunchTemplate"]["LaunchTemplateId"]
    retag(aws, template)
    changed = {**data, "DisableApiStop": False}
    assert (
        ec2.create_launch_template_version(LaunchTemplateId=template, LaunchTemplateData=changed)[
            "LaunchTemplateVersion"
        ]["VersionNumber"]
        == 2
    )
    ec2.modify_launch_template(LaunchTemplateId=template, DefaultVersion="2")
    found = ec2.describe_launch_templates(LaunchTemplateIds=[template])["LaunchTemplates"][0]
    assert (found["LatestVersionNumber"], found["DefaultVersionNumber"]) == (2, 2)
    versions = ec2.describe_launch_template_versions(LaunchTemplateId=template, Versions=["1", "$Latest"])
    first, latest = versions["LaunchTemplateVersions"]
    assert first["LaunchTemplateData"] == data
    assert latest["LaunchTemplateData"] == changed
    ec2.delete_launch_template(LaunchTemplateId=template)
    with refused("InvalidLaunchTemplateId.NotFound"):
        ec2.describe_launch_templates(LaunchTemplateIds=[template])
    with refused("InvalidLaunchTemplateId.NotFound"):
        ec2.delete_launch_template(LaunchTemplateId=template)


def test_flow_log(aws: Emulator, net: Network) -> None:
    ec2, logs = aws.api("ec2"), aws.api("logs")
    logs.create_log_group(logGroupName="/flow")
    made = ec2.create_flow_logs(
        ResourceIds=[net.vpc],
        ResourceType="VPC",
        TrafficType="ALL",
        LogGroupName="/flow",
        DeliverLogsPermissionArn="arn:aws:iam::111122223333:role/flow",
        MaxAggregationInterval=60,
        TagSpecifications=tags("vpc-flow-log", team="a"),
    )
    log = made["FlowLogIds"][0]
    found = ec2.describe_flow_logs(FlowLogIds=[log])["FlowLogs"][0]
    assert (found["ResourceId"], found["DeliverLogsStatus"], found["TrafficType"]) == (net.vpc, "SUCCESS", "ALL")
    retag(aws, log)
    ec2.delete_flow_logs(FlowLogIds=[log])
    assert ec2.describe_flow_logs(FlowLogIds=[log])["FlowLogs"] == []
    logs.delete_log_group(logGroupName="/flow")


def test_log_group(aws: Emulator) -> None:
    logs = aws.api("logs")
    name = "/aws/eks/of-test/cluster"
    logs.create_log_group(logGroupName=name, tags={"team": "a"})
    with refused("ResourceAlreadyExistsException"):
        logs.create_log_group(logGroupName=name)
    logs.put_retention_policy(logGroupName=name, retentionInDays=30)
    found = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"][0]
    assert found["retentionInDays"] == 30
    arn = found["arn"].removesuffix(":*")
    logs.tag_resource(resourceArn=arn, tags={"team": "b", "more": "c"})
    logs.untag_resource(resourceArn=arn, tagKeys=["more"])
    assert logs.list_tags_for_resource(resourceArn=arn)["tags"] == {"team": "b"}
    assert exists(aws, "aws:cloudwatch/logGroup:LogGroup", name)
    logs.delete_log_group(logGroupName=name)
    assert logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"] == []
    with refused("ResourceNotFoundException"):
        logs.delete_log_group(logGroupName=name)


def test_these_files_test_all_types_but_those_of_eks_and_tags_of_groups() -> None:
    tested = {  # here and in test_backup, test_file_systems, test_identity and test_schedules
        "aws:autoscaling/schedule:Schedule",
        "aws:backup/plan:Plan",
        "aws:backup/selection:Selection",
        "aws:backup/vault:Vault",
        "aws:backup/vaultLockConfiguration:VaultLockConfiguration",
        "aws:cloudwatch/logGroup:LogGroup",
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        "aws:ec2/eip:Eip",
        "aws:ec2/flowLog:FlowLog",
        "aws:ec2/internetGateway:InternetGateway",
        "aws:ec2/launchTemplate:LaunchTemplate",
        "aws:ec2/natGateway:NatGateway",
        "aws:ec2/route:Route",
        "aws:ec2/placementGroup:PlacementGroup",
        "aws:ec2/routeTable:RouteTable",
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        "aws:ec2/securityGroup:SecurityGroup",
        "aws:ec2/subnet:Subnet",
        "aws:ec2/vpc:Vpc",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
        "aws:efs/accessPoint:AccessPoint",
        "aws:efs/backupPolicy:BackupPolicy",
        "aws:efs/fileSystem:FileSystem",
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        "aws:efs/mountTarget:MountTarget",
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "aws:iam/role:Role",
        "aws:iam/rolePolicy:RolePolicy",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "aws:kms/alias:Alias",
        "aws:kms/key:Key",
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    }
    others = {type_ for type_ in OPERATIONS if not type_.startswith("aws:eks/")} - {"aws:autoscaling/tag:Tag"}
    assert others == tested
