"""Backups of the cluster by AWS Backup: a vault, a plan, and roles for backups and for restores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_aws.backup import Plan, PlanRuleArgs, PlanRuleLifecycleArgs, Selection, Vault, VaultLockConfiguration

from components.base import PlatformComponent
from components.clusters.eks.identity import RoleArgs, ServiceRole
from components.contract.aws import BACKUP_NAME_MAX, OwnTag
from components.contract.eks.backup import COMPLETION_WINDOW, SERVICE, START_WINDOW, EksBackup, schedule
from components.contract.names import automatic

BACKUP_POLICIES: Final = ("service-role/AWSBackupServiceRolePolicyForBackup",)
"""What AWS Backup needs for an EKS cluster with volumes of EBS and EFS.

https://docs.aws.amazon.com/aws-backup/latest/devguide/eks-backups.html
"""

RESTORE_POLICIES: Final = ("service-role/AWSBackupServiceRolePolicyForRestores",)
"""https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSBackupServiceRolePolicyForRestores.html."""

RULE: Final = "cluster"

KEPT: Final = {OwnTag.KEPT.value: "backups"}
"""Tag of resources that outlive the stack."""


@dataclass(frozen=True, kw_only=True)
class ClusterBackupArgs:
    """Inputs of the backups of a cluster."""

    choices: EksBackup
    cluster_arn: str
    permissions_boundary: str | None
    tags: Mapping[str, str]
    """Tags of the backups, which the provider's default tags do not reach."""


class ClusterBackup(PlatformComponent):
    """A plan that backs up one cluster, which it names by ARN: resources named by ARN need no opt-in of the account.

    The vault stays when the stack is destroyed, because its backups may be all that is left. So does the role that made
    them: AWS Backup needs it to delete expired backups
    (https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DeleteRecoveryPoint.html).
    """

    facts: Mapping[str, pulumi.Input[str]]
    """What a restore needs: the vault's name and the ARN of the role."""

    def __init__(self, name: str, args: ClusterBackupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksBackup", name, None, opts)
        self._name, self._args = automatic(name, BACKUP_NAME_MAX), args
        vault = Vault(
            self._name,
            kms_key_arn=args.choices.key_arn,
            tags=KEPT,
            opts=self.child(retain_on_delete=True),
        )
        locked = self._lock(vault) if args.choices.lock else []
        role = self._role(name, BACKUP_POLICIES, is_kept=True)
        plan = self._plan(vault, locked)
        Selection(
            self._name,
            plan_id=plan.id,
            iam_role_arn=role.arn,
            resources=[args.cluster_arn],
            opts=self.child(depends_on=[role]),
        )
        restorer = self._role(f"{name}-restore", RESTORE_POLICIES, is_kept=False)
        self.facts = {"vaultName": vault.name, "roleArn": role.arn, "restoreRoleArn": restorer.arn}
        self.register_outputs({"vaultName": vault.name})

    def _lock(self, vault: Vault) -> list[pulumi.Resource]:
        # A new retention overwrites the lock in place; deleting the old resource afterwards would delete the lock.
        return [
            VaultLockConfiguration(
                self._name,
                backup_vault_name=vault.name,
                min_retention_days=self._args.choices.keep_days,
                opts=self.child(retain_on_delete=True),
            )
        ]

    def _role(self, name: str, policies: tuple[str, ...], *, is_kept: bool) -> ServiceRole:
        return ServiceRole(
            name,
            RoleArgs(
                service=SERVICE,
                managed_policies=policies,
                permissions_boundary=self._args.permissions_boundary,
                tags=KEPT if is_kept else {},
                is_kept=is_kept,
            ),
            self.child(),
        )

    def _plan(self, vault: Vault, locked: list[pulumi.Resource]) -> Plan:
        choices = self._args.choices
        return Plan(
            self._name,
            rules=[
                PlanRuleArgs(
                    rule_name=RULE,
                    target_vault_name=vault.name,
                    schedule=schedule(choices),
                    start_window=START_WINDOW,
                    completion_window=COMPLETION_WINDOW,
                    lifecycle=PlanRuleLifecycleArgs(delete_after=choices.keep_days),
                    recovery_point_tags=dict(self._args.tags),
                )
            ],
            # A locked vault rejects backups with a shorter retention than its lock requires.
            opts=self.child(depends_on=locked),
        )
