"""Steps that all commands on a stack in a cloud share."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, Final

import typer

from workbench import stacks
from workbench.cli import engine_run
from workbench.cli.console import PLAIN, errors
from workbench.engine import INTERRUPTED, Session, cloud
from workbench.engine.attempts import Attempts
from workbench.engine.cloud import cloud_session, deployment_of, require_nothing_pending
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions, Group
from workbench.engine.clouds.find import cloud_of
from workbench.engine.cluster_components import components_of_state
from workbench.engine.collisions import collisions, created_by, objects_to_create
from workbench.engine.conflict import require_none
from workbench.engine.error_classification import is_expired, is_unreachable
from workbench.engine.in_cluster import recorded_cluster
from workbench.engine.kubectl import Api
from workbench.engine.lock import stack_lock
from workbench.engine.passing import Passing
from workbench.engine.reach import silent_api
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
    from workbench.recovery.cloud import Account, CloudResource

AS_REFRESHED: Final = ("--refresh=false",)
"""Options of a plan that directly follows a refresh and is not applied, so that it does not refresh again.

The run that makes the change keeps the project's ``refresh: always``: the autoscaler may have changed a size meanwhile.
"""


@dataclass(frozen=True)
class CloudRun:
    """One command on a stack.

    Parameters
    ----------
    session
        A session on the stack.
    events
        File for the engine's event stream. Default: none.
    existing
        The stack's existing cluster, with verified identity. Default: the stack creates its cluster.
    seen
        What the existing cluster contained. Default: not inspected yet.
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
        """The cloud of the stack."""
        return cloud_of(self.stack.name, self.stack.config)

    def state(self) -> dict[str, Any]:
        """Return the stack's deployment; empty before the first `up`.

        Raises
        ------
        UserError
            A killed run left pending operations, or the backend refuses access to the stack.
        """
        deployment: dict[str, Any] = require_nothing_pending(self.session).get("deployment") or {}
        return deployment

    def looked(self, deployment: Mapping[str, Any]) -> "CloudRun":
        """Return the run after inspecting an existing cluster; prints notes about it.

        Raises
        ------
        UserError
            Something in the cluster blocks the stack; lists everything that does.
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
        """Refuse a plan that would take over objects of other owners in the live cluster.

        Applying an object that exists takes it over, and a later `destroy` would delete it with all that it contains.

        Raises
        ------
        UserError
            It would; lists all of them.
        """
        if not (to_create := objects_to_create(stream)):
            return
        deployment = self.state()
        created = created_by(deployment)
        with self._live_cluster(deployment, created) as api:
            if api:
                require_none(self.stack.name, collisions(api, to_create, created))

    @contextmanager
    def _live_cluster(self, deployment: Mapping[str, Any], created: Collection[str]) -> Iterator[Api | None]:
        # An interrupted first run may have ended before the deployer had access to the cluster.
        known = deployment if created and not self.existing else {}
        with recorded_cluster(known, self.session.whole_environment()) as found:
            yield self.existing.api if self.existing else found

    def finish(self) -> None:
        """Apply what an `up` changes outside the engine: taints of the nodes of an existing cluster.

        Raises
        ------
        UserError
            A taint is refused, or a node disappeared meanwhile.
        """
        if not (self.existing and self.seen):
            return
        for line in self.existing.change_taints(self.seen):
            errors.print(f"Changed {line}", **PLAIN)
        if replaced_nodes := self.existing.replaced_nodes(self.seen):
            raise UserError(
                "Nodes disappeared while they were labelled; node objects without a machine are left: "
                f"{', '.join(replaced_nodes)}.",
                f"`kubectl --context={self.existing.choices.context} delete node {' '.join(replaced_nodes)}`, then "
                f"`igz-clusters up {self.stack.name}`.",
            )

    def engine(self, *arguments: str) -> tuple[int, Stream]:
        """Run the engine and show what it does; return its exit code and what its event stream says."""
        return engine_run.run(self.session, *arguments, events_file=self.events)

    def engine_again(self, passing: Passing, *arguments: str) -> tuple[int, Stream]:
        """Run the engine, and repeat while the cloud refuses something for a temporary reason.

        Parameters
        ----------
        passing
            The reason.
        arguments
            The engine's command, repeated as ``Attempts`` says.
        """
        command, *options = arguments
        attempts, runs = Attempts(options, partial(deployment_of, self.session)), len(passing.pauses) + 1
        for number, pause in enumerate(passing.pauses, 2):
            code, stream = self.engine(command, *options)
            if code in (0, INTERRUPTED) or is_expired(stream.errors) or not passing.is_reported(stream.errors):
                return code, stream
            errors.print(
                f"{self.cloud.place} {passing.what}. Retrying in {pause:.0f} s, run {number} of {runs}.", **PLAIN
            )
            sleep(pause)
            options = attempts.following()
        return self.engine(command, *options)

    def require_cluster_admin(self) -> None:
        """Refuse credentials without access to the stack's cluster: `up` would create it, then fail at its objects.

        Raises
        ------
        UserError
            They have no access to the cluster, or the cloud cannot be reached.
        """
        self._account.require_cluster_admin()

    def ask(self, components: Sequence[ClusterComponent]) -> Conditions:
        """Return the condition of each component in the cloud; empty for an existing cluster.

        Raises
        ------
        UserError
            The cloud cannot be reached.
        """
        return self._account.conditions(components)

    def backup_problem(self) -> str:
        """Return why the cloud makes no backups although the stack requests them, else empty. Raises as ``ask``."""
        return self._account.backup_problem()

    def left(self) -> "list[CloudResource]":
        """Return everything in the cloud with the stack's tags or of its cluster. Raises as ``ask``."""
        return self._account.tagged_resources()

    def foreign_resources(self, deployment: Mapping[str, Any]) -> list[Blocker]:
        """Return resources of other owners that the cloud would delete with those of a deployment.

        Raises
        ------
        UserError
            The cloud cannot be reached.
        """
        recorded = {str(each["id"]) for each in deployment.get("resources") or () if each.get("id")}
        return self._account.foreign_resources(recorded)

    @cached_property
    def _account(self) -> "Account":
        from workbench.recovery.cloud import open_account  # noqa: PLC0415 - the cloud's SDK comes with it

        return open_account(self.stack.name, self.stack.config.cluster)

    def judge(self, components: Sequence[ClusterComponent], conditions: Conditions) -> Judgement:
        """Judge the change that the stack file asks for; prints findings that do not block it."""
        found = judge(self.cloud, components, conditions, lambda: self._account.way_back())  # noqa: PLW0108 lazy
        for note in found.notes:
            errors.print(f"note: {note}", **PLAIN)
        return found

    def refresh(self, before: Mapping[str, Any], *, fail_unreachable: bool = True) -> dict[str, Any]:
        """Refresh the state from the live resources, print the differences, and return the state.

        Parameters
        ----------
        before
            The deployment before.
        fail_unreachable
            Fail if a cluster does not answer, whatever the user set: otherwise its objects would count as deleted.

        Raises
        ------
        UserError
            The engine failed; nothing but the state may have changed.
        typer.Exit
            Ctrl-C stopped it.
        """
        fixed = FAIL_UNREACHABLE if fail_unreachable else {}
        session = replace(self.session, environment={**self.session.environment, **fixed})
        with errors.status("comparing the state with the live resources"):
            run = recorded(session, "refresh", "--yes", "--skip-preview", "--run-program=false")
        if run.code == INTERRUPTED:
            raise typer.Exit(INTERRUPTED)
        stream = event_stream.read(run.events)
        if run.code:
            is_said_by_each_object = is_unreachable(stream.errors)
            said = "".join(f"{each}\n" for each in stream.errors) if is_said_by_each_object else run.display
            errors.print(said, end="", **PLAIN)
            way = self.advice([*stream.errors, run.display]) or _REFRESH
            raise UserError(f"The state of '{self.stack.name}' could not be compared with the live resources.", way)
        after = self.state()
        for line in _written(stream, before, after):
            errors.print(line, **PLAIN)
        return after

    def require_an_answer(self, deployment: Mapping[str, Any]) -> None:
        """Refuse to wait for an API that does not answer.

        Raises
        ------
        UserError
            The deployment has Kubernetes objects, and their API does not answer.
        """
        if not self.existing and (silent := silent_api(deployment)):
            raise UserError(
                f"The Kubernetes API of '{self.stack.name}' does not answer this machine at {silent}.",
                f"Nothing changed. {self.way_in}",
            )

    def advice(self, errors: Sequence[str]) -> str:
        """Return what to do about errors whose remedy is elsewhere; empty if they have none."""
        if is_expired(errors):
            return self.after_expiry
        return self.way_in if is_unreachable(errors) else ""

    @property
    def way_in(self) -> str:
        """What to do if the Kubernetes API does not answer."""
        run_again = f"then `igz-clusters up {self.stack.name}` continues"
        return f"{self.cloud.api_clients} Check {self.cloud.ways_in}; {run_again}.".lstrip()

    @property
    def after_expiry(self) -> str:
        """What to do if the credentials expired during the run."""
        name = self.stack.name
        return (
            f"The session at {self.cloud.place} expired. Start one that lasts longer than the work (about an hour for "
            f"a first cluster): {self.cloud.new_session}. Then run `igz-clusters recover {name}` and this command "
            "again: completed work is saved."
        )


_REFRESH: Final = "Fix the error above, then run this again. Only the state may have changed."


def started(stack: stacks.Stack, *, hermetic: bool, events: Path | None, lock: int | None = None) -> CloudRun:
    """Return a run on ``stack`` with its tools ready; without the stack's lock it must change nothing.

    Verifies the identity of an existing cluster.
    """
    with progress(errors) as report:
        session = cloud_session(stack, ensure(cloud.TOOLS, hermetic=hermetic, progress=report), lock)
    return CloudRun(session, events, open_existing(stack, session.whole_environment()))


@contextmanager
def changing(stack: stacks.Stack, command: str, *, hermetic: bool, events: Path | None) -> Iterator[CloudRun]:
    """Yield a run that holds the stack's lock on this machine.

    Raises
    ------
    UserError
        Another run, or processes of a killed run, hold the lock.
    """
    with stack_lock(stack.name, command, stack.file) as lock:
        yield started(stack, hermetic=hermetic, events=events, lock=lock)


def _written(stream: Stream, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each difference that a refresh wrote into the state."""
    for change, _ in changes_of(stream):
        where = ", ".join(each.path for each in change.properties)
        what = f"{change.operation} {change.name} ({change.type}){where and f': {where}'}"
        yield f"Updated in the state from the live resources: {what}"
    sizes = {component.key: _size(component) for component in components_of_state(before)}
    for component in components_of_state(after):
        was, size = sizes.get(component.key), _size(component)
        if was is not None and size is not None and was != size:
            yield f"Updated in the state from the live resources: {component} has {size} nodes, had {was}."


def _size(component: ClusterComponent) -> int | None:
    return component.sizes.size if isinstance(component, Group) and component.sizes else None
