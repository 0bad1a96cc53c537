from emulators.aws.client import Emulator
from support.aws import Network, refused

TEN_MINUTES = 600


def test_a_nat_gateway_takes_its_time_to_come_and_to_go(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")

    def state() -> str:
        return str(ec2.describe_nat_gateways(NatGatewayIds=[gateway])["NatGateways"][0]["State"])

    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    aws.set_scale(1)
    gateway = ec2.create_nat_gateway(SubnetId=net.subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    assert state() == "pending"
    aws.advance(TEN_MINUTES)
    assert state() == "available"
    ec2.delete_nat_gateway(NatGatewayId=gateway)
    assert state() == "deleting"
    with refused("InvalidIPAddress.InUse"):
        ec2.release_address(AllocationId=address)
    aws.advance(TEN_MINUTES)
    assert state() == "deleted"
    ec2.release_address(AllocationId=address)


def test_an_interface_endpoint_takes_its_time_and_its_interfaces_go_with_it(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    aws.set_scale(1)
    made = ec2.create_vpc_endpoint(
        VpcId=net.vpc,
        ServiceName="com.amazonaws.eu-west-1.sts",
        VpcEndpointType="Interface",
        SubnetIds=[net.subnet],
    )["VpcEndpoint"]["VpcEndpointId"]

    def states() -> list[str]:
        return [each["State"].lower() for each in ec2.describe_vpc_endpoints(VpcEndpointIds=[made])["VpcEndpoints"]]

    assert states() == ["pending"]
    aws.advance(TEN_MINUTES)
    assert states() == ["available"]
    with refused("DependencyViolation"):
        ec2.delete_subnet(SubnetId=net.subnet)
    ec2.delete_vpc_endpoints(VpcEndpointIds=[made])
    assert states() == ["deleting"]
    aws.advance(TEN_MINUTES)
    assert made not in aws.inventory().get("aws:ec2/vpcEndpoint:VpcEndpoint", [])
    ec2.delete_subnet(SubnetId=net.subnet)


def test_a_nat_gateway_without_a_way_out_fails_and_lets_its_address_go(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    ec2.detach_internet_gateway(InternetGatewayId=net.gateway, VpcId=net.vpc)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    gateway = ec2.create_nat_gateway(SubnetId=net.subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    found = ec2.describe_nat_gateways(NatGatewayIds=[gateway])["NatGateways"][0]
    assert (found["State"], found["FailureCode"]) == ("failed", "Gateway.NotAttached")
    ec2.release_address(AllocationId=address)


def test_a_launch_template_is_described_with_the_tags_that_it_has_now(aws: Emulator) -> None:
    ec2 = aws.api("ec2")
    first = [{"ResourceType": "launch-template", "Tags": [{"Key": "team", "Value": "ml"}]}]
    data = {"MetadataOptions": {"HttpTokens": "required"}}
    made = ec2.create_launch_template(LaunchTemplateName="tags", LaunchTemplateData=data, TagSpecifications=first)
    template = made["LaunchTemplate"]["LaunchTemplateId"]
    ec2.create_tags(Resources=[template], Tags=[{"Key": "run", "Value": "1"}])
    ec2.delete_tags(Resources=[template], Tags=[{"Key": "team"}])
    (found,) = ec2.describe_launch_templates(LaunchTemplateIds=[template])["LaunchTemplates"]
    assert found["Tags"] == [{"Key": "run", "Value": "1"}]
    ec2.delete_launch_template(LaunchTemplateId=template)
