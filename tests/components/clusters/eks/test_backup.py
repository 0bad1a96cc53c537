import json
from functools import cache
from typing import Any

from support.eks import CLUSTER, build, built
from support.recorder import Recorder

VAULT = "aws:backup/vault:Vault"
LOCK = "aws:backup/vaultLockConfiguration:VaultLockConfiguration"
PLAN = "aws:backup/plan:Plan"
SELECTION = "aws:backup/selection:Selection"
ROLE = "aws:iam/role:Role"
ATTACHED = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
NAME = "test-backup"
KEY = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
KEPT_ROLE = (ATTACHED, f"{NAME}-AWSBackupServiceRolePolicyForBackup")


@cache
def backed_up() -> Recorder:
    return build({"cluster.backup": {}})


def rule_of(recorder: Recorder) -> dict[str, Any]:
    [rule] = recorder.of_type(PLAN)[NAME]["rules"]
    return dict(rule)


def test_without_the_key_nothing_of_aws_backup_is_made() -> None:
    assert not [each.type for each in built().resources if each.type.startswith("aws:backup/")]
    assert "backup" not in built().exports["cluster"]


def test_a_plan_backs_up_this_cluster_and_no_other() -> None:
    selection = backed_up().of_type(SELECTION)[NAME]
    assert selection["resources"] == ["arn:aws:eks:eu-west-1:111122223333:cluster/research"]
    # Others, computed by AWS, would make it anew with every refresh.
    assert selection.keys() == {"iamRoleArn", "planId", "resources"}


def test_backups_are_taken_and_kept_as_the_stack_file_says() -> None:
    rule = rule_of(build({"cluster.backup": {"every": "12h", "startHour": 20, "keepDays": 90}}))
    assert (rule["schedule"], rule["lifecycle"]) == ("cron(0 8,20 ? * * *)", {"deleteAfter": 90})
    assert (rule["startWindow"], rule["completionWindow"], rule["targetVaultName"]) == (60, 10080, NAME)
    assert rule["recoveryPointTags"]["igz-clusters.io/stack"] == "test"


def test_the_vault_its_lock_and_the_role_that_lets_backups_expire_outlive_the_stack() -> None:
    made = build({"cluster.backup": {"lock": True}})
    for kept in ((VAULT, NAME), (LOCK, NAME), (ROLE, NAME), KEPT_ROLE):
        assert made.options[kept].retain_on_delete, kept
    for gone in ((PLAN, NAME), (SELECTION, NAME), (ROLE, f"{NAME}-restore")):
        assert not made.options[gone].retain_on_delete, gone
    assert made.of_type(VAULT)[NAME]["tags"] == made.of_type(ROLE)[NAME]["tags"] == {"igz-clusters.io/kept": "backups"}


def test_no_other_role_outlives_the_stack() -> None:
    kept = {key for key, options in backed_up().options.items() if options.retain_on_delete}
    assert {key for key in kept if key[0].startswith("aws:iam/")} == {(ROLE, NAME), KEPT_ROLE}


def test_a_vault_is_locked_only_on_demand_and_for_as_long_as_backups_are_kept() -> None:
    assert not backed_up().of_type(LOCK)
    locked = build({"cluster.backup": {"lock": True, "keepDays": 60}})
    assert locked.of_type(LOCK)[NAME] == {"backupVaultName": NAME, "minRetentionDays": 60}
    # A plan for shorter would be refused: the lock changes first.
    assert (LOCK, NAME) in locked.needs((PLAN, NAME))


def test_the_vault_has_the_key_of_the_stack_file_or_that_of_aws() -> None:
    assert "kmsKeyArn" not in backed_up().of_type(VAULT)[NAME]
    assert build({"cluster.backup": {"keyArn": KEY}}).of_type(VAULT)[NAME]["kmsKeyArn"] == KEY


def test_nothing_deletes_the_backups_with_the_vault() -> None:
    assert "forceDestroy" not in backed_up().of_type(VAULT)[NAME]


def test_one_role_backs_up_and_another_restores_and_only_aws_backup_assumes_them() -> None:
    attached = {
        name: each["policyArn"].rpartition("/")[2]
        for name, each in backed_up().of_type(ATTACHED).items()
        if name.startswith(NAME)
    }
    assert sorted(attached.values()) == [
        "AWSBackupServiceRolePolicyForBackup",
        "AWSBackupServiceRolePolicyForRestores",
    ]
    for role in (NAME, f"{NAME}-restore"):
        [statement] = json.loads(backed_up().of_type(ROLE)[role]["assumeRolePolicy"])["Statement"]
        assert statement["Principal"] == {"Service": "backup.amazonaws.com"}
    assert backed_up().of_type(SELECTION)[NAME]["iamRoleArn"] == f"arn:{ROLE}:{NAME}"


def test_both_roles_have_the_boundary_of_the_stack_file() -> None:
    boundary = "arn:aws:iam::111122223333:policy/boundary"
    made = build({"cluster.backup": {}, "cluster.permissionsBoundaryArn": boundary}).of_type(ROLE)
    assert {made[role]["permissionsBoundary"] for role in (NAME, f"{NAME}-restore")} == {boundary}


def test_the_plan_comes_after_the_cluster_and_goes_before_it() -> None:
    assert (CLUSTER, "test-cluster") in backed_up().needs((SELECTION, NAME))


def test_the_outputs_say_what_a_restore_needs() -> None:
    found = backed_up().exports["cluster"]["backup"]
    assert found["restoreRoleArn"] == f"arn:{ROLE}:{NAME}-restore"
    assert found.keys() == {"vaultName", "roleArn", "restoreRoleArn"}
