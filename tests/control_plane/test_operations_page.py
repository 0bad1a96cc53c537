"""docs/operations.md: each failure happens, is seen as the page words it, and is repaired by the commands there."""

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import psutil
import pytest
import yaml

from emulators.core.faults import (
    ErrorRule,
    FailedRule,
    Issue,
    KillRule,
    LostRule,
    Moment,
    Rule,
    SlowRule,
    StuckRule,
)
from support.aws_command import run_aws
from support.aws_emulator import Account, identities
from support.cloud_account import CONTROL_PLANE
from support.cloud_faults import HELD, calls_begun
from workbench.system.paths import PROJECT_ROOT

pytestmark = pytest.mark.control_plane

PAGE: Final = PROJECT_ROOT / "docs/operations.md"
TEXT: Final = PAGE.read_text()
EDIT: Final = re.compile(r"# in Pulumi\.dev\.yaml: ([\w.]+): (.+)")
NOT_RUN: Final = "# not run"
INLINE: Final = re.compile(r"`(?:igz-clusters|pulumi|aws|kubectl) [^`]+`")
"""A command outside of the blocks that are run."""
ASK: Final = frozenset({"up", "destroy", "recover"})
"""Commands that ask before they change anything."""

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
LAST: Final = "igz-clusters up dev"
"""With what most runbooks end."""
LIVE: Final = 7


@dataclass(frozen=True)
class Runbook:
    """One section of the page.

    Parameters
    ----------
    seen, repaired
        What is printed before and after the commands; ``…`` stands for any text.
    commands
        Lines for a shell, and changes of the stack file.
    """

    seen: Sequence[str]
    commands: Sequence[str]
    repaired: Sequence[str]


def _read() -> dict[str, Runbook]:
    found = {}
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        if blocks:
            assert [language for language, _ in blocks] == ["text", "sh", "text"], section
            found[section.partition("\n")[0]] = Runbook(*(block.splitlines() for _, block in blocks))
    return found


RUNBOOKS: Final = _read()


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
    # Only whoever knows that the data is elsewhere takes them away, and their launch templates with them.
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
        if "Again in" in line:
            break
    run.terminate()  # in its pause, as whoever does not want to wait
    run.communicate(timeout=600)
    names = {"VPC": private["VpcId"], "INTERFACE": interface, "BALANCER": balancer["LoadBalancerArn"]}
    yield Scene("".join(printed), names)


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
GROUPS: Final[Mapping[str, tuple[str, Rule]]] = {
    "A node group is CREATE_FAILED": (
        "broken",
        FailedRule(operation=CREATE, about="*-broken-*", issues=(BROKEN,)),
    ),
    "No spot capacity": ("scarce", FailedRule(operation=CREATE, about="*-scarce-*", issues=(NO_SPOT,))),
    "Throttling": (
        "throttled",
        ErrorRule(
            operation=CREATE, about="*-throttled-*", code="ThrottlingException", status=429, message="Rate exceeded"
        ),
    ),
    "Access denied": (
        "denied",
        ErrorRule(
            operation=CREATE, about="*-denied-*", code="AccessDeniedException", status=403, message=NOT_AUTHORIZED
        ),
    ),
    "An answer was lost": ("lost", LostRule(operation=CREATE, about="*-lost-*")),
    "A creation is stuck": ("stuck", StuckRule(operation=CREATE, about="*-stuck-*")),
}
"""What happens to one group and to no other, by pool: it happens in one `up`, and the last command mends it all."""
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


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """The smallest stack, one version behind."""
    with Account.opened(tmp_path_factory.mktemp("operations"), "dev", is_quick=True) as made:
        gone = {f"pools__{name}": None for name in ("jupyter", "gpu", "spot")}
        made.edit(
            "dev",
            policyGuard="off",
            cluster__version="1.34",
            cluster__addonVersions={"kube-proxy": "v1.34.0-eksbuild.2"},
            **gone,
        )
        made.plain("dev", "up", "--yes", "--skip-preview")
        yield made


@pytest.fixture(autouse=True)
def no_faults_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "dev" in request.fixturenames:
        request.getfixturevalue("dev").aws.set_faults()


def assert_shown(lines: Sequence[str], printed: str) -> None:
    """Fail unless each line of the page is part of what was printed."""
    patterns = {line: re.escape(line.strip()).replace("…", ".*") for line in lines}
    assert [line for line, pattern in patterns.items() if not re.search(pattern, printed)] == [], printed[-6000:]


def execute(dev: Account, line: str) -> str:
    """Run one line of a runbook as it stands there, and return what it printed."""
    if edit := EDIT.fullmatch(line):
        dev.edit("dev", **{edit[1].replace(".", "__"): yaml.safe_load(edit[2])})
        return ""
    program, *words = shlex.split(line, comments=True)
    match program:
        case "igz-clusters":
            run = dev.run(*words, "--hermetic", *(["--yes"] if words[0] in ASK else []))
            return run.stdout + run.stderr
        case "pulumi":
            return dev.plain("dev", *words).stdout
        case "kubectl":
            return dev.kubectl(*words)
        case "aws":
            return run_aws(dev.aws, words)
    raise AssertionError(f"nobody knows how to run `{line}`")


def follow(dev: Account, commands: Sequence[str], names: Mapping[str, str]) -> str:
    """Run lines of a runbook in their order, and return what they printed."""
    printed = []
    for line in commands:
        if NOT_RUN not in line:
            named = re.sub(r"\b[A-Z]{3,}\b", lambda word: names.get(word[0], word[0]), line)
            printed.append(execute(dev, named))
    return "".join(printed)


def of_pool(lines: Sequence[str], name: str) -> list[str]:
    """Return lines of the page that are about this pool's group where they are about some group."""
    return [line.replace("dev-…", f"dev-{name}…") for line in lines]


@pytest.mark.full
def test_what_happens_to_groups_is_mended_by_the_commands_of_each_runbook(dev: Account) -> None:
    rules = [rule for _, rule in GROUPS.values()]
    with ExitStack() as pools:
        for name, _ in GROUPS.values():
            pools.enter_context(pool(dev, name, SPOT if name == "scarce" else POOL))
        dev.aws.set_faults(SLOW, *rules)
        last = dev.last
        run = dev.start(*UP, AWS_MAX_ATTEMPTS="3")  # all of them in vain
        calls_begun(dev, run, CREATE, len(GROUPS), last)  # after the first failure the engine would begin nothing more
        dev.aws.set_faults(*rules)
        printed = failed(dev, run)
        for title, (name, _) in GROUPS.items():
            assert_shown(of_pool(RUNBOOKS[title].seen, name), printed)
        made = dev.aws.api("eks").list_nodegroups(clusterName="mlrun-dev")["nodegroups"]
        told = {}
        for title, (name, _) in GROUPS.items():
            *commands, last = RUNBOOKS[title].commands
            assert last == LAST
            group = next((each for each in made if each.startswith(f"dev-{name}-")), "")
            told[title] = follow(dev, commands, {"POOL": name, "GROUP": group})
        repaired = execute(dev, LAST)
        for title, (name, _) in GROUPS.items():
            assert_shown(of_pool(RUNBOOKS[title].repaired, name), told[title] + repaired)
            assert dev.group(f"dev-{name}-")["status"] == "ACTIVE"
        in_state, in_aws = identities(dev, "dev")
        assert in_state == in_aws


@pytest.mark.full
@pytest.mark.parametrize("title", SCENES)
def test_its_commands_mend_what_it_is_about(dev: Account, title: str) -> None:
    runbook = RUNBOOKS[title]
    with SCENES[title](dev) as scene:
        assert_shown(runbook.seen, scene.printed)
        assert_shown(runbook.repaired, follow(dev, runbook.commands, scene.names))
        in_state, in_aws = identities(dev, "dev")
        assert in_state == in_aws


def test_every_runbook_is_about_a_failure_that_is_tried() -> None:
    assert set(RUNBOOKS) == {*GROUPS, *SCENES}


def test_what_is_not_run_is_marked_and_needs_what_is_not_here() -> None:
    marked = [line for runbook in RUNBOOKS.values() for line in runbook.commands if NOT_RUN in line]
    assert [line.partition(" --")[0].partition(" #")[0] for line in marked] == [
        "aws iam simulate-principal-policy",
        "aws sso login",
    ]
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    inline = [each for each in prose.split("\n\n") if INLINE.search(each)]
    assert [each for each in inline if "*not run*" not in each] == []


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXT)
    assert targets
    assert [target for target in targets if not (PAGE.parent / target).exists()] == []
