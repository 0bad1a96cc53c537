"""`igz-clusters status`: the pools of a stack, desired, recorded and live."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

import typer

from workbench import stacks
from workbench.cli.access import Access, access
from workbench.cli.console import out
from workbench.cli.options import AsJson, Hermetic, StackName
from workbench.engine.asleep import Sleep
from workbench.engine.clouds.find import cloud_of
from workbench.engine.pool_status import (
    Condition,
    Status,
    asleep,
    declared_groups,
    live_groups,
    recorded_groups,
    rested,
    show,
)
from workbench.recovery.silence import api_sleep
from workbench.stacks import Stack
from workbench.system.errors import UserError

WATCH_SECONDS: Final = 2.0
"""Pause between two checks with ``--watch``."""

NOTHING: Final = 3
"""Exit code if there is no cluster to look at: not created, destroyed, stopped, or it does not answer."""


def status(
    stack: StackName = "local",
    *,
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it again after each change until Ctrl-C.")] = False,
    hermetic: Hermetic = False,
) -> None:
    """Show the pools of a stack: desired, recorded and live.

    Works for every kind of cluster. `stack file` is what the file declares now, `recorded` is what the last `up`
    applied, `nodes` and `ready` are counted in the cluster. Exit code 0: the cluster answered, or it
    sleeps outside its office hours; 3: it is not created, destroyed, stopped, does not answer, or sleeps within them.
    """
    shown = None
    while True:
        found = status_of(stacks.find(stack), hermetic=hermetic)
        if found != shown:
            _print(found, as_json=as_json, is_watched=watch)
            shown = found
        if not watch:
            raise typer.Exit(0 if found.condition in (Condition.UP, Condition.ASLEEP) else NOTHING)
        time.sleep(WATCH_SECONDS)


def status_of(stack: Stack, *, hermetic: bool = False, entered: Access | None = None) -> Status:
    """Return the status of a stack.

    Parameters
    ----------
    stack
        The stack.
    hermetic
        Use the pinned engine even if ``pulumi`` is on PATH.
    entered
        Access to its cluster. Default: determined here.
    """
    found = entered or access(stack, hermetic=hermetic)
    config = stack.config
    status = Status(
        stack=stack.name,
        environment=config.environment.value,
        kind=config.cluster.kind,
        condition=found.condition,
        note=found.note,
        declared=declared_groups(config),
        recorded=recorded_groups(found.deployment),
    )
    if not found.api:
        return status
    try:
        live = replace(status, live=live_groups(found.api, found.deployment))
    except UserError as error:
        silent = replace(status, condition=Condition.UNREACHABLE, note=str(error))
        return asleep(silent, _sleep(stack, found.deployment))
    return rested(live, cloud_of(stack.name, config).hours)


def _sleep(stack: Stack, deployment: Mapping[str, Any]) -> Sleep | None:
    """Return the sleep of a cluster whose API does not answer; None if the cloud does not say that it sleeps."""
    try:
        return api_sleep(stack, lambda: deployment)
    except UserError:  # the cluster itself may answer others
        return None


def _print(found: Status, *, as_json: bool, is_watched: bool) -> None:
    if as_json and is_watched:
        out.print_json(json.dumps(found.as_json()), indent=None)  # a line each, for programs that read on
    elif as_json:
        out.print_json(json.dumps(found.as_json()))
    else:
        if is_watched and out.is_terminal:
            out.clear()
        show(found, out)
