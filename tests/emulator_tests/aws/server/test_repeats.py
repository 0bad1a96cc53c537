from emulators.aws.client import Emulator
from emulators.core.faults import LostRule
from support.aws import Network, refused


def test_an_answer_that_is_lost_leads_to_no_second_gateway(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2", attempts=3)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    aws.set_faults(LostRule(operation="ec2:CreateNatGateway", times=1))
    before = len(aws.calls())
    made = ec2.create_nat_gateway(SubnetId=net.subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    assert [call.code for call in aws.calls(before)] == ["dropped", ""]
    found = ec2.describe_nat_gateways(Filters=[{"Name": "subnet-id", "Values": [net.subnet]}])["NatGateways"]
    assert [each["NatGatewayId"] for each in found] == [made]


def test_a_token_is_for_one_request_only(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    wanted = {"VpcId": net.vpc, "ServiceName": "com.amazonaws.eu-west-1.s3", "VpcEndpointType": "Gateway"}
    first, again = (ec2.create_vpc_endpoint(**wanted, ClientToken="one")["VpcEndpoint"] for _ in range(2))
    assert first["VpcEndpointId"] == again["VpcEndpointId"]
    with refused("IdempotentParameterMismatch"):
        ec2.create_vpc_endpoint(**{**wanted, "ServiceName": "com.amazonaws.eu-west-1.dynamodb"}, ClientToken="one")
    assert (
        ec2.create_vpc_endpoint(**wanted, ClientToken="two")["VpcEndpoint"]["VpcEndpointId"] != first["VpcEndpointId"]
    )


def test_a_refused_request_may_come_again_with_its_token(aws: Emulator, net: Network) -> None:
    ec2 = aws.api("ec2")
    wanted = {"SubnetId": net.subnet, "ClientToken": "late"}
    with refused("InvalidAllocationID.NotFound"):
        ec2.create_nat_gateway(**wanted, AllocationId="eipalloc-0123456789abcdef0")
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    assert ec2.create_nat_gateway(**wanted, AllocationId=address)["NatGateway"]["NatGatewayId"]
