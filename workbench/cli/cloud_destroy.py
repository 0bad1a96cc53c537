"""`destroy` for a stack in a cloud: deletes what users created in the cluster first, and lists what is left."""

from pathlib import Path
from typing import Any

from workbench import stacks
from workbench.cli import engine_run
from workbench.cli.cloud_run import AS_REFRESHED, CloudRun, changing
from workbench.cli.console import PLAIN, errors, leave
from workbench.cli.emptying import CLAIMS_OPTION, empty_cluster, listed
from workbench.cli.guard import guard
from workbench.cli.sleeping import require_awake
from workbench.engine import INTERRUPTED
from workbench.engine.cluster_components import components_of_state
from workbench.engine.destroying import deletion_blockers, objects_of
from workbench.engine.error_classification import is_expired
from workbench.engine.in_cluster import Kubectl
from workbench.engine.passing import STILL_IN_USE
from workbench.existing import Existing
from workbench.system.errors import UserError


def destroy(stack: stacks.Stack, *, hermetic: bool, yes: bool, delete_claims: bool, events: Path | None) -> None:
    """Delete everything that a stack created, in an order that the cloud accepts, and list what is left.

    Parameters
    ----------
    delete_claims
        Whether to delete volume claims of users too, with all data on their volumes.

    Raises
    ------
    UserError
        Something blocks the deletion; lists everything that does, and the steps.
    typer.Exit
        The engine failed or was stopped, and its messages are printed.
    """
    with changing(stack, "destroy", hermetic=hermetic, events=events) as run:
        state = run.state()
        if state.get("resources"):
            if run.cloud.hours:
                components = components_of_state(state)
                require_awake(run, components, run.ask(components))
            state = run.refresh(state, fail_unreachable=False)
            _refuse_what_is_kept(run, state)  # first: the engine cannot plan the deletion of protected resources
            guard(run.session, "destroy", *AS_REFRESHED)
            empty_cluster(run, state, yes=yes, delete_claims=delete_claims)
            _refuse_lost_claims(run, state, delete_claims=delete_claims)
        code = _destroyed(run, ["--yes"] if yes else [])
        if run.existing:
            _give_back(run.existing, is_done=not code)
        else:
            _name_the_rest(run)
    if code:
        leave(code)


def _refuse_what_is_kept(run: CloudRun, state: dict[str, Any]) -> None:
    if found := [*deletion_blockers(state, run.stack.name), *run.foreign_resources(state)]:
        blockers = "\n".join(map(str, found))
        raise UserError(f"'{run.stack.name}' cannot be destroyed yet:\n{blockers}", "Nothing was deleted.")


def _refuse_lost_claims(run: CloudRun, state: dict[str, Any], *, delete_claims: bool) -> None:
    """Refuse to delete namespaces with volume claims of users in a cluster that stays."""
    if not run.existing or delete_claims:
        return
    ours = objects_of(state)
    to_delete = {name for kind, _, name in ours if kind == "namespace"}
    api = run.existing.api
    found = Kubectl(api.program, api.kubeconfig, api.environment, api.context).contents(ours).claims
    if lost := [claim for claim in found if claim.namespace in to_delete]:
        raise UserError(
            f"Volume claims in namespaces of this stack hold data that would be lost:\n{listed(lost)}\n"
            "Nothing was deleted.",
            f"Back up the data you need, then add {CLAIMS_OPTION}.",
        )


def _give_back(existing: Existing, *, is_done: bool) -> None:
    """Remove our taints from the nodes, after the engine removed our labels."""
    if is_done:
        for line in existing.drop_taints():
            errors.print(f"Changed {line}", **PLAIN)
        errors.print("Nodes, classes and namespaces of other owners are unchanged.", **PLAIN)


def _destroyed(run: CloudRun, options: list[str]) -> int:
    """Run the engine's deletion, and return its exit code."""
    code, stream = run.engine_again(STILL_IN_USE, "destroy", *options)
    if code == INTERRUPTED:
        engine_run.say_stopped(run.session)
    elif code and is_expired(stream.errors):
        raise UserError(f"The engine could not finish '{run.stack.name}'.", run.after_expiry)
    return code


def _name_the_rest(run: CloudRun) -> None:
    """List everything in the cloud that still has the stack's tags."""
    name = run.stack.name
    try:
        left = run.left()
    except UserError as error:
        errors.print(f"Cannot check what is left: {error}", **PLAIN)
        return
    kept, others = (
        "\n".join(f"- {each.removal}" for each in left if bool(each.kept) is is_kept) for is_kept in (True, False)
    )
    if kept:
        errors.print(f"Kept with the backups of '{name}', and how to delete each:\n{kept}", **PLAIN)
    if others:
        errors.print(f"Resources left with the tags of '{name}', and how to delete each:\n{others}", **PLAIN)
    else:
        errors.print(f"No {'other ' if kept else ''}resource with the tags of '{name}' is left.", **PLAIN)
