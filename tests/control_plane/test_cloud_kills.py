"""A run on a stack in a cloud that is killed at any call: recovered, nothing is there twice, nothing is forgotten."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import pytest

from emulators.core.client import Call
from emulators.core.faults import KillRule, Moment
from support import aws_emulator, azure_emulator
from support.cloud_account import CloudAccount
from support.lives import SMALL

pytestmark = [pytest.mark.control_plane, pytest.mark.full, pytest.mark.moments(1)]


@dataclass(frozen=True)
class Cloud:
    """What differs between the clouds' kills.

    Parameters
    ----------
    stack
        Name of the stack.
    types
        Machines of the pool ``workload``: each replacement asks for the next of them, in turns. The last one is the
        stack file's own.
    account
        Its accounts.
    writes, identities
        As the cloud's emulator has them.
    """

    stack: str
    types: tuple[str, str]
    account: type[CloudAccount]
    writes: Callable[[Sequence[Call]], list[Call]]
    identities: Callable[[Any, str], tuple[set[str], set[str]]]


CLOUDS = (
    Cloud("dev", ("m5.2xlarge", "m6i.2xlarge"), aws_emulator.Account, aws_emulator.writes, aws_emulator.identities),
    Cloud(
        "aks-dev",
        ("Standard_D8as_v5", "Standard_D8s_v5"),
        azure_emulator.Subscription,
        azure_emulator.writes,
        azure_emulator.identities,
    ),
)


@dataclass
class KilledStack:
    """A small stack that is made and destroyed many times, and what each run asks of its cloud when undisturbed."""

    cloud: Cloud
    account: CloudAccount
    calls: dict[str, list[Call]] = field(default_factory=dict)
    done: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._types = cycle(self.cloud.types)

    @property
    def up(self) -> tuple[str, ...]:
        """Arguments that make or change the stack."""
        return ("up", self.cloud.stack, "--hermetic", "--yes")

    @property
    def destroy(self) -> tuple[str, ...]:
        """Arguments that end the stack."""
        return ("destroy", self.cloud.stack, "--hermetic", "--yes")

    def index(self, run: str, moment: float) -> int:
        """Return which of the writing calls of a run is at a fraction of them; each is taken once."""
        index = round(moment * (len(self.calls[run]) - 1))
        if (run, index) in self.done:
            pytest.skip("the moment before met the same call")
        self.done.add((run, index))
        return index

    def rule(self, run: str, index: int, pid: int) -> KillRule:
        """Return the fault that kills a process and its children at one of the writing calls of a run.

        At every other one they die before the cloud has done what it asks for.
        """
        calls = self.calls[run]
        operation = calls[index].operation
        occurrence = sum(call.operation == operation for call in calls[: index + 1])
        when = Moment.BEFORE if index % 2 else Moment.AFTER
        return KillRule(operation=operation, first=occurrence, times=1, pids=(pid,), moment=when)

    def kill(self, run: str, index: int, *command: str) -> None:
        """Start a command and let it be killed, the engine and its children with it."""
        process = self.account.start(*command)
        self.account.emulator.set_faults(self.rule(run, index, process.pid))
        printed, _ = process.communicate(timeout=600)
        self.account.emulator.set_faults()
        assert process.returncode == -9, printed[-6000:]

    def undisturbed(self, run: str, *command: str) -> None:
        last = self.account.last
        self.account.run(*command)
        self.calls[run] = self.cloud.writes(self.account.emulator.calls(last))
        assert self.calls[run]

    def replace_a_group(self) -> None:
        """Let the stack file ask for other machines."""
        self.account.edit(self.cloud.stack, pools__workload__instanceTypes=[next(self._types)])

    def plain(self, command: str) -> None:
        """Make or end the stack with the engine alone, which is quick."""
        self.account.plain(self.cloud.stack, command, "--yes", "--skip-preview")

    def recover(self) -> None:
        self.account.run("recover", self.cloud.stack, "--yes", "--hermetic")

    def assert_whole(self) -> None:
        """Fail unless nothing is to be changed or pending, and the cloud holds what the state says, each once."""
        again = self.account.run(*self.up, check=False)
        if "unchanged" not in again.stdout or again.returncode:
            self.account.run(*self.up)
        preview = self.account.plain(self.cloud.stack, "preview", "--expect-no-changes", check=False)
        assert preview.returncode == 0, preview.stdout + preview.stderr
        assert not self.account.state(self.cloud.stack).get("pending_operations")
        in_state, there = self.cloud.identities(self.account, self.cloud.stack)
        assert in_state == there


def on(*kept: str) -> pytest.MarkDecorator:
    """Run a test in every cloud; in those that are not ``kept`` only by `make kills`.

    The engine's part of a run is the same in all; each cloud's part in recovery is shown by one kind of run or more.
    """
    clouds = [pytest.param(c, id=c.stack, marks=[] if c.stack in kept else pytest.mark.kills) for c in CLOUDS]
    return pytest.mark.parametrize("killed", clouds, indirect=True, scope="module")


@pytest.fixture(scope="module")
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledStack]:
    cloud: Cloud = request.param
    with cloud.account.opened(tmp_path_factory.mktemp("kills"), cloud.stack, is_quick=True) as made:
        made.edit(cloud.stack, policyGuard="off", **SMALL)
        stack = KilledStack(cloud, made)
        stack.undisturbed("up", *stack.up)
        stack.replace_a_group()
        stack.undisturbed("replacement", *stack.up)
        stack.undisturbed("destroy", *stack.destroy)
        yield stack


@on("dev", "aks-dev")
def test_a_killed_up_is_recovered(killed: KilledStack, moment: float) -> None:
    killed.kill("up", killed.index("up", moment), *killed.up)
    killed.recover()
    killed.assert_whole()
    killed.plain("destroy")


@on("dev")
def test_a_killed_replacement_of_a_group_is_recovered(killed: KilledStack, moment: float) -> None:
    index = killed.index("replacement", moment)
    killed.plain("up")
    killed.replace_a_group()
    killed.kill("replacement", index, *killed.up)
    killed.recover()
    killed.assert_whole()


@on("aks-dev")
def test_a_killed_destroy_is_recovered(killed: KilledStack, moment: float) -> None:
    index = killed.index("destroy", moment)
    killed.plain("up")
    killed.kill("destroy", index, *killed.destroy)
    killed.recover()
    again = killed.account.run(*killed.destroy, check=False)
    if again.returncode:
        killed.account.run(*killed.destroy)
    assert killed.cloud.identities(killed.account, killed.cloud.stack) == (set(), set())
