from support.aws import network
from support.eks_account import account
from workbench.clouds.aws.double.client import running
from workbench.clouds.aws.double.server.inventory import route_id


def test_a_route_is_named_as_the_provider_names_it() -> None:
    # The example of the provider's own documentation of imports has this number for 0.0.0.0/0.
    assert route_id("rtb-656C65616E6F72", "0.0.0.0/0") == "r-rtb-656C65616E6F721080289494"


def test_what_a_program_made_is_told_from_what_aws_made_for_it() -> None:
    with running() as aws:
        home = account(aws)
        cluster = home.cluster()
        group = home.group(cluster)
        found = aws.inventory()
        assert found["aws:eks/nodeGroup:NodeGroup"] == [f"{cluster}:{group}"]
        made_by_aws = {type_: len(ids) for type_, ids in found.items() if type_.startswith("AWS::")}
        assert made_by_aws == {
            "AWS::AutoScaling::AutoScalingGroup": 1,
            "AWS::EC2::Instance": 2,
            "AWS::EC2::LaunchTemplate": 1,
            "AWS::EC2::NetworkInterface": 4,  # two of the control plane, one of each instance
            "AWS::EC2::SecurityGroup": 1,
        }
        assert "aws:autoscaling/tag:Tag" not in found
        assert "aws:ec2/launchTemplate:LaunchTemplate" not in found
        assert "aws:ec2/securityGroup:SecurityGroup" not in found
        home.eks.delete_nodegroup(clusterName=cluster, nodegroupName=group)
        home.eks.delete_cluster(name=cluster)
        assert [type_ for type_ in aws.inventory() if type_.startswith(("AWS::", "aws:eks/"))] == []


def test_an_account_can_be_emptied() -> None:
    with running() as aws:
        ec2, net = aws.api("ec2"), network(aws)
        left = aws.leave_network_interface(net.subnet)
        assert aws.inventory()["AWS::EC2::NetworkInterface"] == [left]
        ec2.delete_network_interface(NetworkInterfaceId=left)
        ec2.detach_internet_gateway(InternetGatewayId=net.gateway, VpcId=net.vpc)
        ec2.delete_internet_gateway(InternetGatewayId=net.gateway)
        ec2.delete_subnet(SubnetId=net.subnet)
        ec2.delete_vpc(VpcId=net.vpc)
        assert aws.inventory() == {}
