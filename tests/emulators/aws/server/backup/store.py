"""What AWS Backup keeps, in the words of its own API (botocore's model ``backup`` of 2018-11-15)."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from emulators.aws.server import ACCOUNT, REGION, store
from emulators.aws.server.errors import AwsError

SERVICE: Final = "backup.amazonaws.com"

OWN_KEY: Final = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/00000000-0000-4000-8000-0000000000bb"
"""AWS's own key ``aws/backup``, which encrypts a vault that names none."""


def refusal(code: str, message: str, status: int = 400) -> AwsError:
    """Return a refusal; the model gives none of its errors another status."""
    return AwsError(code, status, message)


def not_found(message: str) -> AwsError:
    """Return the refusal of a request about something that is not there."""
    return refusal("ResourceNotFoundException", message)


def invalid(message: str) -> AwsError:
    """Return the refusal of a value that is wrong in itself or does not go with what exists."""
    return refusal("InvalidParameterValueException", message)


def not_possible(message: str) -> AwsError:
    """Return the refusal of something that is not possible in the present state."""
    return refusal("InvalidRequestException", message)


def arn(kind: str, name: str) -> str:
    """Return an ARN: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbackup.html."""
    return f"arn:aws:backup:{REGION}:{ACCOUNT}:{kind}:{name}"


def new_id() -> str:
    """Return the id of a plan, a selection or a job."""
    return str(uuid.uuid4())


@dataclass
class Vault:
    """A vault and its recovery points, by ARN."""

    body: dict[str, Any]
    tags: dict[str, str]
    points: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def described(self) -> dict[str, Any]:
        """What a description says."""
        return {**self.body, "NumberOfRecoveryPoints": len(self.points)}


@dataclass
class Plan:
    """A plan and its selections, by id."""

    id: str
    document: dict[str, Any]
    tags: dict[str, str]
    created: datetime
    version: str = field(default_factory=new_id)
    selections: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Its ARN."""
        return arn("backup-plan", self.id)

    @property
    def named(self) -> dict[str, Any]:
        """What every answer about it says."""
        about = {"BackupPlanId": self.id, "BackupPlanArn": self.arn, "VersionId": self.version}
        return {**about, "CreationDate": self.created}


class Store:
    """All vaults by name, plans and jobs by id."""

    def __init__(self) -> None:
        self.vaults: dict[str, Vault] = {}
        self.plans: dict[str, Plan] = {}
        self.backups: dict[str, dict[str, Any]] = {}
        self.restores: dict[str, dict[str, Any]] = {}
        self._at: datetime | None = None

    @property
    def now(self) -> datetime:
        """The time: that of the machine, or the later one to which a test moved it."""
        real = datetime.now(UTC).replace(microsecond=0)
        return max(real, self._at) if self._at else real

    def move_to(self, at: datetime) -> None:
        """Let it be as late as ``at``."""
        self._at = at.astimezone(UTC)

    def vault(self, name: str) -> Vault:
        """Return a vault or refuse."""
        if name not in self.vaults:
            raise not_found(f"Backup Vault not found: {name}")
        return self.vaults[name]

    def plan(self, identifier: str) -> Plan:
        """Return a plan or refuse."""
        if identifier not in self.plans:
            # hashicorp/terraform-provider-aws, internal/service/backup/selection.go, has the words.
            raise not_found(f"Cannot find Backup plan with ID {identifier}")
        return self.plans[identifier]

    def points(self) -> Iterator[tuple[Vault, dict[str, Any]]]:
        """Return all recovery points, each with its vault."""
        for vault in self.vaults.values():
            yield from ((vault, point) for point in [*vault.points.values()])


def check_role(role: str) -> None:
    """Refuse a role that AWS Backup cannot assume.

    Words: hashicorp/terraform-provider-aws, internal/service/backup/selection.go.
    """
    if not any(each.arn == role and _trusts(each) for each in store.iam().get_roles()):
        raise invalid(f"IAM Role {role} cannot be assumed by AWS Backup")


def is_usable(role: str) -> bool:
    """Return whether AWS Backup can still work with a role: it is there, trusts the service and has policies."""
    return any(each.arn == role and _trusts(each) and each.managed_policies for each in store.iam().get_roles())


def _trusts(role: Any) -> bool:
    statements = json.loads(role.assume_role_policy_document)["Statement"]
    principals = (each.get("Principal", {}).get("Service", []) for each in statements)
    return any(SERVICE in ([each] if isinstance(each, str) else each) for each in principals)
