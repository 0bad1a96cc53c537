"""Roles that a stack file names and does not make: whoever owns the account made them before."""

import json
from typing import Any, Final

TRUST: Final = {"Version": "2012-10-17", "Statement": []}
"""Nobody may assume them: AWS asks only whether they are there."""


def owners_roles(choices: dict[str, Any]) -> list[str]:
    """Return their names, from what the stack file says."""
    access = choices["cluster"]["access"]
    entries = [entry["roleArn"] for entry in access.get("entries", {}).values()]
    arns = [access["deployerRoleArn"], access["breakGlassRoleArn"], *entries]
    return list(dict.fromkeys(arn.rpartition("/")[2] for arn in arns))


def make_owners_roles(iam: Any, *names: str) -> None:
    """Make roles, through a client of boto3's for IAM."""
    for name in names:
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(TRUST))
