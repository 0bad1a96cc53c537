from support.aws import refused
from support.eks_account import Account


def test_an_update_is_found_with_what_it_is_about(home: Account) -> None:
    cluster = home.cluster()
    group = home.group(cluster)
    own = home.eks.update_cluster_config(name=cluster, deletionProtection=True)["update"]["id"]
    about_group = home.eks.update_nodegroup_config(
        clusterName=cluster, nodegroupName=group, scalingConfig={"maxSize": 9}
    )["update"]["id"]
    assert home.eks.list_updates(name=cluster)["updateIds"] == [own]
    assert home.eks.list_updates(name=cluster, nodegroupName=group)["updateIds"] == [about_group]
    home.eks.describe_update(name=cluster, nodegroupName=group, updateId=about_group)
    for wrong in ({"updateId": about_group}, {"updateId": own, "nodegroupName": group}, {"updateId": "none"}):
        with refused("ResourceNotFoundException"):
            home.eks.describe_update(name=cluster, **wrong)
