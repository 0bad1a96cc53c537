"""Changes of a living EKS stack on the AWS emulator: versions in their order, and sizes that the autoscaler moved."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from emulators.core.client import Call
from support.aws_emulator import Account, writes
from support.minors import CHOSEN, NEWEST, OLDER

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

LIVE = 7
"""Nodes that the autoscaler has started; the state says fewer."""

CHANGES: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "maximum": (LIVE - 3, {"pools__workload__size": {"min": 2, "max": 12}}),
    "minimum": (LIVE - 2, {"pools__workload__size": {"min": 3, "max": 12}}),
    "labels": (LIVE - 1, {"pools__workload__labels": {"example.com/team": "ml"}}),
    # Without `upgrade`, how many nodes an update may take at once follows from whether the pool is elastic.
    "update config": (LIVE, {"pools__workload__size": {"min": LIVE, "max": LIVE}}),
    "all but update config": (
        LIVE + 1,
        {"pools__workload__size": {"min": 4, "max": 11}, "pools__workload__labels": {"example.com/team": "dev"}},
    ),
}
"""Live sizes, each above the one before, and choices of the stack file, by what of the group they change."""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """A stack of dev, without its zonal pools, on the version before."""
    with Account.opened(tmp_path_factory.mktemp("changes"), "dev", is_quick=True) as made:
        made.edit(
            "dev",
            policyGuard="off",  # it would plan first
            cluster__version=OLDER,
            cluster__addonVersions={"kube-proxy": f"v{OLDER}.0-eksbuild.2"},
            pools__workload__size={"min": 2, "max": 10},
            pools__jupyter=None,
            pools__gpu=None,
        )
        made.plain("dev", "up", "--yes", "--skip-preview")
        yield made


def igz(made: Account) -> None:
    made.run("up", "dev", "--hermetic", "--yes")


def plain(made: Account) -> None:
    made.plain("dev", "up", "--yes", "--skip-preview")


def refusal(made: Account) -> str:
    """Run an `up` that must be refused before it asks AWS to change anything, and return why."""
    last = made.last
    run = made.run("up", "dev", "--hermetic", "--yes", check=False)
    assert run.returncode == 1, run.stdout
    assert [call.operation for call in writes(made.aws.calls(last))] == []
    return run.stderr


def numbers(calls: Sequence[Call], operation: str) -> list[int]:
    return [call.number for call in calls if call.operation == operation]


def test_two_minors_at_once_are_refused_with_the_one_that_is_next(old: Account) -> None:
    old.edit("dev", cluster__version=NEWEST)
    said = refusal(old)
    assert f"cluster.version: {NEWEST}, but the cluster mlrun-dev runs {OLDER}; EKS accepts {OLDER} or {CHOSEN}" in said
    assert f"Set it to {CHOSEN} and run `up`, then continue one minor version at a time." in said
    old.edit("dev", cluster__version=OLDER)


def test_an_upgrade_moves_the_control_plane_then_the_addons_then_the_nodes(old: Account) -> None:
    groups = old.aws.inventory()["aws:eks/nodeGroup:NodeGroup"]
    old.edit("dev", cluster__version=CHOSEN, cluster__addonVersions={"kube-proxy": f"v{CHOSEN}.0-eksbuild.2"})
    last = old.last
    igz(old)
    calls = writes(old.aws.calls(last))
    assert not [call for call in calls if call.operation.startswith(("eks:Create", "eks:Delete", "ec2:Delete"))]
    (cluster,) = numbers(calls, "eks:UpdateClusterVersion")
    (addon,) = numbers(calls, "eks:UpdateAddon")
    nodes = numbers(calls, "eks:UpdateNodegroupVersion")
    assert cluster < addon < min(nodes)
    assert len(nodes) == len(groups)
    assert old.aws.inventory()["aws:eks/nodeGroup:NodeGroup"] == groups
    assert {old.group(f"dev-{pool}")["version"] for pool in ("initial", "workload", "spot")} == {CHOSEN}


def test_a_step_back_moves_the_nodes_then_the_addons_then_the_control_plane(old: Account) -> None:
    old.edit("dev", cluster__version=OLDER)
    assert "kube-proxy may be at most as new as the control plane" in refusal(old)
    old.edit("dev", cluster__addonVersions={"kube-proxy": f"v{OLDER}.0-eksbuild.2"})
    last = old.last
    igz(old)
    calls = writes(old.aws.calls(last))
    (cluster,) = numbers(calls, "eks:UpdateClusterVersion")
    (addon,) = numbers(calls, "eks:UpdateAddon")
    assert max(numbers(calls, "eks:UpdateNodegroupVersion")) < addon < cluster
    assert {old.group(f"dev-{pool}")["version"] for pool in ("initial", "workload", "spot")} == {OLDER}
    old.edit("dev", cluster__version=CHOSEN, cluster__addonVersions={"kube-proxy": f"v{CHOSEN}.0-eksbuild.2"})
    igz(old)


@pytest.mark.parametrize(
    ("up", "change"),
    [
        *[pytest.param(plain, change, id=f"{change}, plain pulumi") for change in list(CHANGES)[:-1]],
        pytest.param(igz, "all but update config", id="all but update config"),
        *[pytest.param(igz, change, id=change, marks=pytest.mark.kills) for change in list(CHANGES)[:-1]],
    ],
)
def test_a_change_sends_no_size_below_the_one_that_the_autoscaler_chose(
    old: Account, up: Callable[[Account], None], change: str
) -> None:
    live, choices = CHANGES[change]
    bounds = old.group("dev-workload")["scalingConfig"]
    if bounds["minSize"] == bounds["maxSize"]:  # the change before left nothing to the autoscaler
        old.edit("dev", pools__workload__size={"min": 2, "max": 10})
        plain(old)
    assert old.group("dev-workload")["scalingConfig"]["desiredSize"] != live
    old.move("dev-workload", live)
    old.edit("dev", **choices)
    last = old.last
    up(old)
    changes = [call for call in old.aws.calls(last) if call.operation == "eks:UpdateNodegroupConfig"]
    assert changes
    sizes = [call.params["scalingConfig"] for call in changes if "scalingConfig" in call.params]
    assert [size for size in sizes if size.get("desiredSize", live) < live] == []
    assert old.group("dev-workload")["scalingConfig"]["desiredSize"] == live


@pytest.mark.proofs  # the runbook of test_operations_page.py meets the refusal and takes the step
def test_a_minimum_above_the_live_size_is_refused_and_the_named_step_leads_on(old: Account) -> None:
    old.edit("dev", pools__workload__size={"min": 2, "max": 10}, pools__workload__labels=None)
    plain(old)
    old.move("dev-workload", LIVE)
    old.edit("dev", pools__workload__size={"min": 9, "max": 12})
    said = refusal(old)
    name = old.group("dev-workload")["nodegroupName"]
    assert f"pools.workload.size: the node group {name} has 7 nodes, and min would be 9" in said
    step = f"--nodegroup-name {name} --scaling-config minSize=2,maxSize=10,desiredSize=9"
    assert f"`aws eks update-nodegroup-config --cluster-name mlrun-dev {step}`, then run `up` again." in said
    sizes = {"minSize": 2, "maxSize": 10, "desiredSize": 9}
    old.aws.api("eks").update_nodegroup_config(clusterName="mlrun-dev", nodegroupName=name, scalingConfig=sizes)
    igz(old)
    assert old.group("dev-workload")["scalingConfig"] == {"minSize": 9, "maxSize": 12, "desiredSize": 9}


def test_a_maximum_below_the_live_size_is_refused(old: Account) -> None:
    old.edit("dev", pools__workload__size={"min": 2, "max": 5})
    said = refusal(old)
    assert "nodes, and max would be 5; at least" in said
    assert "the autoscaler removes empty ones" in said


@pytest.mark.parametrize("command", ["up", "preview"])
def test_another_key_is_refused_and_the_key_that_eks_keeps_stays(old: Account, command: str) -> None:
    kms = old.aws.api("kms")
    (encryption,) = old.aws.api("eks").describe_cluster(name="mlrun-dev")["cluster"]["encryptionConfig"]
    given = kms.create_key()["KeyMetadata"]["Arn"]
    old.edit("dev", cluster__secretsKeyArn=given)
    last = old.last
    run = old.run(command, "dev", "--hermetic", *(["--yes"] if command == "up" else []), check=False)
    assert run.returncode == 1, run.stdout
    assert f"- cluster.secretsKeyArn: {given}, but the cluster has the stack's own key; EKS sets it" in run.stderr
    assert "unprotect`" not in run.stderr + run.stdout
    assert [call.operation for call in writes(old.aws.calls(last))] == []
    assert kms.describe_key(KeyId=encryption["provider"]["keyArn"])["KeyMetadata"]["KeyState"] == "Enabled"
    old.edit("dev", cluster__secretsKeyArn=None)
