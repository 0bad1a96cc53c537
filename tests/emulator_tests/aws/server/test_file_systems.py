"""Types of EFS: made, read, changed, deleted, as the provider does it."""

import json

from emulators.aws.client import Emulator
from support.aws import Network, exists, refused

TWO_MINUTES = 120


def test_a_file_system_takes_its_time_and_then_mounts(aws: Emulator, net: Network) -> None:
    efs = aws.api("efs")

    def state() -> str:
        return str(efs.describe_file_systems(FileSystemId=files)["FileSystems"][0]["LifeCycleState"])

    aws.set_scale(1)
    made = efs.create_file_system(CreationToken="slow", Encrypted=True)
    files = made["FileSystemId"]
    assert made["LifeCycleState"] == state() == "creating"
    assert ":key/" in made["KmsKeyId"]
    with refused("IncorrectFileSystemLifeCycleState"):
        efs.create_mount_target(FileSystemId=files, SubnetId=net.subnet)
    aws.advance(TWO_MINUTES)
    assert state() == "available"
    target = efs.create_mount_target(FileSystemId=files, SubnetId=net.subnet)
    assert target["LifeCycleState"] == "creating"
    aws.advance(TWO_MINUTES)
    [found] = efs.describe_mount_targets(FileSystemId=files)["MountTargets"]
    assert found["LifeCycleState"] == "available"


def test_a_token_names_one_file_system(aws: Emulator) -> None:
    efs = aws.api("efs")
    efs.create_file_system(CreationToken="twice")
    with refused("FileSystemAlreadyExists"):
        efs.create_file_system(CreationToken="twice")


def test_what_is_mounted_stays(aws: Emulator, net: Network) -> None:
    efs, ec2 = aws.api("efs"), aws.api("ec2")
    files = efs.create_file_system(CreationToken="mounted")["FileSystemId"]
    target = efs.create_mount_target(FileSystemId=files, SubnetId=net.subnet)["MountTargetId"]
    with refused("FileSystemInUse"):
        efs.delete_file_system(FileSystemId=files)
    with refused("DependencyViolation"):
        ec2.delete_subnet(SubnetId=net.subnet)
    efs.delete_mount_target(MountTargetId=target)
    efs.delete_file_system(FileSystemId=files)
    assert files not in aws.inventory().get("aws:efs/fileSystem:FileSystem", [])


def test_what_is_not_there_is_not_used(aws: Emulator) -> None:
    efs = aws.api("efs")
    with refused("FileSystemNotFound"):
        efs.create_access_point(ClientToken="a", FileSystemId="fs-00000000")
    with refused("FileSystemNotFound"):
        efs.describe_backup_policy(FileSystemId="fs-00000000")
    with refused("AccessPointNotFound"):
        efs.delete_access_point(AccessPointId="fsap-00000000")


def test_backups_are_off_until_they_are_turned_on(aws: Emulator) -> None:
    efs = aws.api("efs")
    files = efs.create_file_system(CreationToken="backups")["FileSystemId"]
    for status in ("DISABLED", "ENABLED"):
        assert efs.describe_backup_policy(FileSystemId=files)["BackupPolicy"] == {"Status": status}
        efs.put_backup_policy(FileSystemId=files, BackupPolicy={"Status": "ENABLED"})


def test_throughput_changes_in_place(aws: Emulator) -> None:
    efs = aws.api("efs")
    files = efs.create_file_system(CreationToken="throughput", ThroughputMode="elastic")["FileSystemId"]
    assert efs.update_file_system(FileSystemId=files, ThroughputMode="bursting")["ThroughputMode"] == "bursting"
    [found] = efs.describe_file_systems(FileSystemId=files)["FileSystems"]
    assert found["ThroughputMode"] == "bursting"


def test_tags_of_file_systems_and_access_points_change(aws: Emulator) -> None:
    efs = aws.api("efs")
    team = [{"Key": "team", "Value": "a"}]
    files = efs.create_file_system(CreationToken="tags", Tags=team)["FileSystemId"]
    point = efs.create_access_point(ClientToken="tags", FileSystemId=files, Tags=team)["AccessPointId"]
    for type_, id_ in (("aws:efs/fileSystem:FileSystem", files), ("aws:efs/accessPoint:AccessPoint", point)):
        assert exists(aws, type_, id_)
        efs.tag_resource(ResourceId=id_, Tags=[{"Key": "team", "Value": "b"}, {"Key": "more", "Value": "c"}])
        efs.untag_resource(ResourceId=id_, TagKeys=["more"])
        assert efs.list_tags_for_resource(ResourceId=id_)["Tags"] == [{"Key": "team", "Value": "b"}]
    efs.delete_access_point(AccessPointId=point)
    assert not exists(aws, "aws:efs/accessPoint:AccessPoint", point)


def test_a_file_system_has_no_policy_before_and_after_it_has_one(aws: Emulator) -> None:
    efs = aws.api("efs")
    files = efs.create_file_system(CreationToken="policy")["FileSystemId"]
    with refused("PolicyNotFound"):
        efs.describe_file_system_policy(FileSystemId=files)
    statement = {"Effect": "Allow", "Principal": "*", "Action": "elasticfilesystem:ClientMount", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    efs.put_file_system_policy(FileSystemId=files, Policy=policy)
    assert json.loads(efs.describe_file_system_policy(FileSystemId=files)["Policy"])["Statement"] == [statement]
    assert exists(aws, "aws:efs/fileSystemPolicy:FileSystemPolicy", files)
    efs.delete_file_system_policy(FileSystemId=files)
    with refused("PolicyNotFound"):
        efs.describe_file_system_policy(FileSystemId=files)
