"""FSx for Lustre: made, grown, changed and deleted, as the provider and the CSI driver do it."""

from typing import Any

import pytest

from emulators.aws.client import Emulator
from emulators.core.faults import FailedRule, Issue, LostRule, StuckRule
from support.aws import Network, exists, refused

FILES = "aws:fsx/lustreFileSystem:LustreFileSystem"

TWENTY_MINUTES = 1200
A_DAY = 86_400

SCRATCH = {"DeploymentType": "SCRATCH_2"}
PERSISTENT = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}


def make(aws: Emulator, net: Network, lustre: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Make a file system in the default security group, whose members talk to each other."""
    wanted = {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "SubnetIds": [net.subnet], **more}
    made: dict[str, Any] = aws.api("fsx").create_file_system(**wanted, LustreConfiguration=lustre)["FileSystem"]
    return made


def look(aws: Emulator, id_: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = aws.api("fsx").describe_file_systems(FileSystemIds=[id_])["FileSystems"]
    return found[0]


def group(aws: Emulator, net: Network, *ports: int) -> str:
    """Make a security group whose members may talk to each other on these TCP ports."""
    ec2 = aws.api("ec2")
    id_ = str(ec2.create_security_group(GroupName="-".join(map(str, ports)), Description="a", VpcId=net.vpc)["GroupId"])
    pairs = [{"GroupId": id_}]
    rules = [{"IpProtocol": "tcp", "FromPort": each, "ToPort": each, "UserIdGroupPairs": pairs} for each in ports]
    if rules:
        ec2.authorize_security_group_ingress(GroupId=id_, IpPermissions=rules)
    return id_


def test_a_file_system_takes_its_time_and_can_then_be_mounted(aws: Emulator, net: Network) -> None:
    aws.set_scale(1)
    made = make(aws, net, SCRATCH, Tags=[{"Key": "team", "Value": "ml"}])
    id_ = made["FileSystemId"]
    assert made["Lifecycle"] == look(aws, id_)["Lifecycle"] == "CREATING"
    with refused("BadRequest"):
        aws.api("fsx").update_file_system(FileSystemId=id_, StorageCapacity=2400)
    aws.advance(TWENTY_MINUTES)
    found = look(aws, id_)
    assert found["Lifecycle"] == "AVAILABLE"
    assert found["DNSName"] == f"{id_}.fsx.eu-west-1.amazonaws.com"
    assert found["VpcId"] == net.vpc
    assert found["SubnetIds"] == [net.subnet]
    assert found["FileSystemTypeVersion"] == "2.10"
    assert found["Tags"] == [{"Key": "team", "Value": "ml"}]
    assert found["LustreConfiguration"]["DataCompressionType"] == "NONE"
    assert len(found["LustreConfiguration"]["MountName"]) == 8
    assert "KmsKeyId" not in found
    assert "SecurityGroupIds" not in found


def test_a_persistent_file_system_has_a_key_and_backups(aws: Emulator, net: Network) -> None:
    found = make(aws, net, {**PERSISTENT, "AutomaticBackupRetentionDays": 7})
    assert ":key/" in found["KmsKeyId"]
    assert found["FileSystemTypeVersion"] == "2.12"
    lustre = found["LustreConfiguration"]
    assert lustre["PerUnitStorageThroughput"] == 125
    assert lustre["DailyAutomaticBackupStartTime"]
    assert not lustre["CopyTagsToBackups"]


def test_a_token_is_for_one_request_and_makes_one_file_system(aws: Emulator, net: Network) -> None:
    aws.set_faults(LostRule(operation="fsx:CreateFileSystem", times=1))
    before = len(aws.inventory().get(FILES, []))
    first = make(aws, net, SCRATCH, ClientRequestToken=f"once-{net.vpc}")
    assert len(aws.inventory()[FILES]) == before + 1
    aws.api("fsx").tag_resource(ResourceARN=first["ResourceARN"], Tags=[{"Key": "later", "Value": "yes"}])
    again = make(aws, net, SCRATCH, ClientRequestToken=f"once-{net.vpc}")
    assert again["FileSystemId"] == first["FileSystemId"]
    assert again["Tags"] == [{"Key": "later", "Value": "yes"}]
    with refused("IncompatibleParameterError"):
        make(aws, net, SCRATCH, ClientRequestToken=f"once-{net.vpc}", StorageCapacity=2400)


@pytest.mark.parametrize(
    ("lustre", "more", "code"),
    [
        (SCRATCH, {"StorageCapacity": 1000}, "BadRequest"),
        (SCRATCH, {"StorageCapacity": 3600}, "BadRequest"),
        ({"DeploymentType": "SCRATCH_1"}, {"StorageCapacity": 4800}, "BadRequest"),
        ({**SCRATCH, "PerUnitStorageThroughput": 125}, {}, "BadRequest"),
        ({"DeploymentType": "PERSISTENT_2"}, {}, "InvalidPerUnitStorageThroughput"),
        ({**PERSISTENT, "PerUnitStorageThroughput": 200}, {}, "InvalidPerUnitStorageThroughput"),
        ({**SCRATCH, "AutomaticBackupRetentionDays": 1}, {}, "BadRequest"),
        ({**PERSISTENT, "DailyAutomaticBackupStartTime": "01:00"}, {}, "BadRequest"),
        (PERSISTENT, {"FileSystemTypeVersion": "2.10"}, "BadRequest"),
        (SCRATCH, {"KmsKeyId": "arn:aws:kms:eu-west-1:111122223333:key/a"}, "BadRequest"),
        (PERSISTENT, {"KmsKeyId": "arn:aws:kms:eu-west-1:111122223333:key/a"}, "BadRequest"),
        ({"DeploymentType": "SCRATCH_3"}, {}, "BadRequest"),
        (SCRATCH, {"StorageType": "HDD"}, "NotImplemented"),
        ({**PERSISTENT, "EfaEnabled": True}, {}, "NotImplemented"),
        (SCRATCH, {"SubnetIds": ["subnet-0123456789abcdef0"]}, "InvalidNetworkSettings"),
        (SCRATCH, {"SecurityGroupIds": ["sg-0123456789abcdef0"]}, "InvalidNetworkSettings"),
    ],
)
def test_what_does_not_go_together_is_refused(
    aws: Emulator, net: Network, lustre: dict[str, Any], more: dict[str, Any], code: str
) -> None:
    before = aws.inventory().get(FILES, [])
    with refused(code):
        make(aws, net, lustre, **more)
    assert aws.inventory().get(FILES, []) == before


def test_sizes_and_throughputs_follow_the_deployment_type(aws: Emulator, net: Network) -> None:
    for size in (1200, 2400, 7200):
        make(aws, net, {"DeploymentType": "SCRATCH_1"}, StorageCapacity=size)
        make(aws, net, {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 50}, StorageCapacity=size)
    assert make(aws, net, {})["LustreConfiguration"]["MountName"] == "fsx"


def test_a_file_system_has_one_subnet(aws: Emulator, net: Network) -> None:
    with refused("BadRequest"):
        make(aws, net, SCRATCH, SubnetIds=[net.subnet, net.subnet])


def test_its_servers_must_reach_each_other(aws: Emulator, net: Network) -> None:
    for ports in ((), (2049,)):
        with refused("InvalidNetworkSettings") as caught:
            make(aws, net, SCRATCH, SecurityGroupIds=[group(aws, net, *ports)])
        assert "do not permit Lustre LNET network traffic on port 988" in str(caught.value)
    make(aws, net, SCRATCH, SecurityGroupIds=[group(aws, net, 988)])
    closed = group(aws, net, 988, 1018)
    everywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    aws.api("ec2").revoke_security_group_egress(GroupId=closed, IpPermissions=everywhere)
    with refused("InvalidNetworkSettings"):
        make(aws, net, SCRATCH, SecurityGroupIds=[closed])


def test_its_security_groups_are_in_its_vpc(aws: Emulator, net: Network) -> None:
    vpc = aws.api("ec2").create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    with refused("InvalidNetworkSettings"):
        make(aws, net, SCRATCH, SecurityGroupIds=[group(aws, Network(vpc, "", ""), 988)])


def test_its_network_interfaces_keep_subnet_and_security_group(aws: Emulator, net: Network) -> None:
    ec2, fsx, guard = aws.api("ec2"), aws.api("fsx"), group(aws, net, 988)
    files = make(aws, net, SCRATCH, SecurityGroupIds=[guard])
    interfaces = ec2.describe_network_interfaces(NetworkInterfaceIds=files["NetworkInterfaceIds"])["NetworkInterfaces"]
    assert [each["Groups"][0]["GroupId"] for each in interfaces] == [guard] * 2
    with refused("DependencyViolation"):
        ec2.delete_subnet(SubnetId=net.subnet)
    with refused("DependencyViolation"):
        ec2.delete_security_group(GroupId=guard)
    aws.set_scale(1)
    assert fsx.delete_file_system(FileSystemId=files["FileSystemId"])["Lifecycle"] == "DELETING"
    with refused("DependencyViolation"):
        ec2.delete_security_group(GroupId=guard)
    assert look(aws, files["FileSystemId"])["Lifecycle"] == "DELETING"
    aws.advance(TWENTY_MINUTES)
    with refused("FileSystemNotFound"):
        look(aws, files["FileSystemId"])
    with refused("FileSystemNotFound"):
        fsx.delete_file_system(FileSystemId=files["FileSystemId"])
    ec2.delete_security_group(GroupId=guard)
    ec2.delete_subnet(SubnetId=net.subnet)


def test_growth_is_an_action_that_spreads_the_data_afterwards(aws: Emulator, net: Network) -> None:
    fsx = aws.api("fsx")
    id_ = make(aws, net, SCRATCH)["FileSystemId"]

    def actions() -> dict[str, str]:
        return {each["AdministrativeActionType"]: each["Status"] for each in look(aws, id_)["AdministrativeActions"]}

    aws.set_scale(1)
    for wrong in (1200, 3600):
        with refused("BadRequest"):
            fsx.update_file_system(FileSystemId=id_, StorageCapacity=wrong)
    changed = fsx.update_file_system(FileSystemId=id_, StorageCapacity=4800)["FileSystem"]
    assert (changed["Lifecycle"], changed["StorageCapacity"]) == ("UPDATING", 1200)
    assert changed["AdministrativeActions"][0]["TargetFileSystemValues"]["StorageCapacity"] == 4800
    assert actions() == {"FILE_SYSTEM_UPDATE": "IN_PROGRESS", "STORAGE_OPTIMIZATION": "PENDING"}
    with refused("BadRequest"):
        fsx.update_file_system(FileSystemId=id_, LustreConfiguration={"DataCompressionType": "LZ4"})
    aws.advance(TWENTY_MINUTES)
    found = look(aws, id_)
    assert (found["Lifecycle"], found["StorageCapacity"]) == ("AVAILABLE", 4800)
    assert len(found["NetworkInterfaceIds"]) == 3
    assert actions() == {"FILE_SYSTEM_UPDATE": "UPDATED_OPTIMIZING", "STORAGE_OPTIMIZATION": "IN_PROGRESS"}
    with refused("BadRequest") as caught:
        fsx.update_file_system(FileSystemId=id_, StorageCapacity=7200)
    assert "There is an update already in progress." in str(caught.value)
    aws.advance(A_DAY)
    assert actions() == {"FILE_SYSTEM_UPDATE": "COMPLETED"}
    fsx.update_file_system(FileSystemId=id_, StorageCapacity=7200)


def test_scratch_1_never_grows(aws: Emulator, net: Network) -> None:
    id_ = make(aws, net, {"DeploymentType": "SCRATCH_1"})["FileSystemId"]
    with refused("BadRequest"):
        aws.api("fsx").update_file_system(FileSystemId=id_, StorageCapacity=2400)


def test_the_rest_changes_in_place(aws: Emulator, net: Network) -> None:
    fsx = aws.api("fsx")
    id_ = make(aws, net, PERSISTENT)["FileSystemId"]
    wanted = {"DataCompressionType": "LZ4", "PerUnitStorageThroughput": 250, "AutomaticBackupRetentionDays": 3}
    fsx.update_file_system(FileSystemId=id_, LustreConfiguration=wanted)
    found = look(aws, id_)
    assert wanted.items() <= found["LustreConfiguration"].items()
    assert [each["Status"] for each in found["AdministrativeActions"]] == ["COMPLETED"]
    with refused("InvalidPerUnitStorageThroughput"):
        fsx.update_file_system(FileSystemId=id_, LustreConfiguration={"PerUnitStorageThroughput": 50})
    fsx.update_file_system(FileSystemId=id_, FileSystemTypeVersion="2.15")
    with refused("BadRequest"):
        fsx.update_file_system(FileSystemId=id_, FileSystemTypeVersion="2.12")
    assert look(aws, id_)["FileSystemTypeVersion"] == "2.15"


def test_what_fails_or_never_ends_is_told(aws: Emulator, net: Network) -> None:
    fsx, issue = aws.api("fsx"), Issue(code="capacity", message="There is no capacity in this zone.")
    id_ = make(aws, net, SCRATCH)["FileSystemId"]
    aws.set_faults(
        FailedRule(operation="fsx:CreateFileSystem", times=1, issues=(issue,)),
        FailedRule(operation="fsx:UpdateFileSystem", times=1, issues=(issue,)),
        StuckRule(operation="fsx:CreateFileSystem", first=2),
    )
    lost = look(aws, make(aws, net, SCRATCH)["FileSystemId"])
    assert (lost["Lifecycle"], lost["FailureDetails"]["Message"]) == ("FAILED", issue.message)
    assert look(aws, make(aws, net, SCRATCH)["FileSystemId"])["Lifecycle"] == "CREATING"
    fsx.update_file_system(FileSystemId=id_, StorageCapacity=2400)
    found = look(aws, id_)
    assert (found["Lifecycle"], found["StorageCapacity"]) == ("AVAILABLE", 1200)
    (action,) = found["AdministrativeActions"]
    assert (action["Status"], action["FailureDetails"]["Message"]) == ("FAILED", issue.message)
    fsx.delete_file_system(FileSystemId=lost["FileSystemId"])
    assert not exists(aws, FILES, lost["FileSystemId"])


def test_a_deletion_leaves_a_backup_if_it_is_told_to(aws: Emulator, net: Network) -> None:
    fsx = aws.api("fsx")
    kept, gone = (make(aws, net, PERSISTENT)["FileSystemId"] for _ in range(2))
    tags = [{"Key": "why", "Value": "last"}]
    given = {"SkipFinalBackup": False, "FinalBackupTags": tags}
    answer = fsx.delete_file_system(FileSystemId=kept, LustreConfiguration=given)
    assert "LustreResponse" not in fsx.delete_file_system(
        FileSystemId=gone, LustreConfiguration={"SkipFinalBackup": True}
    )
    backup = answer["LustreResponse"]["FinalBackupId"]
    assert exists(aws, "AWS::FSx::Backup", backup)
    (found,) = fsx.describe_backups(BackupIds=[backup])["Backups"]
    assert (found["FileSystem"]["FileSystemId"], found["Tags"]) == (kept, tags)
    fsx.delete_backup(BackupId=backup)
    with refused("BackupNotFound"):
        fsx.describe_backups(BackupIds=[backup])


def test_a_scratch_file_system_has_no_final_backup(aws: Emulator, net: Network) -> None:
    id_ = make(aws, net, SCRATCH)["FileSystemId"]
    with refused("BadRequest"):
        aws.api("fsx").delete_file_system(FileSystemId=id_, LustreConfiguration={"SkipFinalBackup": True})
    aws.api("fsx").delete_file_system(FileSystemId=id_)


def test_tags_change_and_find_the_file_system(aws: Emulator, net: Network) -> None:
    fsx, tagging = aws.api("fsx"), aws.api("resourcegroupstaggingapi")
    files = make(aws, net, SCRATCH, Tags=[{"Key": "stack", "Value": net.vpc}])
    arn = files["ResourceARN"]
    fsx.tag_resource(ResourceARN=arn, Tags=[{"Key": "more", "Value": "a"}])
    fsx.untag_resource(ResourceARN=arn, TagKeys=["more", "never"])
    assert fsx.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "stack", "Value": net.vpc}]
    wanted = [{"Key": "stack", "Values": [net.vpc]}]

    def found() -> list[str]:
        return [each["ResourceARN"] for each in tagging.get_resources(TagFilters=wanted)["ResourceTagMappingList"]]

    assert found() == [arn]
    fsx.delete_file_system(FileSystemId=files["FileSystemId"])
    assert found() == []
    with refused("ResourceNotFound"):
        fsx.tag_resource(ResourceARN=arn, Tags=[{"Key": "more", "Value": "a"}])


def test_descriptions_come_page_by_page(aws: Emulator, net: Network) -> None:
    made = {make(aws, net, SCRATCH)["FileSystemId"] for _ in range(3)}
    pages = aws.api("fsx").get_paginator("describe_file_systems").paginate(PaginationConfig={"PageSize": 2})
    sizes = [{each["FileSystemId"] for each in page["FileSystems"]} for page in pages]
    assert {len(each) for each in sizes} <= {1, 2}
    assert made <= set().union(*sizes)
