import itertools
from typing import Any

import pytest

from support.aws import refused
from support.eks_account import ZONES, Account, unique
from support.minors import CHOSEN, EARLIER, OLDER

RANGES = itertools.count(100)


def change(home: Account, name: str, **config: Any) -> dict[str, Any]:
    update: dict[str, Any] = home.eks.update_cluster_config(name=name, **config)["update"]
    return update


def read(home: Account, name: str) -> dict[str, Any]:
    found: dict[str, Any] = home.eks.describe_cluster(name=name)["cluster"]
    return found


@pytest.mark.parametrize(
    ("config", "type_"),
    [
        ({"accessConfig": {"authenticationMode": "API"}}, "AccessConfigUpdate"),
        ({"deletionProtection": True}, "DeletionProtectionUpdate"),
        ({"upgradePolicy": {"supportType": "STANDARD"}}, "UpgradePolicyUpdate"),
        ({"zonalShiftConfig": {"enabled": True}}, "ZonalShiftConfigUpdate"),
        ({"controlPlaneScalingConfig": {"tier": "tier-xl"}}, "ControlPlaneScalingConfigUpdate"),
    ],
)
def test_a_setting_is_changed_by_an_update_of_its_type(home: Account, config: dict[str, Any], type_: str) -> None:
    name = home.cluster(accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"})
    update = change(home, name, **config)
    assert (update["type"], update["status"]) == (type_, "InProgress")
    assert config.items() <= read(home, name).items()
    assert home.eks.describe_update(name=name, updateId=update["id"])["update"]["status"] == "Successful"


def test_logs_that_are_not_named_stay_as_they_are(home: Account) -> None:
    name = home.cluster(logging={"clusterLogging": [{"types": ["api", "audit"], "enabled": True}]})
    change(home, name, logging={"clusterLogging": [{"types": ["audit"], "enabled": False}]})
    on, off = read(home, name)["logging"]["clusterLogging"]
    assert on == {"types": ["api"], "enabled": True}
    assert "audit" in off["types"]


def test_an_endpoint_update_keeps_the_rest_of_the_network(home: Account) -> None:
    name = home.cluster()
    before = read(home, name)["resourcesVpcConfig"]
    update = change(
        home, name, resourcesVpcConfig={"publicAccessCidrs": ["203.0.113.0/24"], "endpointPrivateAccess": True}
    )
    assert update["type"] == "EndpointAccessUpdate"
    assert {"type": "PublicAccessCidrs", "value": '["203.0.113.0/24"]'} in update["params"]
    after = read(home, name)["resourcesVpcConfig"]
    assert after == {**before, "publicAccessCidrs": ["203.0.113.0/24"], "endpointPrivateAccess": True}


def more_subnets(home: Account, *zones: str, vpc: str = "") -> list[str]:
    """Make a subnet in each of these zones, in the account's VPC or in another one."""
    ec2 = home.aws.api("ec2")
    places = {"VpcId": vpc or home.vpc}
    made = [ec2.create_subnet(**places, CidrBlock=f"10.0.{next(RANGES)}.0/24", AvailabilityZone=zone) for zone in zones]
    return [each["Subnet"]["SubnetId"] for each in made]


def test_subnets_can_change_inside_their_zones_and_those_before_are_free(home: Account) -> None:
    before = more_subnets(home, *ZONES)
    name = home.cluster(resourcesVpcConfig={"subnetIds": before})
    wanted = more_subnets(home, ZONES[0], *ZONES)
    update = change(home, name, resourcesVpcConfig={"subnetIds": wanted})
    assert update["type"] == "VpcConfigUpdate"
    assert read(home, name)["resourcesVpcConfig"]["subnetIds"] == wanted
    for subnet in before:
        home.aws.api("ec2").delete_subnet(SubnetId=subnet)
    change(home, name, resourcesVpcConfig={"subnetIds": list(home.subnets)})


@pytest.mark.parametrize("zones", [ZONES[:2], ZONES[:1], (*ZONES[1:], "eu-west-1b")], ids=", ".join)
def test_a_control_plane_stays_in_exactly_its_zones(home: Account, zones: tuple[str, ...]) -> None:
    name = home.cluster()
    with refused("InvalidParameterException"):
        change(home, name, resourcesVpcConfig={"subnetIds": more_subnets(home, *zones)})
    assert read(home, name)["resourcesVpcConfig"]["subnetIds"] == list(home.subnets)


def test_a_zone_more_is_refused_in_words_that_name_both_sets(home: Account) -> None:
    name = home.cluster(resourcesVpcConfig={"subnetIds": list(home.subnets[:2])})
    with refused("InvalidParameterException") as caught:
        change(home, name, resourcesVpcConfig={"subnetIds": list(home.subnets)})
    assert str(caught.value).endswith(
        "Provided subnets belong to the AZs 'eu-west-1a,eu-west-1b,eu-west-1c'. But they should belong to the exact "
        "set of AZs 'eu-west-1a,eu-west-1b' in which subnets were provided during cluster creation."
    )


def test_a_control_plane_stays_in_its_vpc(home: Account) -> None:
    name = home.cluster()
    other = home.aws.api("ec2").create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    with refused("InvalidParameterException") as caught:
        change(home, name, resourcesVpcConfig={"subnetIds": more_subnets(home, *ZONES, vpc=other)})
    assert f"the cluster's VPC {home.vpc}" in str(caught.value)


def test_the_addresses_of_services_stay(home: Account) -> None:
    name = home.cluster()
    before = read(home, name)["kubernetesNetworkConfig"]
    with refused("InvalidParameterException"):
        change(home, name, kubernetesNetworkConfig={"serviceIpv4Cidr": "192.168.0.0/20"})
    assert read(home, name)["kubernetesNetworkConfig"] == before


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "The type for cluster update was not provided."),
        ({"deletionProtection": True, "zonalShiftConfig": {"enabled": True}}, "Only one type of update"),
        ({"resourcesVpcConfig": {"endpointPrivateAccess": True, "subnetIds": ["subnet-1"]}}, "Only one type of update"),
        ({"resourcesVpcConfig": {"endpointPublicAccess": True}}, "already at the desired configuration"),
        ({"resourcesVpcConfig": {"endpointPublicAccess": False}}, "cannot be false"),
        ({"logging": {"clusterLogging": [{"types": ["api"], "enabled": False}]}}, "No changes needed"),
        ({"deletionProtection": False}, "No changes needed"),
        ({"accessConfig": {"authenticationMode": "CONFIG_MAP"}}, "Unsupported authentication mode update"),
    ],
)
def test_what_changes_nothing_or_too_much_is_refused(home: Account, config: dict[str, Any], words: str) -> None:
    name = home.cluster()
    with refused("InvalidParameterException") as caught:
        change(home, name, **config)
    assert words in str(caught.value)


def test_a_cluster_has_one_update_at_a_time(home: Account) -> None:
    name = home.cluster()
    home.aws.set_scale(1)
    change(home, name, deletionProtection=True)
    assert read(home, name)["status"] == "UPDATING"
    for again in (
        lambda: change(home, name, zonalShiftConfig={"enabled": True}),
        lambda: home.eks.update_cluster_version(name=name, version=CHOSEN),
        lambda: home.eks.delete_cluster(name=name),
    ):
        with refused("ResourceInUseException") as caught:
            again()
        assert "in progress" in str(caught.value)
    home.aws.advance(3600)
    assert read(home, name)["status"] == "ACTIVE"
    assert read(home, name)["deletionProtection"] is True


def test_secrets_get_a_key_once(home: Account) -> None:
    name = home.cluster()
    config = [{"resources": ["secrets"], "provider": {"keyArn": home.key}}]
    home.eks.associate_encryption_config(clusterName=name, encryptionConfig=config, clientRequestToken=unique("token"))
    assert read(home, name)["encryptionConfig"] == config
    with refused("InvalidParameterException"):
        home.eks.associate_encryption_config(clusterName=name, encryptionConfig=config)


def test_a_cluster_is_upgraded_by_one_minor_version(home: Account) -> None:
    name = home.cluster(version=EARLIER)
    update = home.eks.update_cluster_version(name=name, version=OLDER)["update"]
    assert update["type"] == "VersionUpdate"
    assert read(home, name)["version"] == OLDER


@pytest.mark.parametrize("is_same", [True, False], ids=["the same key", "another key"])
def test_secrets_never_get_a_second_key(home: Account, is_same: bool) -> None:
    config = [{"resources": ["secrets"], "provider": {"keyArn": home.key}}]
    name = home.cluster(encryptionConfig=config)
    again = config if is_same else [{"resources": ["secrets"], "provider": {"keyArn": new_key(home)}}]
    with refused("InvalidParameterException") as caught:
        home.eks.associate_encryption_config(clusterName=name, encryptionConfig=again)
    assert "Encryption is already enabled on the cluster" in str(caught.value)
    assert read(home, name)["encryptionConfig"] == config


@pytest.mark.parametrize(
    ("operation", "args", "code"),
    [
        ("schedule_key_deletion", {"PendingWindowInDays": 7}, "KmsKeyMarkedForDeletion"),
        ("disable_key", {}, "KmsKeyDisabled"),
    ],
)
def test_a_cluster_whose_key_goes_cannot_decrypt_its_secrets(
    home: Account, operation: str, args: dict[str, Any], code: str
) -> None:
    arn = new_key(home)
    name = home.cluster(encryptionConfig=[{"resources": ["secrets"], "provider": {"keyArn": arn}}])
    assert read(home, name)["health"] == {"issues": []}
    getattr(home.aws.api("kms"), operation)(KeyId=arn.rpartition("/")[2], **args)
    found = read(home, name)
    assert [(each["code"], each["resourceIds"]) for each in found["health"]["issues"]] == [(code, [arn])]
    assert found["status"] == "ACTIVE"


def new_key(home: Account) -> str:
    arn: str = home.aws.api("kms").create_key()["KeyMetadata"]["Arn"]
    return arn
