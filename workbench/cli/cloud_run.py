"""What all commands on a stack in a cloud do around the engine's own run."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from workbench import stacks
from workbench.cli import engine_run
from workbench.cli.console import PLAIN, errors
from workbench.engine import INTERRUPTED, Session, cloud
from workbench.engine.cloud import cloud_session, require_nothing_pending
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions, Group
from workbench.engine.clouds.find import cloud_of
from workbench.engine.cluster_components import components_of_state
from workbench.engine.error_classification import is_expired
from workbench.engine.lock import stack_lock
from workbench.engine.recorded import recorded
from workbench.engine.upgrade_checks import Judgement, judge
from workbench.existing import Existing, Inspection, open_existing
from workbench.report import events as event_stream
from workbench.report.changes import changes_of
from workbench.report.events import Stream
from workbench.review.drift import FAIL_UNREACHABLE
from workbench.system.errors import UserError
from workbench.toolchain import ensure
from workbench.toolchain.console import progress

if TYPE_CHECKING:
    from workbench.recovery.cloud import Account

AS_REFRESHED: Final = ("--refresh=false",)
"""Options of a plan that nobody applies, right after a refresh: another one would ask the cloud for everything again.

The run that changes something keeps the project's ``refresh: always``: an autoscaler may have moved a size meanwhile.
"""


@dataclass(frozen=True)
class CloudRun:
    """One command on a stack.

    Parameters
    ----------
    session
        On the stack.
    events
        Where the user wants the engine's event stream. Default: nowhere.
    existing
        The stack's cluster if somebody else built it; it has said who it is. Default: the stack makes its cluster.
    seen
        What was seen in it. Default: nobody has looked.
    """

    session: Session
    events: Path | None = None
    existing: Existing | None = None
    seen: Inspection | None = None

    @property
    def stack(self) -> stacks.Stack:
        """The stack."""
        return self.session.stack

    @cached_property
    def cloud(self) -> Cloud:
        """Where the stack is."""
        return cloud_of(self.stack.name, self.stack.config)

    def state(self) -> dict[str, Any]:
        """Return the stack's deployment, empty if it was never up.

        Raises
        ------
        UserError
            A killed run left operations under way, or the backend does not give the stack.
        """
        deployment: dict[str, Any] = require_nothing_pending(self.session).get("deployment") or {}
        return deployment

    def looked(self, deployment: Mapping[str, Any]) -> "CloudRun":
        """Return the same run after a look at a cluster that somebody else built; what it lacks is said.

        Raises
        ------
        UserError
            Something in it stands in the way; with all of it.
        """
        if not self.existing:
            return self
        seen = self.existing.inspect(deployment)
        for note in seen.notes:
            errors.print(f"note: {note}", **PLAIN)
        for change in seen.taints:
            errors.print(f"`up` changes {change}", **PLAIN)
        return replace(self, session=self.existing.session(self.session, seen), seen=seen)

    def require_no_collisions(self, stream: Stream) -> None:
        """Refuse a plan that would take over somebody else's object in a cluster that somebody else built.

        Raises
        ------
        UserError
            It would; with all of them.
        """
        if self.existing:
            self.existing.require_no_collisions(stream, self.state())

    def finish(self) -> None:
        """Do what belongs to a finished `up` and is no resource: taints of nodes, where somebody else built them.

        Raises
        ------
        UserError
            A node refuses, or one went away meanwhile.
        """
        if not (self.existing and self.seen):
            return
        for line in self.existing.change_taints(self.seen):
            errors.print(f"Changed {line}", **PLAIN)
        if replaced_nodes := self.existing.replaced_nodes(self.seen):
            listed = ", ".join(replaced_nodes)
            raise UserError(
                f"Nodes went away while they were labelled, and objects without a machine are left: {listed}.",
                f"`kubectl --context={self.existing.choices.context} delete node {' '.join(replaced_nodes)}`, then "
                f"`igz-clusters up {self.stack.name}`.",
            )

    def engine(self, *arguments: str) -> tuple[int, Stream]:
        """Run the engine and show what it does; return its exit code and what its event stream says."""
        command, *options = arguments
        return engine_run.run(self.session, command, *options, events_file=self.events)

    def ask(self, components: Sequence[ClusterComponent]) -> Conditions:
        """Return what the cloud says about each part; nothing if the cluster is in none.

        Raises
        ------
        UserError
            The cloud cannot be asked: whatever is said without its answer may be wrong.
        """
        return self._account.conditions(components)

    def left(self) -> list[str]:
        """Return what carries the stack's tags in its cloud, or belongs to its cluster, each with how it is deleted.

        Raises
        ------
        UserError
            The cloud cannot be asked.
        """
        return [f"{resource.description}\n  {resource.delete}" for resource in self._account.tagged_resources()]

    @cached_property
    def _account(self) -> "Account":
        from workbench.recovery.cloud import open_account  # noqa: PLC0415 - the cloud's SDK comes with it

        return open_account(self.stack.name, self.stack.config.cluster)

    def judge(self, components: Sequence[ClusterComponent], conditions: Conditions) -> Judgement:
        """Judge a change to what the stack file says, and tell what is not in order but no reason to stop."""
        found = judge(self.cloud, components, conditions)
        for note in found.notes:
            errors.print(f"note: {note}", **PLAIN)
        return found

    def refresh(self, before: Mapping[str, Any], *, fail_unreachable: bool = True) -> dict[str, Any]:
        """Bring the state to what is live, say what that wrote, and return it.

        Parameters
        ----------
        before
            The deployment until now.
        fail_unreachable
            Fail where a cluster does not answer, whatever the user set: its objects would be taken for gone.

        Raises
        ------
        UserError
            The engine could not; nothing else was changed.
        typer.Exit
            Ctrl-C stopped it.
        """
        fixed = FAIL_UNREACHABLE if fail_unreachable else {}
        session = replace(self.session, environment={**self.session.environment, **fixed})
        with errors.status("comparing the state with what is live"):
            run = recorded(session, "refresh", "--yes", "--skip-preview", "--run-program=false")
        if run.code == INTERRUPTED:
            raise typer.Exit(INTERRUPTED)
        stream = event_stream.read(run.events)
        if run.code:
            errors.print(run.display, end="", **PLAIN)
            way = self.after_expiry if is_expired([*stream.errors, run.display]) else _REFRESH
            raise UserError(f"The state of '{self.stack.name}' could not be compared with what is live.", way)
        after = self.state()
        for line in _written(stream, before, after):
            errors.print(line, **PLAIN)
        return after

    @property
    def after_expiry(self) -> str:
        """What to do when the credentials ran out in the middle."""
        name = self.stack.name
        return (
            f"The session at {self.cloud.place} ended. Begin a new one that lasts longer than the work (about an hour "
            f"for a first cluster): {self.cloud.new_session}. Then `igz-clusters recover {name}`, and this again: what "
            "was done is saved."
        )


_REFRESH: Final = "Mend what the engine says above, then run this again; nothing was changed but what was compared."


def started(stack: stacks.Stack, *, hermetic: bool, events: Path | None, lock: int | None = None) -> CloudRun:
    """Return a run on ``stack`` with its tools ready; without the stack's lock it changes nothing.

    A cluster that is there is asked first who it is.
    """
    with progress(errors) as report:
        session = cloud_session(stack, ensure(cloud.TOOLS, hermetic=hermetic, progress=report), lock)
    return CloudRun(session, events, open_existing(stack, session.whole_environment()))


@contextmanager
def changing(stack: stacks.Stack, command: str, *, hermetic: bool, events: Path | None) -> Iterator[CloudRun]:
    """Yield a run that may change ``stack``: nobody else on this machine does meanwhile, nor what a killed run left.

    Raises
    ------
    UserError
        Somebody does, or what a killed run left still works.
    """
    with stack_lock(stack.name, command, stack.file) as lock:
        yield started(stack, hermetic=hermetic, events=events, lock=lock)


def _written(stream: Stream, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Say what a refresh wrote into the state."""
    for change, _ in changes_of(stream):
        where = ", ".join(each.path for each in change.properties)
        yield f"Live and now in the state: {change.operation} {change.name} ({change.type}){where and f': {where}'}"
    sizes = {component.key: _size(component) for component in components_of_state(before)}
    for component in components_of_state(after):
        was, size = sizes.get(component.key), _size(component)
        if was is not None and size is not None and was != size:
            yield f"Live and now in the state: {component} has {size} nodes, had {was}."


def _size(component: ClusterComponent) -> int | None:
    return component.sizes.size if isinstance(component, Group) and component.sizes else None
