"""The whole life of the EKS stacks on the AWS emulator, with a real API server inside: up, again, and gone."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
import yaml

from emulators.core.client import Call
from support.aws_emulator import Account, identities, writes
from support.sampled import sampled

pytestmark = pytest.mark.control_plane

BEFORE_NODES = ("eks-pod-identity-agent", "kube-proxy", "vpc-cni")
AFTER_NODES = ("aws-ebs-csi-driver", "coredns", "eks-node-monitoring-agent", "metrics-server")
INSIDE = {"Deployment cluster-autoscaler", "Namespace mlrun", "PriorityClass igz-workload-high", "StorageClass gp3"}
OF_BACKUPS = {"aws:backup/vault:Vault", "aws:iam/role:Role", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"}
"""What outlives production, which has backups."""

PLACEHOLDERS = {"WHY IT MAY BE LOST": "the trial is over", "TEAM": "ml-platform", "TICKET": "OPS-1"}


@dataclass
class Life:
    """What was seen of a stack from its first `up` to its end."""

    account: Account
    stack: str
    made: Sequence[Call] = ()
    """Writing calls of the first `up`."""
    objects: set[str] = field(default_factory=set)
    again: Sequence[Call] = ()
    """Writing calls of the second."""
    again_said: str = ""
    equal: tuple[set[str], set[str]] = (set(), set())
    """What the state names, and what AWS has."""
    refusals: list[str] = field(default_factory=list)
    """Of `destroy`, until all was done that they ask for."""
    gone: Sequence[Call] = ()
    """Writing calls of `destroy`."""
    before: dict[str, list[str]] = field(default_factory=dict)
    after: dict[str, list[str]] = field(default_factory=dict)
    objects_after: set[str] = field(default_factory=set)

    def calls_of(self, *command: str) -> list[Call]:
        """Run a command that must succeed and return the writing calls that it made."""
        last = self.account.last
        self.account.run(*command, "--hermetic", "--yes")
        return writes(self.account.aws.calls(last))


@pytest.fixture(scope="module", params=sampled(("dev", "prod"), ("dev",)))
def life(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Life]:
    """Production with plans and policy packs, as for people; development without."""
    stack: str = request.param
    with Account.opened(tmp_path_factory.mktemp("life"), stack, is_quick=stack == "dev") as made:
        if made.is_quick:
            made.edit(stack, policyGuard="off")  # it would plan a destroy first
        yield live(made, stack)


def live(account: Account, stack: str) -> Life:
    """Make a stack, make it again and destroy it, and return what was seen."""
    lived = Life(account, stack, before=account.aws.inventory())
    lived.made = lived.calls_of("up", lived.stack)
    lived.objects = account.objects()
    lived.equal = identities(account, lived.stack)
    last = account.last
    lived.again_said = account.run("up", lived.stack, "--hermetic", "--yes").stdout
    lived.again = writes(account.aws.calls(last))
    while refusal := refused(account, lived.stack):
        lived.refusals.append(refusal)
        assert len(lived.refusals) < 4, lived.refusals
        follow(account, lived.stack, refusal)
    lived.gone = writes(account.aws.calls(last))
    lived.after, lived.objects_after = account.aws.inventory(), account.objects()
    return lived


def refused(made: Account, stack: str) -> str:
    """Try to destroy a stack; return why that is refused, empty if it is not."""
    run = made.run("destroy", stack, "--hermetic", "--yes", check=False)
    assert run.returncode in (0, 1), run.stderr
    if run.returncode:
        assert re.search(r"Nothing (was deleted|changed)\.", run.stderr), run.stdout + run.stderr
    return run.stderr if run.returncode else ""


def follow(made: Account, stack: str, refusal: str) -> None:
    """Do what a refusal says is to be done; people's words go where it has capitals."""
    if rows := re.search(r"^approvals:\n(?:[- ] .*\n?)+", refusal, re.MULTILINE):
        text = rows[0]
        for placeholder, words in PLACEHOLDERS.items():
            text = text.replace(placeholder, words)
        assert yaml.safe_load(text)
        made.overrides.parent.mkdir(exist_ok=True)
        made.overrides.write_text(text)
    for line in re.findall(r"`pulumi (state unprotect .*)`", refusal):
        made.plain(stack, *shlex.split(line))
    for name in re.findall(r"`aws eks update-cluster-config --name (\S+) --no-deletion-protection`", refusal):
        made.aws.api("eks").update_cluster_config(name=name, deletionProtection=False)


def numbers(calls: Sequence[Call], operation: str, addon: str | None = None) -> range:
    """Return from which to which number an operation was called."""
    found = [
        call.number for call in calls if call.operation == operation and addon in (None, call.params.get("addonName"))
    ]
    assert found, f"no {operation} of {addon or 'anything'}"
    return range(min(found), max(found) + 1)


def assert_in_order(steps: Sequence[range]) -> None:
    for before, after in pairwise(steps):
        assert before[-1] < after[0]


def test_up_makes_what_the_state_says_in_aws_and_in_the_cluster(life: Life) -> None:
    in_state, in_aws = life.equal
    assert in_aws - in_state == set()
    assert in_state - in_aws == set()
    assert life.objects >= INSIDE


def test_a_second_up_changes_nothing_and_asks_aws_to_change_nothing(life: Life) -> None:
    assert "unchanged" in life.again_said
    assert not re.search(r"\d+ (created|updated|deleted|replaced)", life.again_said)
    assert [call.operation for call in life.again] == []


def test_up_makes_network_cluster_addons_groups_and_the_addons_that_need_nodes_in_this_order(life: Life) -> None:
    made = life.made
    cluster = numbers(made, "eks:CreateCluster")
    nodes = numbers(made, "eks:CreateNodegroup")
    assert_in_order([numbers(made, "ec2:CreateSubnet"), cluster])
    assert_in_order([numbers(made, "kms:CreateKey"), cluster])
    assert_in_order([numbers(made, "logs:CreateLogGroup"), cluster])
    # A node that cannot reach AWS never joins.
    assert_in_order([numbers(made, "ec2:CreateNatGateway"), nodes])
    assert_in_order([numbers(made, "ec2:CreateRoute"), nodes])
    for addon in BEFORE_NODES:
        assert_in_order([cluster, numbers(made, "eks:CreateAddon", addon), nodes])
    for addon in AFTER_NODES:
        assert_in_order([nodes, numbers(made, "eks:CreateAddon", addon)])


def test_no_writing_call_of_a_first_up_is_refused_or_made_twice(life: Life) -> None:
    assert [call for call in life.made if call.code] == []
    asked = [(call.operation, repr(call.params)) for call in life.made]
    assert [each for each in asked if asked.count(each) > 1] == []


def test_destroy_leaves_what_was_there_before_and_what_backups_need(life: Life) -> None:
    before, after = ({(type_, id_) for type_, ids in seen.items() for id_ in ids} for seen in (life.before, life.after))
    assert before - after == set()
    assert {type_ for type_, _ in after - before} == (OF_BACKUPS if life.stack == "prod" else set())
    assert life.objects_after & INSIDE == set()


def test_destroy_goes_in_an_order_that_aws_accepts(life: Life) -> None:
    gone = life.gone
    cluster = numbers(gone, "eks:DeleteCluster")
    nodes = numbers(gone, "eks:DeleteNodegroup")
    for addon in AFTER_NODES:
        assert_in_order([numbers(gone, "eks:DeleteAddon", addon), nodes])
    for addon in BEFORE_NODES:
        assert_in_order([nodes, numbers(gone, "eks:DeleteAddon", addon), cluster])
    assert_in_order([cluster, numbers(gone, "ec2:DeleteSubnet"), numbers(gone, "ec2:DeleteVpc")])
    assert_in_order([cluster, numbers(gone, "kms:ScheduleKeyDeletion")])
    assert [(call.operation, call.about, call.code) for call in gone if call.code] == []


def test_what_production_guards_is_destroyed_only_after_unprotecting_and_approval(life: Life) -> None:
    if life.stack == "dev":
        assert life.refusals == []
        return
    protections, approvals = life.refusals
    assert "would lose protected resources without an approval" in approvals
    assert "is protected (aws:eks/cluster:Cluster)" in protections
    assert "deletion protection is on" in protections
