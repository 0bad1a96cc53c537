"""A run on an EKS stack that is killed at any call: recovered, nothing is there twice and nothing is forgotten."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from support.aws_double import Account, account, identities, writes
from workbench.clouds.double.client import Call
from workbench.clouds.double.faults import KillRule, Moment

pytestmark = pytest.mark.control_plane

UP = ("up", "dev", "--hermetic", "--yes")
DESTROY = ("destroy", "dev", "--hermetic", "--yes")
TYPES = (["m6i.2xlarge"], ["m5.2xlarge"])
"""A node group of one is replaced by one of the other."""


@dataclass
class Rehearsed:
    """A small stack that is made and destroyed many times, and what each run asks of AWS when nobody disturbs it."""

    account: Account
    calls: dict[str, list[Call]] = field(default_factory=dict)
    done: set[tuple[str, int]] = field(default_factory=set)

    def index(self, run: str, moment: float) -> int:
        """Return which of the writing calls of a run is at a fraction of them; each is taken once."""
        index = round(moment * (len(self.calls[run]) - 1))
        if (run, index) in self.done:
            pytest.skip("the moment before met the same call")
        self.done.add((run, index))
        return index

    def rule(self, run: str, index: int, pid: int) -> KillRule:
        """Return the fault that kills a process and its children at one of the writing calls of a run.

        At every other one they die before AWS has done what it asks for.
        """
        calls = self.calls[run]
        operation = calls[index].operation
        occurrence = sum(call.operation == operation for call in calls[: index + 1])
        when = Moment.BEFORE if index % 2 else Moment.AFTER
        return KillRule(operation=operation, first=occurrence, times=1, pids=(pid,), moment=when)

    def kill(self, run: str, index: int, *command: str) -> None:
        """Start a command and let it be killed, the engine and its children with it."""
        process = self.account.start(*command)
        self.account.aws.set_faults(self.rule(run, index, process.pid))
        printed, _ = process.communicate(timeout=600)
        self.account.aws.set_faults()
        assert process.returncode == -9, printed[-6000:]

    def undisturbed(self, run: str, *command: str) -> None:
        last = self.account.last
        self.account.run(*command)
        self.calls[run] = writes(self.account.aws.calls(last))
        assert self.calls[run]

    def replace_a_group(self) -> None:
        """Let the stack file ask for other machines."""
        self.account.edit("dev", pools__workload__instanceTypes=TYPES[self.is_replaced()])

    def is_replaced(self) -> bool:
        return self.account.group("dev-workload")["instanceTypes"] == TYPES[0]


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsed]:
    with account(tmp_path_factory.mktemp("kills"), "dev", is_plan_shown=False) as made:
        made.edit("dev", policyGuard="off", **{f"pools__{pool}": None for pool in ("jupyter", "gpu", "spot")})
        stack = Rehearsed(made)
        stack.undisturbed("up", *UP)
        stack.replace_a_group()
        stack.undisturbed("replacement", *UP)
        stack.undisturbed("destroy", *DESTROY)
        yield stack


def recovered(made: Account) -> None:
    made.run("recover", "dev", "--yes", "--hermetic")


def assert_whole(made: Account) -> None:
    """Fail unless nothing is to be changed or pending, and AWS holds what the state says, each once."""
    again = made.run(*UP, check=False)
    if "unchanged" not in again.stdout or again.returncode:
        again = made.run(*UP)
    preview = made.plain("dev", "preview", "--expect-no-changes", check=False)
    assert preview.returncode == 0, preview.stdout + preview.stderr
    assert not made.state("dev").get("pending_operations")
    in_state, in_aws = identities(made, "dev")
    assert in_state == in_aws


def test_a_killed_up_is_recovered(rehearsed: Rehearsed, moment: float) -> None:
    rehearsed.kill("up", rehearsed.index("up", moment), *UP)
    recovered(rehearsed.account)
    assert_whole(rehearsed.account)
    rehearsed.account.plain("dev", "destroy", "--yes", "--skip-preview")


def test_a_killed_replacement_of_a_group_is_recovered(rehearsed: Rehearsed, moment: float) -> None:
    made, index = rehearsed.account, rehearsed.index("replacement", moment)
    made.plain("dev", "up", "--yes", "--skip-preview")
    rehearsed.replace_a_group()
    rehearsed.kill("replacement", index, *UP)
    recovered(made)
    assert_whole(made)


def test_a_killed_destroy_is_recovered(rehearsed: Rehearsed, moment: float) -> None:
    made, index = rehearsed.account, rehearsed.index("destroy", moment)
    made.plain("dev", "up", "--yes", "--skip-preview")
    rehearsed.kill("destroy", index, *DESTROY)
    recovered(made)
    again = made.run(*DESTROY, check=False)
    if again.returncode:
        made.run(*DESTROY)
    assert identities(made, "dev") == (set(), set())
