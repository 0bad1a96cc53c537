import pytest

from support.aws import refused
from support.eks_account import Account


def test_tags_come_change_and_go_on_everything(home: Account) -> None:
    cluster = home.cluster(tags={"a": "1", "b": "1"})
    home.eks.create_addon(clusterName=cluster, addonName="vpc-cni")
    arns = [
        home.eks.describe_cluster(name=cluster)["cluster"]["arn"],
        home.read_group(cluster, home.group(cluster))["nodegroupArn"],
        home.read_addon(cluster, "vpc-cni")["addonArn"],
    ]
    for arn in arns:
        home.eks.tag_resource(resourceArn=arn, tags={"a": "2", "c": "1"})
        home.eks.untag_resource(resourceArn=arn, tagKeys=["b", "never"])
        assert home.eks.list_tags_for_resource(resourceArn=arn)["tags"] == {"a": "2", "c": "1"}
    assert home.eks.describe_cluster(name=cluster)["cluster"]["tags"] == {"a": "2", "c": "1"}


def test_what_does_not_exist_has_no_tags(home: Account) -> None:
    with refused("NotFoundException"):
        home.eks.list_tags_for_resource(resourceArn="arn:aws:eks:eu-west-1:111122223333:cluster/nowhere")


@pytest.mark.parametrize("tags", [{"aws:mine": "1"}, {str(number): "" for number in range(50)}])
def test_too_many_tags_and_those_of_aws_are_refused(home: Account, tags: dict[str, str]) -> None:
    arn = home.eks.describe_cluster(name=home.cluster(tags={"a": "1"}))["cluster"]["arn"]
    with refused("BadRequestException"):
        home.eks.tag_resource(resourceArn=arn, tags=tags)
    assert home.eks.list_tags_for_resource(resourceArn=arn)["tags"] == {"a": "1"}


def test_a_cluster_with_a_tag_of_aws_is_refused(home: Account) -> None:
    with refused("InvalidParameterException"):
        home.cluster(tags={"AWS:mine": "1"})
