from emulators.aws.client import Emulator
from support.aws import Network, refused


def test_a_subnet_with_a_network_interface_stays(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    left = aws.leave_network_interface(net.subnet)
    with refused("DependencyViolation"):
        ec2.delete_subnet(SubnetId=net.subnet)
    ec2.delete_network_interface(NetworkInterfaceId=left)
    ec2.delete_subnet(SubnetId=net.subnet)


def test_a_security_group_of_a_network_interface_stays(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    group = ec2.create_security_group(GroupName="g", Description="d", VpcId=net.vpc)["GroupId"]
    left = aws.leave_network_interface(net.subnet, [group])
    with refused("DependencyViolation"):
        ec2.delete_security_group(GroupId=group)
    ec2.delete_network_interface(NetworkInterfaceId=left)
    ec2.delete_security_group(GroupId=group)


def test_a_security_group_that_another_one_names_stays(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    named, naming = (
        ec2.create_security_group(GroupName=name, Description="d", VpcId=net.vpc)["GroupId"] for name in ("a", "b")
    )
    permission = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "UserIdGroupPairs": [{"GroupId": named}]}
    ec2.authorize_security_group_ingress(GroupId=naming, IpPermissions=[permission])
    with refused("DependencyViolation"):
        ec2.delete_security_group(GroupId=named)
    ec2.delete_security_group(GroupId=naming)
    ec2.delete_security_group(GroupId=named)


def test_a_vpc_stays_as_long_as_something_is_in_it(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    group = ec2.create_security_group(GroupName="g", Description="d", VpcId=net.vpc)["GroupId"]
    table = ec2.create_route_table(VpcId=net.vpc)["RouteTable"]["RouteTableId"]
    endpoint = ec2.create_vpc_endpoint(VpcId=net.vpc, ServiceName="com.amazonaws.eu-west-1.s3", RouteTableIds=[table])
    endpoint = endpoint["VpcEndpoint"]["VpcEndpointId"]
    for remove in (
        lambda: ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint]),
        lambda: ec2.delete_route_table(RouteTableId=table),
        lambda: ec2.delete_security_group(GroupId=group),
        lambda: ec2.delete_subnet(SubnetId=net.subnet),
        lambda: ec2.detach_internet_gateway(InternetGatewayId=net.gateway, VpcId=net.vpc),
    ):
        with refused("DependencyViolation"):
            ec2.delete_vpc(VpcId=net.vpc)
        remove()
    ec2.delete_vpc(VpcId=net.vpc)


def test_a_nat_gateway_holds_its_address_its_subnet_and_the_way_out(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    gateway = ec2.create_nat_gateway(SubnetId=net.subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    with refused("InvalidIPAddress.InUse"):
        ec2.release_address(AllocationId=address)
    with refused("Resource.AlreadyAssociated"):
        ec2.create_nat_gateway(SubnetId=net.subnet, AllocationId=address)
    with refused("DependencyViolation"):
        ec2.detach_internet_gateway(InternetGatewayId=net.gateway, VpcId=net.vpc)
    with refused("DependencyViolation"):
        ec2.delete_subnet(SubnetId=net.subnet)
    ec2.delete_nat_gateway(NatGatewayId=gateway)
    ec2.release_address(AllocationId=address)
    ec2.detach_internet_gateway(InternetGatewayId=net.gateway, VpcId=net.vpc)
    ec2.delete_subnet(SubnetId=net.subnet)


def test_what_is_not_there_is_not_used(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    table = ec2.create_route_table(VpcId=net.vpc)["RouteTable"]["RouteTableId"]
    with refused("InvalidNatGatewayID.NotFound"):
        ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId="nat-0123456789abcdef0")
    with refused("InvalidSubnetID.NotFound"):
        ec2.create_nat_gateway(SubnetId="subnet-0123456789abcdef0", AllocationId="eipalloc-0123456789abcdef0")
    with refused("InvalidAllocationID.NotFound"):
        ec2.create_nat_gateway(SubnetId=net.subnet, AllocationId="eipalloc-0123456789abcdef0")
    service = "com.amazonaws.eu-west-1.s3"
    with refused("InvalidRouteTableID.NotFound"):
        ec2.create_vpc_endpoint(VpcId=net.vpc, ServiceName=service, RouteTableIds=["rtb-0123456789abcdef0"])
    with refused("InvalidGroup.NotFound"):
        ec2.create_vpc_endpoint(
            VpcId=net.vpc,
            ServiceName="com.amazonaws.eu-west-1.sts",
            VpcEndpointType="Interface",
            SubnetIds=[net.subnet],
            SecurityGroupIds=["sg-0123456789abcdef0"],
        )


def test_tags_are_for_groups_that_exist(aws: Emulator) -> None:
    tag = {"ResourceId": "eks-gone", "ResourceType": "auto-scaling-group", "Key": "k", "Value": "v"}
    autoscaling = aws.api("autoscaling")
    with refused("ValidationError"):
        autoscaling.create_or_update_tags(Tags=[{**tag, "PropagateAtLaunch": False}])
    with refused("ValidationError"):
        autoscaling.delete_tags(Tags=[tag])


def test_what_can_be_there_once_is_not_made_twice(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    second = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    with refused("InvalidParameterValue"):
        ec2.attach_internet_gateway(InternetGatewayId=second, VpcId=net.vpc)
    tables = [ec2.create_route_table(VpcId=net.vpc)["RouteTable"]["RouteTableId"] for _ in range(2)]
    ec2.associate_route_table(RouteTableId=tables[0], SubnetId=net.subnet)
    with refused("Resource.AlreadyAssociated"):
        ec2.associate_route_table(RouteTableId=tables[1], SubnetId=net.subnet)
    gateway = {"VpcId": net.vpc, "ServiceName": "com.amazonaws.eu-west-1.s3", "VpcEndpointType": "Gateway"}
    ec2.create_vpc_endpoint(**gateway, RouteTableIds=tables[:1])
    ec2.create_vpc_endpoint(**gateway, RouteTableIds=tables[1:])
    with refused("RouteAlreadyExists"):
        ec2.create_vpc_endpoint(**gateway, RouteTableIds=tables)


def test_names_of_an_endpoint_are_given_once_and_only_where_a_vpc_has_names(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    endpoint = {
        "VpcId": net.vpc,
        "ServiceName": "com.amazonaws.eu-west-1.sts",
        "VpcEndpointType": "Interface",
        "SubnetIds": [net.subnet],
        "PrivateDnsEnabled": True,
    }
    with refused("InvalidParameter"):
        ec2.create_vpc_endpoint(**endpoint)
    ec2.modify_vpc_attribute(VpcId=net.vpc, EnableDnsHostnames={"Value": True})
    ec2.create_vpc_endpoint(**endpoint)
    with refused("InvalidParameter"):
        ec2.create_vpc_endpoint(**endpoint)
