"""A cloud stack whose run was killed, with the real engine and a emulator; what is in the cluster is pretended."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from components.contract.aws import control_plane_logs
from emulators.core.faults import KillRule, Moment, SlowRule
from support import azure_emulator
from support.aws_emulator import Account, identities
from support.azure_emulator import Subscription
from support.cluster import eventually
from support.lives import hollow, killed
from workbench.toolchain import ensure

pytestmark = pytest.mark.engine

STACK = "dev"
UP = ("up", STACK, "--hermetic", "--yes")
RECOVER = ("recover", STACK, "--hermetic", "--yes")
PATIENCE = 600.0


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Account]:
    with hollow(Account, tmp_path, STACK) as made:  # the guard would plan first, with plug-ins and calls of its own
        yield made


@pytest.fixture
def azure(azure: Subscription) -> Subscription:
    """A small stack that is whole."""
    azure.plain("aks-dev", "up", "--yes", "--skip-preview")
    return azure


def printed_by(process: subprocess.Popen[str]) -> str:
    """Return what a process that ends by itself printed."""
    text, _ = process.communicate(timeout=PATIENCE)
    return text


def refused(cloud: Account) -> str:
    """Return why `up` does nothing."""
    found = cloud.run(*UP, check=False)
    assert found.returncode == 1, found.stdout
    return found.stderr


def assert_settled(cloud: Account) -> None:
    """One `up` more must lead to a preview without changes, and AWS must hold what the state says."""
    cloud.run(*UP)
    cloud.plain(STACK, "preview", "--expect-no-changes")
    assert "is in order" in cloud.run(*RECOVER).stdout
    in_state, in_aws = identities(cloud, STACK)
    assert in_state == in_aws


# `make test-all` tries the runbook of a killed run (test_operations_page.py), and kills runs at other calls
# (test_cloud_kills.py); here are more calls.
@pytest.mark.kills
@pytest.mark.parametrize(
    ("operation", "nth"), [("eks:CreateNodegroup", 2), ("ec2:CreateVpc", 1), ("ec2:CreateRoute", 2)]
)
def test_what_a_killed_run_was_making_is_there_once(cloud: Account, operation: str, nth: int) -> None:
    process = cloud.start(*UP)
    rule = KillRule(operation=operation, first=nth, times=1, pids=(process.pid,), moment=Moment.AFTER)
    cloud.aws.set_faults(rule)
    said = printed_by(process)
    assert process.returncode == -signal.SIGKILL, said
    cloud.aws.set_faults()
    assert f"`igz-clusters recover {STACK}`" in refused(cloud)
    recovered = cloud.run(*RECOVER).stdout
    assert "is stale: that process has ended" in recovered
    assert "That run was killed or is still active" in recovered
    assert_settled(cloud)


@pytest.mark.full
def test_what_a_dead_plug_in_made_is_entered_and_not_made_again(cloud: Account) -> None:
    process = cloud.start(*UP)
    while not (plug_ins := _plug_ins(process.pid)):
        assert process.poll() is None
    cloud.aws.set_faults(KillRule(operation="eks:CreateCluster", times=1, pids=tuple(plug_ins), moment=Moment.AFTER))
    said = printed_by(process)
    assert process.returncode > 0, said
    cloud.aws.set_faults()
    recovered = cloud.run(*RECOVER).stdout
    assert "missing from the state" in recovered
    assert "Cluster dev-cluster" in recovered
    assert_settled(cloud)


@pytest.mark.kills  # a replacement is entered as what is new is, in the test above
def test_a_replacement_that_a_dead_plug_in_made_is_entered(cloud: Account) -> None:
    cloud.plain(STACK, "up", "--yes", "--skip-preview")
    cloud.edit(STACK, pools__workload__instanceTypes=["m6i.4xlarge"])
    command = [ensure(["pulumi"]).pulumi, "up", "--yes", "--skip-preview", "--non-interactive"]
    process = subprocess.Popen(command, env=cloud.environment(STACK), stdout=subprocess.PIPE, text=True)
    while not (plug_ins := _plug_ins(process.pid)):
        assert process.poll() is None
    cloud.aws.set_faults(KillRule(operation="eks:CreateNodegroup", times=1, pids=tuple(plug_ins), moment=Moment.AFTER))
    said = printed_by(process)
    assert process.returncode > 0, said
    cloud.aws.set_faults()
    recovered = cloud.run(*RECOVER).stdout
    assert "missing from the state" in recovered
    assert "NodeGroup dev-workload: AWS has " in recovered
    assert_settled(cloud)


@pytest.mark.full
def test_the_key_that_plain_pulumi_scheduled_for_deletion_is_entered_again(cloud: Account) -> None:
    kms = cloud.aws.api("kms")
    cloud.plain(STACK, "up", "--yes", "--skip-preview")
    (encryption,) = cloud.aws.api("eks").describe_cluster(name="mlrun-dev")["cluster"]["encryptionConfig"]
    key = encryption["provider"]["keyArn"]
    cloud.edit(STACK, cluster__secretsKeyArn=kms.create_key()["KeyMetadata"]["Arn"])
    cloud.plain(STACK, "up", "--yes", "--skip-preview")  # without the gate
    assert kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "PendingDeletion"
    kms.cancel_key_deletion(KeyId=key.rpartition("/")[2])
    kms.enable_key(KeyId=key.rpartition("/")[2])
    cloud.edit(STACK, cluster__secretsKeyArn=None)
    assert f"but the cluster has {key}" in cloud.run("preview", STACK, "--hermetic", check=False).stderr
    assert "Key dev-cluster-secrets: AWS has" in cloud.run(*RECOVER).stdout
    cloud.plain(STACK, "up", "--yes", "--skip-preview")
    cloud.plain(STACK, "preview", "--expect-no-changes")
    assert kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "Enabled"


@pytest.mark.kills  # the search that finds it has unit tests
def test_the_log_group_that_eks_made_again_after_a_destroy_is_entered(cloud: Account) -> None:
    group = {"logGroupName": control_plane_logs("mlrun-dev")}
    cloud.aws.api("logs").create_log_group(**group)  # by the last logs of the cluster that was there before
    assert f"`igz-clusters recover {STACK}` adds it to the state" in refused(cloud)
    assert f"LogGroup {STACK}-cluster-logs: AWS has {group['logGroupName']}" in cloud.run(*RECOVER).stdout
    assert_settled(cloud)


@pytest.mark.full
def test_on_azure_the_first_preview_after_recover_finds_what_was_entered_as_it_is(azure: Subscription) -> None:
    stack = "aks-dev"
    pool = {"role": "workload", "size": {"min": 0, "max": 2}, "instanceTypes": ["Standard_D4s_v5"]}
    azure.edit(stack, pools__second=pool)
    killed(azure, stack, "*/agentPools/write")
    assert f"AgentPool {stack}-pools-second: Azure has" in azure.run("recover", stack, "--hermetic", "--yes").stdout
    shown = azure.plain(stack, "preview").stdout
    # The parameters of the cluster's own rules, which the killed run had not come to, and nothing in Azure.
    assert "PolicyParameters igz-clusters update [diff: ~spec]" in shown
    assert re.search(r"Resources:\n +~ 1 to update\n +\d+ unchanged\n", shown), shown
    in_state, in_azure = azure_emulator.identities(azure, stack)
    assert in_state == in_azure


@pytest.mark.full
def test_the_engine_of_a_killed_command_is_named_and_gets_time_to_save(cloud: Account) -> None:
    cloud.aws.set_faults(SlowRule(operation="eks:CreateCluster", times=1, seconds=1800))
    process = cloud.start(*UP)
    eventually(lambda: any(call.operation == "eks:CreateCluster" for call in cloud.aws.calls()))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    said = refused(cloud)
    assert f"`igz-clusters up` (process {process.pid}, since " in said
    assert "was killed, but its processes still change the stack 'dev': " in said
    assert " pulumi" in said
    recovering = cloud.start(*RECOVER, PYTHONUNBUFFERED="1")
    assert recovering.stdout
    while "was killed, but its processes are still running: " not in recovering.stdout.readline():
        assert recovering.poll() is None
    cloud.aws.set_faults()  # now AWS answers the engine, for which `recover` waits
    said = printed_by(recovering)
    assert recovering.returncode == 0, said
    assert printed_by(process)  # ends only when all processes that print have ended
    assert not cloud.state(STACK).get("pending_operations")
    assert cloud.aws.inventory()["aws:eks/cluster:Cluster"] == ["mlrun-dev"]
    assert_settled(cloud)


def _plug_ins(run: int) -> list[int]:
    found = list[int]()
    for child in psutil.Process(run).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # the engine starts some that end at once
            if "emulators.aws" in child.cmdline():
                found.append(child.pid)
    return found
