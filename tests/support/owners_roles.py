"""Roles that a stack file names and does not make: the account's owner made them before."""

import json
from collections.abc import Mapping
from typing import Any, Final

from emulators.aws.server import ACCOUNT

DEPLOYER: Final = "igz-clusters-deployer"
"""Role that runs Pulumi, as all shipped stack files call it."""

TRUST: Final = {"Version": "2012-10-17", "Statement": []}
"""They cannot be assumed: AWS only checks that they exist."""


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


def session(sts: Any, role: str) -> Mapping[str, str]:
    """Assume a role, by its name, through a client of boto3's for STS, and return the variables of the session."""
    arn = f"arn:aws:iam::{ACCOUNT}:role/{role}"
    made = sts.assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
    return {
        "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
        "AWS_SESSION_TOKEN": made["SessionToken"],
    }
