"""What makes a request for a Lustre file system invalid.

Sources: the documentation in botocore's model ``fsx`` (2018-03-01), awsdocs/amazon-fsx-lustre-user-guide (2022),
doc_source/cannot-create-fs.md and doc_source/managing-storage-capacity.md, of which
https://docs.aws.amazon.com/fsx/latest/LustreGuide/ is newer, and internal/service/fsx/lustre_file_system.go of
hashicorp/terraform-provider-aws (copy of 2026). Codes are the model's; which of them AWS chooses, and its words, are
assumed where no source is named.
"""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network
from typing import Any, Final

from emulators.aws.server import store
from emulators.aws.server.errors import AwsError
from emulators.aws.server.fsx.lustre import FileSystem, bad_request, refusal
from emulators.aws.server.references import missing_security_groups, missing_subnets

DEPLOYMENT: Final = "SCRATCH_1"
"""Default of the model."""

SIZES: Final = (1200, 2400)
"""Smallest storage capacities in GiB."""

STEPS: Final[Mapping[str, int]] = {"SCRATCH_1": 3600, "SCRATCH_2": 2400, "PERSISTENT_1": 2400, "PERSISTENT_2": 2400}
"""Larger ones are multiples of these: ``CreateFileSystemRequest.StorageCapacity``."""

THROUGHPUTS: Final[Mapping[str, tuple[int, ...]]] = {
    "PERSISTENT_1": (50, 100, 200),
    "PERSISTENT_2": (125, 250, 500, 1000),
}
"""MB/s for each TiB of SSD storage: ``CreateFileSystemLustreConfiguration.PerUnitStorageThroughput``."""

VERSIONS: Final = ("2.10", "2.12", "2.15")
"""Of Lustre: ``CreateFileSystemRequest.FileSystemTypeVersion``; type PERSISTENT_2 begins with the second."""

PORT: Final = 988
"""Of Lustre's own network protocol, LNET."""

OF_PERSISTENT: Final = ("AutomaticBackupRetentionDays", "CopyTagsToBackups", "DailyAutomaticBackupStartTime")
"""What is of backups, and so of no scratch file system."""

UNMADE: Final = (
    "AutoImportPolicy",
    "DataReadCacheConfiguration",
    "DriveCacheType",
    "EfaEnabled",
    "ExportPath",
    "ImportPath",
    "ImportedFileChunkSize",
    "LogConfiguration",
    "MetadataConfiguration",
    "ThroughputCapacity",
)
"""What FSx has and the emulator does not: other classes of storage, S3 behind it, and what is for high speeds."""


def refuse_unmade(params: Mapping[str, Any]) -> None:
    """Raise ``NotImplementedError`` for what the emulator does not have, instead of losing it."""
    given = [name for name in UNMADE if params.get("LustreConfiguration", {}).get(name)]
    given += [params["FileSystemType"]] if params.get("FileSystemType", "LUSTRE") != "LUSTRE" else []
    given += [params["StorageType"]] if params.get("StorageType", "SSD") != "SSD" else []
    given += [name for name in ("NetworkType",) if name in params]
    if given:
        raise NotImplementedError(f"fsx: {', '.join(given)}")


def check_new(params: Mapping[str, Any]) -> None:
    """Refuse a file system that does not go together, or with what exists."""
    lustre = params.get("LustreConfiguration", {})
    deployment = lustre.get("DeploymentType", DEPLOYMENT)
    _check_capacity(deployment, params.get("StorageCapacity"))
    _check_throughput(deployment, lustre.get("PerUnitStorageThroughput"))
    _check_version(deployment, params.get("FileSystemTypeVersion"))
    _check_backups(deployment, lustre, lustre.get("AutomaticBackupRetentionDays", 0))
    _check_key(deployment, params.get("KmsKeyId"))
    _check_network(params["SubnetIds"], params.get("SecurityGroupIds", []))


def check_change(files: FileSystem, params: Mapping[str, Any]) -> None:
    """Refuse a change that FSx does not make, or not now."""
    lustre = params.get("LustreConfiguration", {})
    deployment = files.lustre["DeploymentType"]
    if "StorageCapacity" in params:
        _check_growth(files, params["StorageCapacity"])
    if files.lifecycle != "AVAILABLE":
        raise bad_request(f"File system '{files.id}' is {files.lifecycle}; it must be AVAILABLE.")
    if "PerUnitStorageThroughput" in lustre:
        _check_throughput(deployment, lustre["PerUnitStorageThroughput"])
    if version := params.get("FileSystemTypeVersion"):
        _check_version(deployment, version)
        if VERSIONS.index(version) <= VERSIONS.index(files.body["FileSystemTypeVersion"]):
            raise bad_request(f"The Lustre version {version} is not newer than that of '{files.id}'.")
        if lustre or "StorageCapacity" in params:
            # The provider's own words: a version "must be performed as an isolated update".
            raise bad_request("The Lustre version cannot be changed together with anything else.")
    days = lustre.get("AutomaticBackupRetentionDays", files.lustre.get("AutomaticBackupRetentionDays", 0))
    _check_backups(deployment, lustre, days)


def _check_growth(files: FileSystem, wanted: int) -> None:
    """Refuse a size that a file system cannot grow to, or not yet."""
    has = files.body["StorageCapacity"]
    if files.lustre["DeploymentType"] == "SCRATCH_1":
        raise bad_request("The storage capacity of file systems of type SCRATCH_1 cannot be changed.")
    if files.lifecycle == "UPDATING" or files.is_optimizing:
        # kubernetes-sigs/aws-fsx-csi-driver, pkg/cloud/cloud.go, has the words.
        told = "Unable to perform the storage capacity update. There is an update already in progress."
        raise bad_request(told)
    if wanted <= has:
        raise bad_request(f"The storage capacity must be more than {has} GiB, given {wanted}.")
    if wanted % STEPS[files.lustre["DeploymentType"]]:
        raise bad_request(f"The storage capacity must be a multiple of 2400 GiB, given {wanted}.")


def _check_capacity(deployment: str, wanted: int | None) -> None:
    step = STEPS[deployment]
    if wanted is None or not (wanted in SIZES or (wanted and wanted % step == 0)):
        allowed = f"{', '.join(map(str, SIZES))} or a multiple of {step}"
        raise bad_request(f"The storage capacity of type {deployment} must be {allowed} GiB, given {wanted}.")


def _check_throughput(deployment: str, wanted: int | None) -> None:
    allowed = THROUGHPUTS.get(deployment)
    if allowed is None and wanted is not None:
        raise bad_request(f"PerUnitStorageThroughput cannot be set for type {deployment}.")
    if allowed and wanted not in allowed:
        told = f"PerUnitStorageThroughput of type {deployment} must be one of {', '.join(map(str, allowed))}"
        raise refusal("InvalidPerUnitStorageThroughput", f"{told}, given {wanted}.")


def default_version(deployment: str) -> str:
    """Return the version of Lustre of a file system that names none and has no metadata configuration."""
    return VERSIONS[1] if deployment == "PERSISTENT_2" else VERSIONS[0]


def _check_version(deployment: str, version: str | None) -> None:
    allowed = VERSIONS[1:] if deployment == "PERSISTENT_2" else VERSIONS
    if version is not None and version not in allowed:
        raise bad_request(f"The Lustre version of type {deployment} must be {', '.join(allowed)}, given {version}.")


def _check_backups(deployment: str, lustre: Mapping[str, Any], days: int) -> None:
    """Refuse backups of scratch file systems, and their hour where there are none.

    ``automatic_backup_retention_days`` and ``daily_automatic_backup_start_time`` in
    website/docs/r/fsx_lustre_file_system.html.markdown of the provider.
    """
    given = [name for name in OF_PERSISTENT if lustre.get(name)]
    if given and deployment.startswith("SCRATCH"):
        raise bad_request(f"{', '.join(given)} cannot be set for type {deployment}: it has no backups.")
    if lustre.get("DailyAutomaticBackupStartTime") and not days:
        raise bad_request("DailyAutomaticBackupStartTime needs AutomaticBackupRetentionDays.")


def _check_key(deployment: str, key: str | None) -> None:
    """Refuse a key for a type that has AWS's, and one that is not there or cannot be used."""
    if key is None:
        return
    if deployment.startswith("SCRATCH"):
        raise bad_request(f"KmsKeyId cannot be set for type {deployment}.")
    kms = store.kms()
    found = kms.keys.get(kms.get_key_id(key))
    if found is None or found.key_state != "Enabled":
        raise bad_request(f"The KMS key {key} does not exist or is not enabled.")


def _check_network(subnets: list[str], groups: list[str]) -> None:
    if len(subnets) != 1:
        raise bad_request(f"A Lustre file system has exactly one subnet, given {len(subnets)}.")
    if missing_subnets(subnets):
        raise _network(f"The subnet '{subnets[0]}' does not exist.")
    if missing := missing_security_groups(groups):
        raise _network(f"The security groups do not exist: {', '.join(missing)}.")
    subnet = store.ec2().get_subnet(subnets[0])
    found = [store.ec2().get_security_group_from_id(each) for each in security_groups(subnets[0], groups)]
    if strange := [each.id for each in found if each.vpc_id != subnet.vpc_id]:
        raise _network(f"The security groups are not in the VPC of the subnet: {', '.join(strange)}.")
    inside = IPv4Network(subnet.cidr_block)
    names = {each.id for each in found}
    for rules in ("ingress_rules", "egress_rules"):
        if not any(_permits(rule, names, inside) for each in found for rule in getattr(each, rules)):
            # The guide has the words, and says that the servers must reach each other; that outbound rules are looked
            # at too is assumed.
            where = "the default security group in the subnet provided or the provided security groups"
            told = f"The file system cannot be created because {where} do not permit Lustre LNET network traffic on"
            raise _network(f"{told} port {PORT}")


def security_groups(subnet: str, given: Iterable[str]) -> list[str]:
    """Return the security groups that are given, or the default one of the subnet's VPC."""
    vpc = store.ec2().get_subnet(subnet).vpc_id
    return [*given] or [store.ec2().get_default_security_group(vpc).id]


def _permits(rule: Any, groups: set[str], subnet: IPv4Network) -> bool:
    """Return whether a rule lets servers of one subnet and these security groups talk to each other."""
    protocol = str(rule.ip_protocol)
    if protocol not in ("-1", "tcp", "6") or (protocol != "-1" and not _covers(rule)):
        return False
    cidr = (rule.ip_range or {}).get("CidrIp")
    return (rule.source_group or {}).get("GroupId") in groups or bool(cidr and subnet.subnet_of(IPv4Network(cidr)))


def _covers(rule: Any) -> bool:
    return int(rule.from_port) <= PORT <= int(rule.to_port)


def _network(message: str) -> AwsError:
    return refusal("InvalidNetworkSettings", message)
