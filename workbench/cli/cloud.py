"""`up` and `preview` for a stack in a cloud."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from components.contract.live_sizes import LIVE_SIZES_VARIABLE, dump
from components.contract.policy_guard import PolicyGuard
from workbench import stacks
from workbench.cli import engine_run
from workbench.cli.cloud_run import AS_REFRESHED, CloudRun, changing, started
from workbench.cli.console import PLAIN, errors, leave
from workbench.cli.emptying import empty_if_replaced
from workbench.cli.guard import guard
from workbench.cli.held_ingresses import ingress_blockers
from workbench.cli.namespaces import wait_for_half_deleted
from workbench.cli.node_upgrades import upgrade_blockers
from workbench.cli.sleeping import require_awake
from workbench.cli.takeover import with_entered
from workbench.engine import INTERRUPTED, Session
from workbench.engine.after_update import PATIENCE_DEGRADED, component_problems, settled
from workbench.engine.asleep import closing_note, sleep_in
from workbench.engine.attempts import Attempts
from workbench.engine.cloud import deployment_of
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import ClusterComponent, Group, condition
from workbench.engine.cluster_components import cluster_of, components_of_plan, components_of_state
from workbench.engine.collisions import created_by
from workbench.engine.error_classification import (
    is_busy,
    is_expired,
    is_name_taken,
    is_outcome_unknown,
    is_unreachable,
    is_zone_refused,
)
from workbench.engine.passing import PROPAGATING
from workbench.engine.upgrade_checks import Judgement
from workbench.report.events import Stream
from workbench.system.errors import UserError


def preview(
    stack: stacks.Stack,
    *options: str,
    hermetic: bool,
    events: Path | None,
    judged: Callable[[Session, Stream], None] | None = None,
) -> int:
    """Show what `up` would change and what it would refuse; return the engine's exit code.

    Parameters
    ----------
    judged
        Examines the plan too, and raises ``UserError`` to refuse it. Default: none.

    Raises
    ------
    UserError
        `up` would refuse the change; lists all reasons.
    """
    run, state = started(stack, hermetic=hermetic, events=events), dict[str, Any]()
    try:
        state = run.state()
    except UserError as found:
        errors.print(f"note: {found}", **PLAIN)
    run = _sized(run.looked(state), state)
    # Before the plan: its message about a protected key would explain how to remove the protection.
    _refuse(run, [*run.cloud.fixed_blockers(state)])
    sleep = sleep_in(run.cloud, state, run.ask)
    # What schedules have changed is not part of the plan, and a stopped cluster has no API to compare objects with.
    code, stream = run.engine("preview", *(AS_REFRESHED if sleep else ()), *options)
    if sleep:
        compared = "The plan compares the stack file with the state, not with live resources"
        errors.print(f"note: {sleep.note} {compared}. `up` is refused while it has no nodes.", **PLAIN)
    elif not code:
        run.require_no_collisions(stream)
        components = components_of_plan(stream)
        _require_creatable(run, components)
        judgement = run.judge(components, run.ask(components))
        _refuse(
            run,
            [*judgement.blockers, *upgrade_blockers(run, state, stream), *ingress_blockers(run, state, stream)],
        )
    if judged and not code:
        judged(run.session, stream)
    return code


def up(stack: stacks.Stack, *options: str, hermetic: bool, delete_claims: bool, events: Path | None) -> None:
    """Apply the stack file if the live resources allow it, and check the result.

    Parameters
    ----------
    delete_claims
        Whether to delete volume claims of users in a cluster that is replaced, with all data on their volumes.

    Raises
    ------
    UserError
        The live resources do not allow the change, or something is unhealthy afterwards; lists all reasons.
    typer.Exit
        The engine failed or was stopped, and its messages are printed.
    """
    with changing(stack, "up", hermetic=hermetic, events=events) as begun:
        before = begun.state()
        if not created_by(before):  # else the cluster decides: it may have more admins than the stack file
            begun.require_cluster_admin()
        if begun.existing:
            wait_for_half_deleted(begun.existing.api, stack.config.namespaces)
        judgement, live = _ready(begun, before)
        # Again: the refresh may have dropped resources that no longer exist.
        run = _sized(begun.looked(live), live)
        to_recreate = [option for component in judgement.to_recreate for option in ("--replace", component.urn)]
        plans = _guarded(run, *to_recreate)
        for plan in plans:
            _refuse(run, [*upgrade_blockers(run, live, plan), *ingress_blockers(run, live, plan)])
            empty_if_replaced(run, live, plan, yes="--yes" in options, delete_claims=delete_claims)
        for components in judgement.earlier_runs:
            errors.print(f"Changing first, in separate runs: {', '.join(map(str, components))}.", **PLAIN)
            targets = [option for component in components for option in ("--target", component.urn)]
            code, stream = CloudRun(run.session).engine("up", *targets, *options)
            _end_if_failed(run, code, stream)
        code, stream = _updated(run, *to_recreate, *options)
        _end_if_failed(run, code, stream)
        run.finish()
        left = _out_of_order(run, patience=PATIENCE_DEGRADED)
        if problem := run.backup_problem():
            left = f"{left}\n- {problem}".lstrip()
        if left:
            raise UserError(
                f"The engine finished, but '{stack.name}' is not healthy:\n{left}",
                f"Then run `igz-clusters up {stack.name}`.",
            )


def _sized(run: CloudRun, deployment: Mapping[str, Any]) -> CloudRun:
    """Return the run with the live size of each group, so that a group that replaces it starts with as many nodes."""
    sizes = {
        group.name: component.sizes.size
        for component in components_of_state(deployment)
        if isinstance(component, Group) and component.sizes
        if (group := run.cloud.groups.get(component.program_name))
    }
    environment = {**run.session.environment, LIVE_SIZES_VARIABLE: dump(sizes)}
    return replace(run, session=replace(run.session, environment=environment))


def _guarded(run: CloudRun, *options: str) -> list[Stream]:
    """Plan the change and let the guard examine the plan; return it, or nothing if none was made."""
    plans: list[Stream] = []

    def judged(plan: Stream) -> None:
        run.require_no_collisions(plan)
        plans.append(plan)

    # With the guard off nothing is planned, except on an existing cluster, which has many objects of other owners.
    # A stack whose nodes stay on an older version is planned too: EKS would upgrade them with other changes.
    is_guarded = run.stack.config.policy_guard is not PolicyGuard.OFF
    is_planned = run.existing or is_guarded or run.cloud.node_version != run.cloud.version
    guard(run.session, "up", *AS_REFRESHED, *options, judged=judged if is_planned else None)
    return plans


def _updated(run: CloudRun, *options: str) -> tuple[int, Stream]:
    """Run the engine's update; repeat it after a failed group, since AKS creates groups one after the other.

    On the next run the engine accepts the failed group as it is and continues. The final check reports the failure.
    Returns the exit code and event stream of the last run.
    """
    failed, attempts = set[str](), Attempts(options, partial(deployment_of, run.session))
    while True:
        code, stream = run.engine_again(PROPAGATING, "up", *options)
        new = [group for group in _failed_groups(run, code, stream) if group.urn not in failed]
        if not new:
            return code, stream
        failed |= {group.urn for group in new}
        errors.print(
            f"The {', the '.join(map(str, new))} failed. Continuing with the groups that waited for it.", **PLAIN
        )
        options = (*attempts.following(failed),)


def _failed_groups(run: CloudRun, code: int, stream: Stream) -> list[ClusterComponent]:
    """Return the groups that failed for good; none if anything else failed."""
    failures = {failure.urn for failure in stream.failures}
    if code in (0, INTERRUPTED) or not failures or is_expired(stream.errors):
        return []
    try:
        groups = [
            component
            for component in components_of_state(run.state())
            if isinstance(component, Group) and component.urn in failures
        ]
        found = run.ask(groups)
    except UserError:  # reported with the failure
        return []
    conditions = [condition(group, found) for group in groups]
    stay = [not (each.is_in_order or each.is_moving or each.is_lost) for each in conditions]
    # What follows a new initial group may be the deletion of the old one, on which core services still run.
    is_safe = all(stay) and not any(group.is_initial for group in groups)
    return [*groups] if len(groups) == len(failures) and is_safe else []


def _ready(run: CloudRun, before: Mapping[str, Any]) -> tuple[Judgement, Mapping[str, Any]]:
    """Refresh a stack with the state ``before``, judge the change that its file asks for; return the new state too."""
    components = components_of_state(before)
    _require_creatable(run, components)
    for note in run.cloud.creation_notes() if not cluster_of(components) else ():
        errors.print(f"note: {note}", **PLAIN)
    if not before.get("resources"):
        return Judgement(), before
    live = settled(lambda: run.ask(components), components, _waiting("before the change"))
    require_awake(run, components, live)
    if note := closing_note(run.cloud.hours):
        errors.print(f"note: {note}", **PLAIN)
    run.require_an_answer(before)
    refreshed = run.refresh(before)
    components = components_of_state(refreshed)
    judgement = run.judge(components, run.ask(components))
    _refuse(run, [*run.cloud.fixed_blockers(refreshed), *judgement.blockers])
    return judgement, with_entered(run, refreshed)


def _require_creatable(run: CloudRun, components: Sequence[ClusterComponent]) -> None:
    """Refuse a first `up` that could not finish.

    Raises
    ------
    UserError
        There is no cluster yet, and the stack file lacks settings that its creation needs; lists all of them.
    """
    problems = [] if cluster_of(components) else run.stack.config.creation_problems
    if problems:
        listed = "\n".join(f"- {'.'.join(map(str, problem.path))}: {problem.message}" for problem in problems)
        file = stacks.shown_path(run.stack.file)
        raise UserError(
            f"The first `up` of '{run.stack.name}' could not finish with {file}:\n{listed}",
            f"Nothing changed in {run.cloud.place}. {run.cloud.page} has the steps.",
        )


def _refuse(run: CloudRun, blockers: Sequence[Blocker]) -> None:
    if not blockers:
        return
    count = "1 problem blocks" if len(blockers) == 1 else f"{len(blockers)} problems block"
    listed = "\n".join(map(str, blockers))
    file = stacks.shown_path(run.stack.file)
    raise UserError(
        f"{count} `up`, comparing {file} with the live resources:\n{listed}",
        f"Nothing changed in {run.cloud.place}.",
    )


def _end_if_failed(run: CloudRun, code: int, stream: Stream) -> None:
    """End after a failure of the engine, with advice that its own messages lack."""
    name = run.stack.name
    if not code:
        return
    if code == INTERRUPTED:
        engine_run.say_stopped(run.session)
        raise typer.Exit(code)
    if is_expired(stream.errors):
        raise UserError(f"The engine could not finish '{name}'.", run.after_expiry)
    if not _only_planned(stream):
        _tell_what_failed(run, stream)
    leave(code)


def _only_planned(stream: Stream) -> bool:
    """Return whether the run ended before any change: the plan failed or was declined."""
    return bool(stream.summaries) and all(summary.is_preview for summary in stream.summaries)


def _tell_what_failed(run: CloudRun, stream: Stream) -> None:
    name = run.stack.name
    try:
        left = _out_of_order(run, patience=0)
    except UserError as found:  # the check itself must not hide the failure
        left = str(found)
    if left:
        errors.print(f"Not healthy in '{name}':\n{left}", **PLAIN)
    if is_outcome_unknown(stream.errors):
        way = f"Run `igz-clusters recover {name}` before `up`, or `up` creates the resource a second time."
        errors.print(f"The provider exited before reporting a result. {way}", **PLAIN)
    if is_unreachable(stream.errors):
        errors.print(f"The Kubernetes API does not answer this machine. {run.way_in}", **PLAIN)
    if is_busy(stream.errors):
        errors.print(f"{run.cloud.service} was busy with another operation. Wait until that is finished.", **PLAIN)
    if is_name_taken(stream.errors):
        # It belongs to another owner, or an earlier call created it and the response was lost.
        way = f"`igz-clusters recover {name}` adds it to the state"
        errors.print(f"If the existing resource belongs to this stack, {way}.", **PLAIN)
    if is_zone_refused(stream.errors):
        way = f"Run `igz-clusters destroy {name}`, choose other letters in cluster.zones, then run `up` again"
        errors.print(f"{run.cloud.service} has no control planes in one of the zones of your account. {way}.", **PLAIN)
        return
    errors.print(f"Completed work is saved. Fix the cause, then `igz-clusters up {name}` continues.", **PLAIN)


def _out_of_order(run: CloudRun, *, patience: float) -> str:
    """Return everything that is unhealthy after an update; empty if nothing is."""
    components = components_of_state(run.state())
    found = settled(
        lambda: run.ask(components),
        components,
        _waiting("for the changed resources"),
        may_change=lambda condition: condition.may_pass,
        patience=patience,
    )
    return "\n".join(map(str, component_problems(components, found)))


def _waiting(what: str) -> Callable[[str], None]:
    """Return a function that prints a line when there is something new to wait for."""
    said = set[str]()

    def show(components: str) -> None:
        if components not in said:
            errors.print(f"Waiting {what}: {components}.", **PLAIN)
            said.add(components)

    return show
