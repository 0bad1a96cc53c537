"""`igz-clusters up`, `preview` and `destroy`."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from components.contract.labels import LabelKey
from components.contract.policy_guard import PolicyGuard
from infra.config.warnings import warnings_of
from workbench import stacks
from workbench.cli import cloud, cloud_destroy, engine_run
from workbench.cli.console import PLAIN, errors, leave, out
from workbench.cli.emptying import CLAIMS_OPTION
from workbench.cli.engine_run import Verbose
from workbench.cli.guard import guard, refuse_losses
from workbench.cli.namespaces import wait_for_half_deleted
from workbench.cli.options import AsJson, Events, Hermetic, StackName, Yes
from workbench.cli.recover import refuse_unless_in_order
from workbench.cli.status import status_of
from workbench.engine import INTERRUPTED, Session, open_session, pool_status, render, unchanged
from workbench.engine.backend import StateFiles
from workbench.engine.collisions import collisions, created_by, objects_to_create
from workbench.engine.conflict import require_none
from workbench.engine.kubectl import Api
from workbench.engine.lock import held_by, held_elsewhere, stack_lock
from workbench.engine.lost_pods import lost_pods
from workbench.local import Instance
from workbench.recovery import state_findings
from workbench.report.changes import Changed
from workbench.report.events import Stream
from workbench.report.pools import Groups
from workbench.stacks import project, stack_ownership
from workbench.system.errors import UserError
from workbench.system.installation import is_from_wheel
from workbench.system.paths import FOLDER_VARIABLE, require_space
from workbench.toolchain import Toolchain, ensure
from workbench.toolchain.console import progress

DeleteClaims = Annotated[
    bool,
    typer.Option(
        CLAIMS_OPTION,
        help="In a cloud, if the cluster is deleted or replaced: also delete volume claims that users created, with "
        "all data on their volumes.",
    ),
]


RequireApprovals = Annotated[
    bool,
    typer.Option(
        "--require-approvals",
        help="Refuse to destroy protected resources without an approval, whatever policyGuard says.",
    ),
]


@dataclass(frozen=True)
class _Ready:
    """A local stack with its tools built and its control plane running."""

    stack: stacks.Stack
    instance: Instance
    toolchain: Toolchain
    session: Session

    @property
    def api(self) -> Api:
        """Access to the cluster."""
        return Api(self.toolchain.path("kubectl"), self.instance.kubeconfig, os.environ)


@contextmanager
def _changing(stack: stacks.Stack, command: str, *, hermetic: bool) -> Iterator[_Ready]:
    """Lock a stack for a change, after checking that no killed run left it damaged."""
    with stack_lock(stack.name, command) as lock:
        _claim(stack)
        refuse_unless_in_order(stack.name)
        yield _prepare(stack, command, hermetic=hermetic, lock=lock)


def _prepare(stack: stacks.Stack, command: str, *, hermetic: bool, lock: int | None = None) -> _Ready:
    """Start a stack's control plane; without the stack's ``lock`` it must not stop that of a run elsewhere."""
    require_space()
    with progress(errors) as report:
        toolchain = ensure(hermetic=hermetic, progress=report)
    instance = Instance(stack.name)
    if instance.start(toolchain, alone=partial(stack_lock, stack.name, command) if lock is None else nullcontext):
        errors.print(f"Local control plane '{instance.name}' started.")
    return _Ready(stack, instance, toolchain, open_session(stack, toolchain, instance.kubeconfig, lock))


def _run(ready: _Ready, command: str, *options: str, events: Path | None) -> None:
    """Change a stack whose lock we hold; exit with the engine's exit code if it fails."""
    code, _ = engine_run.run(ready.session, command, *options, events_file=events)
    files = StateFiles(ready.stack.name)
    files.drop_stale_locks()  # an interrupted engine may leave its own lock
    if not code:
        files.drop_old_copies()
        return
    if state_findings(ready.stack.name):
        errors.print(
            f"The run left the state incomplete: `igz-clusters recover {ready.stack.name}` repairs it.", style="bold"
        )
    elif code == INTERRUPTED:
        errors.print("Stopped. Completed work is saved; the same command continues.", style="bold")
    leave(code)


def _lost_pods(ready: _Ready, declared: Groups) -> list[Changed]:
    """Return what would end in the running cluster if only these groups remained."""
    deployment = StateFiles(ready.stack.name).deployment()
    try:
        recorded = pool_status.recorded_groups(deployment)
    except UserError as unreadable:  # only an update rewrites the record
        errors.print(f"note: {unreadable.message} So nodes and running pods are not checked.", **PLAIN)
        return []
    return lost_pods(recorded, declared, ready.api)


def _declared(stack: stacks.Stack) -> Groups:
    return pool_status.declared_groups(stack.config)


def _update(ready: _Ready, events: Path | None) -> None:
    """Plan the update of a local stack, and apply it unless it changes nothing."""
    plans: list[Stream] = []

    def judged(plan: Stream) -> None:
        created = created_by(StateFiles(ready.stack.name).deployment())
        require_none(ready.stack.name, collisions(ready.api, objects_to_create(plan), created))
        plans.append(plan)

    display = guard(ready.session, "up", judged=judged, live_losses=_lost_pods(ready, _declared(ready.stack)))
    is_done = unchanged.changes_nothing(plans[0]) and unchanged.is_as_updated(ready.stack)
    if is_done and not events:  # --events must write those of an update
        if os.environ.get(engine_run.VERBOSE_VARIABLE):
            out.print(f"{display.rstrip()}\n", **PLAIN)
        else:
            engine_run.summarise(ready.session, "up", 0, plans[0], "")
        return
    with unchanged.noting_update(ready.stack):
        _run(ready, "up", "--yes", "--skip-preview", "--suppress-outputs", events=events)
    with errors.status("waiting until the API server can admit user pods"):
        ready.instance.wait_for_admission()


def _claim(stack: stacks.Stack) -> None:
    """Refuse a stack whose name another stack file owns on this machine."""
    if moved := stack_ownership.claim(stack):
        errors.print(moved, markup=False, highlight=False, soft_wrap=True)


def up(  # noqa: PLR0913 - its options
    stack: StackName = "local",
    *,
    hermetic: Hermetic = False,
    yes: Yes = False,
    delete_claims: DeleteClaims = False,
    require_approvals: RequireApprovals = False,
    events: Events = None,
    _verbose: Verbose = False,
) -> None:
    """Create or update a stack, with the policy packs attached.

    Running it again changes nothing. Unless policyGuard is off, it plans first and stops if the plan destroys
    protected resources without an approval.

    Local stack: builds missing tools, starts the control plane, does not ask, and shows the pools at the end. Stack in
    a cloud: uses your Pulumi login and credentials, shows the plan, and asks. If it replaces the cluster, it first
    deletes the load balancers that users created there.
    """
    found = _guarded(stacks.find(stack), require_approvals=require_approvals)
    project.require_ours()
    for problem in warnings_of(found.config):
        errors.print(f"warning: {'.'.join(map(str, problem.path))}: {problem.message}", **PLAIN)
    if not found.is_local:
        cloud.up(found, *_unasked(yes=yes), hermetic=hermetic, delete_claims=delete_claims, events=events)
        return
    _refuse_claims(delete_claims=delete_claims)
    with _changing(found, "up", hermetic=hermetic) as ready:
        wait_for_half_deleted(ready.api, found.config.namespaces)
        _update(ready, events)
    pool_status.show(pool_status.settled(lambda: status_of(found)), out)
    _next_steps(ready)


def preview(  # noqa: PLR0913 - its options
    stack: StackName = "local",
    *,
    hermetic: Hermetic = False,
    as_json: AsJson = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show every changed property.")] = False,
    offline: Annotated[
        bool, typer.Option("--render", help="Plan from an empty state: needs no account, cluster, state or network.")
    ] = False,
    require_approvals: RequireApprovals = False,
    events: Events = None,
    _verbose: Verbose = False,
) -> None:
    """Show what `up` would change; change nothing.

    The policy packs are attached.
    """
    options = [*(["--json"] if as_json else []), *(["--diff"] if diff else [])]
    if offline:
        leave(_render(stack, options, hermetic=hermetic, events=events))
    found = _guarded(stacks.find(stack), require_approvals=require_approvals)
    project.require_ours()
    judged = refuse_losses if require_approvals else None
    if not found.is_local:
        code = cloud.preview(found, *options, hermetic=hermetic, events=events, judged=judged)
        leave(code)
    _claim(found)
    ready = _prepare(found, "preview", hermetic=hermetic)
    _note_the_state(stack)
    code, plan = engine_run.run(ready.session, "preview", *options, events_file=events)
    lost = _lost_pods(ready, _declared(found))
    for change, kind in lost:
        errors.print(f"note: `up` would delete the {kind} {change.name}: {change.carries_state}.", **PLAIN)
    if judged and not code:
        judged(ready.session, plan, lost)
    leave(code)


def _guarded(stack: stacks.Stack, *, require_approvals: bool) -> stacks.Stack:
    choices = {"policy_guard": PolicyGuard.REQUIRED} if require_approvals else {}
    return replace(stack, config=stack.config.model_copy(update=choices))


def _render(name: str, options: list[str], *, hermetic: bool, events: Path | None) -> int:
    stack = stacks.find(name)  # before the build: a mistake in the stack file must be cheap
    with progress(errors) as report:
        toolchain = ensure(render.TOOLS, hermetic=hermetic, progress=report)
    errors.print(render.LABEL, highlight=False, soft_wrap=True)
    with render.rendering(stack, toolchain) as session:
        code, _ = engine_run.run(session, "preview", *options, events_file=events)
        summary = session.summary
    for line in summary.lines:
        errors.print(line, markup=False, highlight=False, soft_wrap=True)
    return code or (1 if summary.refused else 0)


def destroy(
    stack: StackName = "local",
    *,
    hermetic: Hermetic = False,
    yes: Yes = False,
    delete_claims: DeleteClaims = False,
    events: Events = None,
    _verbose: Verbose = False,
) -> None:
    """Delete everything that a stack created.

    Unless policyGuard is off, it stops if the plan destroys protected resources without an approval. The local control
    plane keeps running. In a cloud it first deletes the load balancers that users created in the cluster, and lists
    what is left at the end.
    """
    found = _to_destroy(stack)
    if not found.is_local:
        cloud_destroy.destroy(found, hermetic=hermetic, yes=yes, delete_claims=delete_claims, events=events)
        return
    _refuse_claims(delete_claims=delete_claims)
    with _changing(found, "destroy", hermetic=hermetic) as ready:
        guard(ready.session, "destroy", live_losses=_lost_pods(ready, {}))
        _run(ready, "destroy", *_unasked(yes=yes), events=events)
        stack_ownership.release(ready.stack)


def _to_destroy(name: str) -> stacks.Stack:
    """Return a stack; the error about its file says how to destroy one that an earlier release accepted."""
    try:
        return stacks.find(name)
    except stacks.StackFileError as error:
        way = (
            "`destroy` deletes what the state has and applies nothing: put any allowed values in place of these, but "
            "keep the cluster's kind, name, region and account."
        )
        error.hint = f"{error.hint} {way}".strip()
        raise


def _refuse_claims(*, delete_claims: bool) -> None:
    if delete_claims:
        raise typer.BadParameter("a local cluster has no volumes in a cloud", param_hint=CLAIMS_OPTION)


def local_environment(stack: stacks.Stack, *, hermetic: bool) -> dict[str, str]:
    """Return the variables for plain `pulumi` and `kubectl` on a local stack; starts its control plane."""
    _claim(stack)
    ready = _prepare(stack, "env", hermetic=hermetic)
    return {**ready.session.exported(), "KUBECONFIG": str(ready.instance.kubeconfig)}


def _unasked(*, yes: bool) -> list[str]:
    return ["--yes"] if yes else []


def _note_the_state(stack: str) -> None:
    """Print why a preview may differ from the next update."""
    if (held := held_by(stack)).is_running:
        note = f"note: {held.run} is changing this stack; the preview may be out of date."
        errors.print(note, soft_wrap=True)
    elif elsewhere := held_elsewhere(stack):
        errors.print(f"note: {elsewhere.message} The preview may be out of date.", soft_wrap=True)
    else:
        for finding in state_findings(stack):
            errors.print(f"note: {finding.found} Run `igz-clusters recover {stack}`.", soft_wrap=True)


def _next_steps(ready: _Ready) -> None:
    name = "" if ready.stack.name == "local" else f" {ready.stack.name}"
    file = _shell(Path(os.path.relpath(ready.stack.file)))
    edit = f"edit {file}"
    if is_from_wheel(ready.stack.file.parent):
        edit = f"copy {file} to a folder of yours, go there, edit the copy"
    kubectl, command = _shell(ready.toolchain.path("kubectl")), _own_command()
    out.print(
        f"""
  look    {kubectl} --kubeconfig={_shell(ready.instance.kubeconfig)} get nodes -L {LabelKey.POOL}
          {command} status{name}
  change  {edit}, then {command} preview{name}, {command} up{name}
  stop    {command} local stop {ready.instance.name}   (keeps the data; up restarts the same cluster)
  remove  {command} destroy{name}""",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _own_command() -> str:
    """Return this command as the user can type it in the current shell."""
    command = "igz-clusters" if shutil.which("igz-clusters") else _shell(Path(os.path.relpath(sys.argv[0])))
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen is None or Path(chosen).resolve() == Path.cwd():
        return command
    return f"{command} -C {_shell(Path(os.path.relpath(chosen)))}"


def _shell(path: Path) -> str:
    return shlex.quote(str(path))
