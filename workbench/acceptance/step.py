"""What a step of the acceptance run is, what it may use, and how it waits and fails."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from components.contract.environments import ClusterKind
from infra.config import StackConfig
from workbench.acceptance.copied_stack import CopiedStack
from workbench.acceptance.record import Record
from workbench.engine.clouds.find import CLOUDS
from workbench.engine.kubectl import Api
from workbench.report.events import Stream
from workbench.report.model import StackReport
from workbench.system.errors import UserError

T = TypeVar("T")

PATIENCE: Final = 1200.0
"""Seconds to wait for the cluster: a node of a scarce machine type takes a cloud up to 20 minutes."""


@dataclass(frozen=True)
class Cluster:
    """A cluster, and the deployment that the stack's state records.

    Parameters
    ----------
    deployment
        Empty if nothing is recorded.
    api
        None if the cluster cannot be queried.
    """

    deployment: Mapping[str, Any]
    api: Api | None


class Product(Protocol):
    """The commands that the run exercises, on the copy. Each raises ``UserError`` if the command would fail."""

    def exists(self) -> bool:
        """Return whether there is a stack of the copy's name."""

    def create(self) -> None:
        """Create the copy's stack in the backend; does nothing if it exists."""

    def up(self) -> Stream:
        """Run `up` and return the event stream of the update."""

    def killed_up(self) -> bool:
        """Run `up` and kill it during its first change; return whether it was killed before it ended."""

    def recover(self) -> None:
        """Run `recover --yes`."""

    def drift(self) -> StackReport:
        """Run `drift`."""

    def destroy(self) -> None:
        """Run `destroy --yes`, including what users created."""

    def cluster(self) -> Cluster:
        """Return access to the cluster and the state."""

    def left(self) -> Sequence[str]:
        """Return what is left in the cloud with the copy's tags, without what a `destroy` keeps."""

    def kept(self) -> Sequence[str]:
        """Return what a `destroy` keeps in the cloud, and how to delete it."""

    def forget(self) -> None:
        """Remove the copy's stack from the backend, and its control plane from this machine."""


class StepError(UserError):
    """A step found something that is not as expected."""


@dataclass(frozen=True)
class Context:
    """What a step works with.

    Parameters
    ----------
    copied, product, record
        The copy, the commands on it, and what was seen so far.
    say
        Shows a line of progress.
    patience, pause
        Seconds to wait for the cluster, and between two checks.
    """

    copied: CopiedStack
    product: Product
    record: Record
    say: Callable[[str], None]
    patience: float = PATIENCE
    pause: float = 2.0

    def keep(self, **seen: Any) -> None:
        """Save in the record, at once, what a step needs if the run is killed and continued."""
        self.record.seen |= seen
        self.record.save(self.copied.folder)

    @property
    def config(self) -> StackConfig:
        """The copy's settings as they are now."""
        return self.copied.stack.config

    @property
    def kind(self) -> ClusterKind:
        """The kind of its cluster."""
        return ClusterKind(self.config.cluster.kind)

    @property
    def is_in_a_cloud(self) -> bool:
        """Whether a cloud creates the cluster."""
        return type(self.config.cluster) in CLOUDS

    @property
    def api(self) -> Api:
        """The cluster.

        Raises
        ------
        StepError
            It cannot be queried.
        """
        if not (api := self.product.cluster().api):
            raise StepError("The cluster cannot be queried.", f"`igz-clusters status {self.copied.name}` says why.")
        return api

    def wait(self, problems: Callable[[], Iterable[str]], what: str) -> None:
        """Return once there are no problems.

        Raises
        ------
        StepError
            Problems remain after the time; the message lists them.
        """
        deadline, said = time.monotonic() + self.patience, ""
        while found := list(problems()):
            if time.monotonic() > deadline:
                raise StepError(f"After {self.patience:.0f} s:\n" + "\n".join(found))
            if (line := f"Waiting for {what}: {len(found)} left.") != said:
                self.say(line)
                said = line
            time.sleep(self.pause)


Run = Callable[[Context], str]
"""Carries out a step and returns what was seen; raises ``StepError`` if something is wrong."""


def _never(_: Context) -> str:
    return ""


@dataclass(frozen=True)
class Step:
    """One step.

    Parameters
    ----------
    name, why
        Its name in the record, and what it shows.
    run
        Carries it out. It may run again after an interruption, so it must accept what it has done already.
    skipped
        Returns why this stack cannot have the step; empty if it can.
    """

    name: str
    why: str
    run: Run
    skipped: Callable[[Context], str] = field(default=_never)
