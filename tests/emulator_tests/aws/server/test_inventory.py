from emulators.aws.client import running
from emulators.aws.server.inventory import route_id
from support.eks_account import account


def test_a_route_is_named_as_the_provider_names_it() -> None:
    # The example of the provider's own documentation of imports has this number for 0.0.0.0/0.
    assert route_id("rtb-656C65616E6F72", "0.0.0.0/0") == "r-rtb-656C65616E6F721080289494"


def test_what_a_program_made_is_told_from_what_aws_made_for_it() -> None:
    # A server of its own: in the shared one things of other tests are still about to go.
    with running() as aws:
        home = account(aws)
        before = aws.inventory()

        def more() -> dict[str, int]:
            counts = {type_: len(ids) - len(before.get(type_, [])) for type_, ids in aws.inventory().items()}
            return {type_: count for type_, count in counts.items() if count}

        cluster = home.cluster()
        group = home.group(cluster)
        assert more() == {
            "AWS::AutoScaling::AutoScalingGroup": 1,
            "AWS::EC2::Instance": 2,
            "AWS::EC2::LaunchTemplate": 1,
            "AWS::EC2::NetworkInterface": 4,  # two of the control plane, one of each instance
            "AWS::EC2::SecurityGroup": 1,
            "aws:eks/cluster:Cluster": 1,
            "aws:eks/nodeGroup:NodeGroup": 1,
        }
        assert f"{cluster}:{group}" in aws.inventory()["aws:eks/nodeGroup:NodeGroup"]
        home.eks.delete_nodegroup(clusterName=cluster, nodegroupName=group)
        home.eks.delete_cluster(name=cluster)
        assert more() == {}
