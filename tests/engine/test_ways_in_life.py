"""Ways in on the AWS emulator: rights and names that are made, changed, killed on the way, and gone with their key."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emulators.core.faults import KillRule, Moment
from support import aws_emulator
from support.aws import refused
from support.aws_emulator import Account
from support.eks_account import pod_token

pytestmark = [pytest.mark.engine, pytest.mark.full]

SMALL = {"policyGuard": "off", **{f"pools__{pool}": None for pool in ("jupyter", "gpu", "spot")}}
CLUSTER = "mlrun-dev"
INGRESS = {"domain": "ml.example.com", "clientCidrs": ["10.0.0.0/8"]}
NAMED = {**INGRESS, "hostedZoneId": "Z0123456789ABC"}
CONTROLLER, DNS = "kube-system:aws-load-balancer-controller", "external-dns:external-dns"


@pytest.fixture
def aws(tmp_path: Path) -> Iterator[Account]:
    with Account.hollow(tmp_path, "dev", is_quick=True) as made:
        made.edit("dev", **SMALL)
        yield made


def bring_up(aws: Account, ingress: dict[str, Any] | None) -> list[str]:
    """Give the stack ways in, or none, and return the operations that change something."""
    aws.edit("dev", cluster__ingress=ingress)
    last = aws.last
    aws.plain("dev", "up", "--yes", "--skip-preview")
    return sorted(each.operation for each in aws_emulator.writes(aws.emulator.calls(last)))


def test_ways_in_live(aws: Account) -> None:
    bring_up(aws, NAMED)
    auth, eks = aws.aws.api("eks-auth"), aws.aws.api("eks")

    def role(account: str) -> str:
        token = pod_token(f"system:serviceaccount:{account}")
        arn: str = auth.assume_role_for_pod_identity(clusterName=CLUSTER, token=token)["assumedRoleUser"]["arn"]
        return arn

    assert "dev-load-balancers" in role(CONTROLLER)
    assert "dev-dns-addons-external-dns" in role(DNS)
    for other in ("kube-system:external-dns", "external-dns:default"):
        with refused("ResourceNotFoundException"):
            role(other)
    assert eks.describe_addon(clusterName=CLUSTER, addonName="external-dns")["addon"]["status"] == "ACTIVE"

    # The certificate and the ranges are values of the controller's chart, and nothing in AWS.
    assert bring_up(aws, {**NAMED, "clientCidrs": ["10.1.0.0/16"]}) == []
    assert bring_up(aws, {**NAMED, "domain": "data.example.com"}) == ["eks:UpdateAddon", "iam:PutRolePolicy"]
    assert bring_up(aws, INGRESS) == ["eks:DeleteAddon", "iam:DeleteRole", "iam:DeleteRolePolicy"]

    aws.edit("dev", cluster__ingress=NAMED)
    process = aws.start("up", "dev", "--hermetic", "--yes")
    aws.emulator.set_faults(KillRule(operation="eks:CreateAddon", times=1, pids=(process.pid,), moment=Moment.AFTER))
    printed, _ = process.communicate(timeout=900)
    aws.emulator.set_faults()
    assert process.returncode == -signal.SIGKILL, printed[-4000:]
    aws.run("recover", "dev", "--hermetic", "--yes")
    aws.run("up", "dev", "--hermetic", "--yes")
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws

    assert bring_up(aws, None) == [
        "eks:DeleteAddon",
        "eks:DeletePodIdentityAssociation",
        *["iam:DeleteRole"] * 2,
        *["iam:DeleteRolePolicy"] * 2,
    ]
    with refused("ResourceNotFoundException"):
        role(CONTROLLER)
