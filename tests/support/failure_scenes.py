"""Failures of docs/operations.md as they happen, each until its runbook is done."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import psutil

from emulators.core.faults import (
    ErrorRule,
    FailedRule,
    Issue,
    KillRule,
    Moment,
    SlowRule,
)
from support.aws_emulator import Account
from support.cloud_account import CONTROL_PLANE
from support.cloud_faults import HELD, calls_begun

POOL: Final[Mapping[str, Any]] = {"role": "workload", "size": {"min": 0, "max": 2}, "instanceTypes": ["m6i.xlarge"]}
SPOT: Final[Mapping[str, Any]] = {
    **POOL,
    "lifecycle": "spot",
    "instanceTypes": ["m6i.xlarge", "m5.xlarge", "m5a.xlarge"],
}
DATA: Final[Mapping[str, Any]] = {
    "role": "data",
    "size": {"min": 3, "max": 3},
    "instanceTypes": ["i4i.2xlarge"],
}
CREATE: Final = "eks:CreateNodegroup"
UP: Final = ("up", "dev", "--hermetic", "--yes")
LIVE: Final = 7

BROKEN = Issue(code="NodeCreationFailure", message="Instances failed to join the kubernetes cluster")
NO_SPOT = Issue(
    code="AsgInstanceLaunchFailures",
    message="Could not launch Spot Instances. InsufficientInstanceCapacity - There is no Spot capacity available "
    "that matches your request.",
)
NO_REPLICAS = Issue(code="InsufficientNumberOfReplicas", message="The add-on is unhealthy because it has no replicas")
EXPIRED = "The security token included in the request is expired"
NOT_AUTHORIZED = (
    "User: arn:aws:sts::111122223333:assumed-role/igz-clusters-deployer/me is not authorized to perform: "
    "eks:CreateNodegroup on resource: arn:aws:eks:eu-west-1:111122223333:cluster/mlrun-dev"
)
SLOW = SlowRule(operation=CREATE, seconds=HELD)
"""Holds groups back until other rules are set."""


@dataclass
class Scene:
    """A failure that has happened.

    Parameters
    ----------
    printed
        By the command that met it.
    names
        What the page's words in capitals stand for here.
    """

    printed: str
    names: Mapping[str, str] = field(default_factory=dict)


def up(dev: Account) -> str:
    """Run an `up` that must fail, and return what it printed."""
    return failed(dev, dev.start(*UP))


def failed(dev: Account, run: subprocess.Popen[str]) -> str:
    """Return what an `up` printed that had to fail; afterwards nothing fails any more."""
    text, _ = run.communicate(timeout=600)
    assert run.returncode == 1, text[-6000:]
    assert "Traceback" not in text
    dev.aws.set_faults()
    return text


@contextmanager
def pool(dev: Account, name: str, choices: Mapping[str, Any] = POOL) -> Iterator[None]:
    """Ask for one more pool until the runbook is done; the next one's `up` takes its groups away."""
    dev.edit("dev", **{f"pools__{name}": dict(choices)})
    try:
        yield
    finally:
        dev.edit("dev", **{f"pools__{name}": None})


@contextmanager
def killed(dev: Account) -> Iterator[Scene]:
    with pool(dev, "killed"):
        run = dev.start(*UP)
        dev.aws.set_faults(KillRule(operation=CREATE, times=1, pids=(run.pid,), moment=Moment.AFTER))
        run.communicate(timeout=600)
        yield Scene(up(dev))


@contextmanager
def crashed(dev: Account) -> Iterator[Scene]:
    """The plug-in of the run that changes something dies: the last of those that the command starts."""
    with pool(dev, "crashed"):
        dev.aws.set_faults(SLOW)
        last = dev.last
        run = dev.start(*UP)
        calls_begun(dev, run, CREATE, 1, last)
        for child in psutil.Process(run.pid).children(recursive=True):
            if "emulators.aws" in child.cmdline():
                child.kill()
        dev.aws.set_faults()
        printed, _ = run.communicate(timeout=600)
        yield Scene(printed)


@contextmanager
def expired(dev: Account) -> Iterator[Scene]:
    with pool(dev, "expired"):
        dev.aws.set_faults(ErrorRule(operation=CREATE, code="ExpiredTokenException", status=403, message=EXPIRED))
        yield Scene(up(dev))


@contextmanager
def failed_addon(dev: Account) -> Iterator[Scene]:
    dev.aws.api("eks").delete_addon(clusterName="mlrun-dev", addonName="metrics-server")
    dev.aws.set_faults(FailedRule(operation="eks:CreateAddon", issues=(NO_REPLICAS,)))
    yield Scene(up(dev))


@contextmanager
def failed_data_group(dev: Account) -> Iterator[Scene]:
    with pool(dev, "data", DATA):
        dev.aws.set_faults(FailedRule(operation=CREATE, about="*-data-b-*", issues=(BROKEN,)))
        assert dev.plain("dev", "up", "--yes", "--skip-preview", check=False).returncode
        dev.aws.set_faults()
        yield Scene(up(dev), {"GROUP": dev.group("dev-data-b")["nodegroupName"]})
    # Only an operator who knows that the data is elsewhere removes them, and their launch templates with them.
    dev.plain("dev", "state", "unprotect", "--all", "--yes")
    for zone in "abc":
        name = dev.group(f"dev-data-{zone}")["nodegroupName"]
        dev.aws.api("eks").delete_nodegroup(clusterName="mlrun-dev", nodegroupName=name)


@contextmanager
def unreachable(dev: Account) -> Iterator[Scene]:
    dev.run("local", "stop", CONTROL_PLANE)
    try:
        printed = up(dev)
    finally:
        dev.run("local", "start", CONTROL_PLANE, "--bare")
    yield Scene(printed)


@contextmanager
def upgrade(dev: Account) -> Iterator[Scene]:
    dev.edit("dev", cluster__version="1.36")
    yield Scene(up(dev))


@contextmanager
def minimum(dev: Account) -> Iterator[Scene]:
    with pool(dev, "small", {**POOL, "size": {"min": 2, "max": 10}}):
        dev.plain("dev", "up", "--yes", "--skip-preview")
        dev.move("dev-small", LIVE)
        dev.edit("dev", pools__small__size={"min": 9, "max": 12})
        yield Scene(up(dev), {"GROUP": dev.group("dev-small")["nodegroupName"]})


@contextmanager
def leftovers(dev: Account) -> Iterator[Scene]:
    """The last one: the stack is gone after it."""
    ec2, elb = dev.aws.api("ec2"), dev.aws.api("elbv2")
    private = ec2.describe_subnets(Filters=[{"Name": "tag:Name", "Values": ["mlrun-dev-private-a"]}])["Subnets"][0]
    default = [each["SubnetId"] for each in ec2.describe_subnets()["Subnets"] if each["VpcId"] != private["VpcId"]]
    tags = [{"Key": "kubernetes.io/cluster/mlrun-dev", "Value": "owned"}]
    (balancer,) = elb.create_load_balancer(Name="left", Type="network", Subnets=default[:1], Tags=tags)["LoadBalancers"]
    interface = dev.aws.leave_network_interface(private["SubnetId"])
    run = dev.start("destroy", "dev", "--hermetic", "--yes")
    assert run.stdout
    printed = []
    for line in run.stdout:
        printed.append(line)
        if "Retrying in" in line:
            break
    assert "Retrying in" in printed[-1], "".join(printed)[-6000:]
    run.terminate()  # during the pause before the next attempt
    run.communicate(timeout=600)
    names = {"VPC": private["VpcId"], "INTERFACE": interface, "BALANCER": balancer["LoadBalancerArn"]}
    yield Scene("".join(printed), names)


SCENES: Final[Mapping[str, Callable[[Account], AbstractContextManager[Scene]]]] = {
    "A run was killed": killed,
    "A plug-in crashed": crashed,
    "An add-on is CREATE_FAILED": failed_addon,
    "Credentials expired during a run": expired,
    "The cluster does not answer": unreachable,
    "An upgrade of more than one minor": upgrade,
    "A minimum above the live size": minimum,
    "A data group failed": failed_data_group,
    "Resources left after destroy": leftovers,
}
"""What each other runbook is about, as it happens."""
