"""What goes wrong in AWS while a stack changes: the next `up` repairs it, or the text names cause and next step."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from emulators.core.client import not_yet_there
from emulators.core.faults import (
    ErrorRule,
    FailedRule,
    Issue,
    LostRule,
    NotYetVisibleRule,
    StuckRule,
)
from support.aws_emulator import Account, identities
from support.cloud_faults import Case, disturbed, together
from support.lives import SMALL

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

UP = ("up", "dev", "--hermetic", "--yes")
POOL: Mapping[str, Any] = {"role": "workload", "size": {"min": 0, "max": 2}, "instanceTypes": ["m6i.xlarge"]}
SPOT: Mapping[str, Any] = {**POOL, "lifecycle": "spot", "instanceTypes": ["m6i.xlarge", "m5.xlarge", "m5a.xlarge"]}
DENIED = ErrorRule(operation="eks:CreateNodegroup", code="AccessDeniedException", status=403, message="no rights")
EXPIRED = ErrorRule(code="ExpiredTokenException", status=403, message="The security token has expired")
NO_SPOT = Issue(
    code="AsgInstanceLaunchFailures", message="Could not launch Spot Instances. InsufficientInstanceCapacity"
)
BROKEN = Issue(code="NodeCreationFailure", message="Instances failed to join the kubernetes cluster")


PASSING = {
    # First, since it is about the role that only the first elastic pool makes.
    "role not yet visible": Case(POOL, (NotYetVisibleRule(operation="eks:*", calls=3),)),
    "throttling of every third call": Case(
        POOL, (ErrorRule(share=0.3, seed=7, code="ThrottlingException", status=429, message="Rate exceeded"),)
    ),
    "failures of AWS's own": Case(POOL, (ErrorRule(share=0.2, seed=7, code="InternalFailure", status=500),)),
    "answer lost": Case(POOL, (LostRule(operation="eks:CreateNodegroup", times=1),)),
    "not found right after it was made": Case(
        POOL, (not_yet_there("eks:DescribeNodegroup", "ResourceNotFoundException", 2, about="*dev-{pool}-*"),)
    ),
}
"""Faults that the user does not notice."""

FAILING = {
    "CREATE_FAILED": Case(
        POOL,
        (FailedRule(operation="eks:CreateNodegroup", about="*dev-{pool}-*", issues=(BROKEN,)),),
        ("NodeCreationFailure: Instances failed to join", "node group dev-{pool}-", "the next `up` recreates it"),
    ),
    "no spot capacity for one of four": Case(
        SPOT,
        (FailedRule(operation="eks:CreateNodegroup", about="*dev-{pool}-*", issues=(NO_SPOT,)),),
        ("AsgInstanceLaunchFailures: Could not launch Spot", "node group dev-{pool}-", "the next `up` recreates it"),
    ),
    "stuck": Case(
        POOL,
        (StuckRule(operation="eks:CreateNodegroup", about="*dev-{pool}-*"),),
        ("timeout while waiting for state to become 'ACTIVE' (last state: 'CREATING'", "node group dev-{pool}-"),
    ),
    "access denied": Case(
        POOL,
        (DENIED,),
        ("creating EKS Node Group (mlrun-dev:dev-{pool}-", "AccessDeniedException: no rights", "Fix the cause"),
    ),
    "credentials expired while things were compared": Case(
        POOL, (EXPIRED.model_copy(update={"first": 150}),), ("The session at AWS expired.", "igz-clusters recover dev")
    ),
    "credentials expired while things were made": Case(
        POOL,
        (EXPIRED.model_copy(update={"operation": "eks:CreateNodegroup"}),),
        ("The session at AWS expired.", "igz-clusters recover dev"),
    ),
}
"""What ends an `up`, and what it says."""

LONG = {
    *PASSING,
    "CREATE_FAILED",
    "stuck",
    "access denied",
    "credentials expired while things were compared",
    "credentials expired while things were made",
}
"""What others show in part: of failed add-ons and of credentials, the runbooks of test_operations_page.py."""

CASES = {**PASSING, "all that passes by itself": together(*PASSING.values()), **FAILING}


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """The smallest stack; each test adds a pool, and leaves it to those that follow."""
    with Account.opened(tmp_path_factory.mktemp("faults"), "dev", is_quick=True) as made:
        made.edit("dev", policyGuard="off", pools__workload=None, **SMALL)
        made.plain("dev", "up", "--yes", "--skip-preview")
        yield made


@pytest.fixture(autouse=True)
def no_faults_left(dev: Account) -> Iterator[None]:
    yield
    dev.aws.set_faults()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.kills] if name in LONG else []) for name in CASES]
)
def test_what_goes_wrong_is_mended_by_the_next_up_or_told(dev: Account, name: str) -> None:
    case, pool = CASES[name], f"p{list(CASES).index(name)}"
    healthy = [f"{pool}{letter}" for letter in "abc"] if "of four" in name else []
    dev.edit("dev", **{f"pools__{each}": dict(POOL) for each in healthy}, **{f"pools__{pool}": dict(case.pool)})
    faults = case.faults(pool)
    code, text = disturbed(dev, UP, faults, begun=len(healthy) + 1, creates="eks:CreateNodegroup")
    assert "Traceback" not in text
    assert code == (1 if case.said else 0), text[-6000:]
    assert case.unsaid(pool, text) == [], text[-6000:]
    for each in healthy:
        assert dev.group(f"dev-{each}-")["status"] == "ACTIVE"
    if case.said:
        if name == "stuck":
            name = dev.group(f"dev-{pool}-")["nodegroupName"]
            dev.aws.api("eks").delete_nodegroup(clusterName="mlrun-dev", nodegroupName=name)
        if "igz-clusters recover dev" in text:
            dev.run("recover", "dev", "--yes", "--hermetic")
        dev.run(*UP)
    assert dev.group(f"dev-{pool}-")["status"] == "ACTIVE"
    in_state, in_aws = identities(dev, "dev")
    assert in_state == in_aws


def test_network_interfaces_that_were_left_delay_a_destroy_and_do_not_end_it(dev: Account) -> None:
    ec2 = dev.aws.api("ec2")
    left = dev.aws.leave_network_interface(dev.aws.inventory()["aws:ec2/subnet:Subnet"][0])
    run = dev.start("destroy", "dev", "--hermetic", "--yes")
    assert run.stdout
    printed = []
    for line in run.stdout:
        printed.append(line)
        if "AWS reports resources as still in use. Retrying in" in line:
            ec2.delete_network_interface(NetworkInterfaceId=left)
    assert run.wait(timeout=600) == 0, "".join(printed)[-6000:]
    assert [line for line in printed if "Retrying in" in line]
    assert identities(dev, "dev") == (set(), set())
