from typing import Any

import pytest

from components.contract.kubernetes_minors import offered
from emulators.aws.server.circumstances import CLOSED_ZONES
from emulators.core.faults import StuckRule
from support.aws import refused
from support.eks_account import Account, role, unique
from support.minors import CHOSEN, after

ALL_LOGS = ["api", "audit", "authenticator", "controllerManager", "scheduler"]


def read(home: Account, name: str) -> dict[str, Any]:
    found: dict[str, Any] = home.eks.describe_cluster(name=name)["cluster"]
    return found


def test_a_cluster_is_creating_and_then_active_with_an_address(home: Account) -> None:
    made = home.eks.create_cluster(**home.cluster_args())["cluster"]
    assert made["status"] == "CREATING"
    assert "endpoint" not in made
    found = read(home, made["name"])
    assert found["status"] == "ACTIVE"
    assert found["endpoint"].startswith("https://")
    assert found["certificateAuthority"]["data"]
    assert found["identity"]["oidc"]["issuer"].startswith("https://oidc.eks.eu-west-1.amazonaws.com/id/")
    assert found["arn"] == f"arn:aws:eks:eu-west-1:111122223333:cluster/{made['name']}"


def test_everything_that_was_sent_about_security_is_read_back(home: Account) -> None:
    encryption = [{"resources": ["secrets"], "provider": {"keyArn": home.key}}]
    access = {"endpointPrivateAccess": True, "endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.0/24"]}
    name = home.cluster(
        resourcesVpcConfig={"subnetIds": list(home.subnets), **access},
        encryptionConfig=encryption,
        deletionProtection=True,
        upgradePolicy={"supportType": "STANDARD"},
        logging={"clusterLogging": [{"types": ALL_LOGS, "enabled": True}]},
        kubernetesNetworkConfig={"ipFamily": "ipv4", "serviceIpv4Cidr": "172.20.0.0/16"},
        tags={"team": "ml"},
    )
    found = read(home, name)
    assert found["encryptionConfig"] == encryption
    assert found["deletionProtection"] is True
    assert found["upgradePolicy"] == {"supportType": "STANDARD"}
    assert found["logging"] == {"clusterLogging": [{"types": ALL_LOGS, "enabled": True}]}
    assert found["kubernetesNetworkConfig"]["serviceIpv4Cidr"] == "172.20.0.0/16"
    assert found["accessConfig"] == {"authenticationMode": "API"}
    assert found["tags"] == {"team": "ml"}
    assert access.items() <= found["resourcesVpcConfig"].items()
    assert found["resourcesVpcConfig"]["subnetIds"] == list(home.subnets)
    assert found["resourcesVpcConfig"]["vpcId"] == home.vpc


def test_what_was_not_sent_gets_eks_defaults(home: Account) -> None:
    required = ("name", "roleArn", "resourcesVpcConfig")
    args = {member: value for member, value in home.cluster_args().items() if member in required}
    found = read(home, home.eks.create_cluster(**args)["cluster"]["name"])
    access = {"endpointPublicAccess": True, "endpointPrivateAccess": False, "publicAccessCidrs": ["0.0.0.0/0"]}
    assert access.items() <= found["resourcesVpcConfig"].items()
    assert found["accessConfig"] == {"authenticationMode": "CONFIG_MAP"}
    assert found["upgradePolicy"] == {"supportType": "EXTENDED"}
    assert found["deletionProtection"] is False
    assert found["logging"] == {"clusterLogging": [{"types": ALL_LOGS, "enabled": False}]}
    assert found["kubernetesNetworkConfig"]["ipFamily"] == "ipv4"


def test_a_private_cluster_has_no_public_ranges(home: Account) -> None:
    network = {"subnetIds": list(home.subnets), "endpointPublicAccess": False, "endpointPrivateAccess": True}
    assert read(home, home.cluster(resourcesVpcConfig=network))["resourcesVpcConfig"]["publicAccessCidrs"] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"roleArn": "arn:aws:iam::111122223333:role/nobody"}, "could not be assumed because it does not exist"),
        ({"version": "9.99"}, "unsupported Kubernetes version"),
        ({"version": "1.30"}, "unsupported Kubernetes version"),
        ({"version": after(offered("eks")[0], -1), "upgradePolicy": {"supportType": "STANDARD"}}, "extended support"),
        ({"resourcesVpcConfig": {"subnetIds": ["subnet-0123456789abcdef0"]}}, "does not exist"),
        ({"encryptionConfig": [{"resources": ["secrets"], "provider": {"keyArn": "arn:aws:kms:x"}}]}, "is no key"),
        ({"kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/28"}}, "must be between /12 and /24"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_does_not_exist_or_fit_is_refused(home: Account, changes: dict[str, Any], words: str) -> None:
    with refused("InvalidParameterException") as caught:
        home.cluster(**changes)
    assert words in str(caught.value)


def test_subnets_in_one_zone_are_refused(home: Account) -> None:
    with refused("InvalidParameterException") as caught:
        home.cluster(resourcesVpcConfig={"subnetIds": [home.subnets[0]]})
    assert "at least two different AZs" in str(caught.value)


def test_zones_without_control_planes_are_refused(home: Account) -> None:
    zones = home.aws.api("ec2").describe_availability_zones()["AvailabilityZones"]
    ids = {zone["ZoneName"]: zone["ZoneId"] for zone in zones}
    home.aws.set_circumstances(closed_zones=[ids["eu-west-1c"]])
    with refused("UnsupportedAvailabilityZoneException") as caught:
        home.cluster()
    assert "because eu-west-1c, the targeted" in str(caught.value)
    assert str(caught.value).endswith("choose from these availability zones: eu-west-1a, eu-west-1b")
    name = home.cluster(resourcesVpcConfig={"subnetIds": list(home.subnets[:2])})
    home.group(name, subnets=list(home.subnets))  # nodes may be in any zone


def test_the_zones_that_are_always_closed_are_those_of_the_user_guide() -> None:
    assert {"use1-az3", "usw1-az2", "cac1-az3"} == CLOSED_ZONES


def test_a_cluster_that_nobody_could_reach_is_refused(home: Account) -> None:
    network = {"subnetIds": list(home.subnets), "endpointPublicAccess": False, "endpointPrivateAccess": False}
    with refused("InvalidParameterException"):
        home.cluster(resourcesVpcConfig=network)


def test_services_may_not_have_addresses_of_the_vpc(home: Account) -> None:
    cidr = home.aws.api("ec2").describe_vpcs(VpcIds=[home.vpc])["Vpcs"][0]["CidrBlock"]
    with refused("InvalidParameterException") as caught:
        home.cluster(kubernetesNetworkConfig={"serviceIpv4Cidr": cidr})
    assert "overlaps" in str(caught.value)


def test_a_role_for_something_else_is_refused(home: Account) -> None:
    with refused("InvalidParameterException") as caught:
        home.cluster(roleArn=home.node_role)
    assert "trusted entity is not correct" in str(caught.value)


def test_a_disabled_key_is_refused(home: Account) -> None:
    kms = home.aws.api("kms")
    key = kms.create_key()["KeyMetadata"]
    kms.disable_key(KeyId=key["KeyId"])
    with refused("InvalidParameterException") as caught:
        home.cluster(encryptionConfig=[{"resources": ["secrets"], "provider": {"keyArn": key["Arn"]}}])
    assert "Disabled" in str(caught.value)


def test_a_name_is_taken_once(home: Account) -> None:
    name = home.cluster()
    with refused("ResourceInUseException"):
        home.cluster(name=name)


def test_a_request_that_comes_twice_with_its_token_is_done_once(home: Account) -> None:
    args = home.cluster_args(clientRequestToken=unique("token"))
    first, second = (home.eks.create_cluster(**args)["cluster"] for _ in range(2))
    assert first == second
    with refused("InvalidRequestException"):
        home.eks.create_cluster(**{**args, "version": CHOSEN})


def test_a_cluster_with_node_groups_stays(home: Account) -> None:
    name = home.cluster()
    group = home.group(name)
    with refused("ResourceInUseException") as caught:
        home.eks.delete_cluster(name=name)
    assert "Cluster has nodegroups attached" in str(caught.value)
    home.eks.delete_nodegroup(clusterName=name, nodegroupName=group)
    home.eks.delete_cluster(name=name)
    with refused("ResourceNotFoundException"):
        home.eks.describe_cluster(name=name)


def test_a_protected_cluster_stays_until_it_is_not(home: Account) -> None:
    name = home.cluster(deletionProtection=True)
    with refused("InvalidRequestException"):
        home.eks.delete_cluster(name=name)
    home.eks.update_cluster_config(name=name, deletionProtection=False)
    home.eks.delete_cluster(name=name)


def test_a_cluster_that_is_stuck_can_be_removed(home: Account) -> None:
    home.aws.set_faults(StuckRule(operation="eks:CreateCluster"))
    name = home.cluster(deletionProtection=True)
    assert read(home, name)["status"] == "CREATING"
    home.eks.delete_cluster(name=name)
    assert name not in home.eks.list_clusters()["clusters"]


def test_a_cluster_holds_its_subnets_and_lets_them_go(home: Account) -> None:
    ec2 = home.aws.api("ec2")
    cidr = ec2.describe_vpcs(VpcIds=[home.vpc])["Vpcs"][0]["CidrBlock"].replace("0.0/16", "{}.0/28")
    subnets = [
        ec2.create_subnet(VpcId=home.vpc, CidrBlock=cidr.format(200 + number), AvailabilityZone=zone)["Subnet"][
            "SubnetId"
        ]
        for number, zone in enumerate(("eu-west-1a", "eu-west-1b"))
    ]
    name = home.cluster(resourcesVpcConfig={"subnetIds": subnets})
    own = read(home, name)["resourcesVpcConfig"]["clusterSecurityGroupId"]
    with refused("DependencyViolation"):
        ec2.delete_subnet(SubnetId=subnets[0])
    with refused("DependencyViolation"):
        ec2.delete_security_group(GroupId=own)
    home.eks.delete_cluster(name=name)
    for subnet in subnets:
        ec2.delete_subnet(SubnetId=subnet)
    with refused("InvalidGroup.NotFound"):
        ec2.describe_security_groups(GroupIds=[own])


def test_a_security_group_that_somebody_uses_stays_behind(home: Account) -> None:
    ec2 = home.aws.api("ec2")
    name = home.cluster()
    own = read(home, name)["resourcesVpcConfig"]["clusterSecurityGroupId"]
    left = home.aws.leave_network_interface(home.subnets[0], [own])
    home.eks.delete_cluster(name=name)
    assert ec2.describe_security_groups(GroupIds=[own])["SecurityGroups"]
    ec2.delete_network_interface(NetworkInterfaceId=left)
    ec2.delete_security_group(GroupId=own)


def test_eks_makes_the_log_group_of_a_cluster_that_writes_logs(home: Account) -> None:
    logs = home.aws.api("logs")

    def groups(name: str) -> list[str]:
        found = logs.describe_log_groups(logGroupNamePrefix=f"/aws/eks/{name}/")["logGroups"]
        return [group["logGroupName"] for group in found]

    silent, loud = home.cluster(), home.cluster(logging={"clusterLogging": [{"types": ["audit"], "enabled": True}]})
    assert (groups(silent), groups(loud)) == ([], [f"/aws/eks/{loud}/cluster"])
    home.eks.update_cluster_config(name=silent, logging={"clusterLogging": [{"types": ["api"], "enabled": True}]})
    assert groups(silent) == [f"/aws/eks/{silent}/cluster"]
    home.eks.delete_cluster(name=loud)
    assert groups(loud) == [f"/aws/eks/{loud}/cluster"]


@pytest.mark.parametrize("is_late", [True, False])
def test_last_logs_of_a_cluster_that_is_gone_make_its_log_group_again(home: Account, is_late: bool) -> None:
    logs = home.aws.api("logs")
    home.aws.set_circumstances(has_late_logs=is_late)
    name = home.cluster(logging={"clusterLogging": [{"types": ["audit"], "enabled": True}]})
    home.eks.delete_cluster(name=name)
    group = {"logGroupName": f"/aws/eks/{name}/cluster"}
    logs.delete_log_group(**group)
    if is_late:
        with refused("ResourceAlreadyExistsException"):
            logs.create_log_group(**group)
        logs.delete_log_group(**group)  # they come once
    logs.create_log_group(**group)


def test_states_take_as_long_as_the_clock_says(home: Account) -> None:
    home.aws.set_scale(1)
    name = home.cluster()
    assert read(home, name)["status"] == "CREATING"
    home.aws.advance(3600)
    assert read(home, name)["status"] == "ACTIVE"
    home.eks.delete_cluster(name=name)
    assert read(home, name)["status"] == "DELETING"
    home.aws.advance(3600)
    assert name not in home.eks.list_clusters()["clusters"]


def test_a_new_role_serves_a_cluster(home: Account) -> None:
    home.cluster(roleArn=role(home.aws, "eks.amazonaws.com"))


def test_lists_come_page_by_page(home: Account) -> None:
    names = {home.cluster() for _ in range(3)}
    pages = list(home.eks.get_paginator("list_clusters").paginate(PaginationConfig={"PageSize": 2}))
    assert len(pages) > 1
    assert names <= {name for page in pages for name in page["clusters"]}


def test_a_member_that_the_emulator_does_not_know_is_not_dropped(home: Account) -> None:
    with refused("NotImplemented"):
        home.cluster(computeConfig={"enabled": True})
