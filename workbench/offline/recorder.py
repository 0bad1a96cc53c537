"""Runs a Pulumi program in this process, with a replacement for the engine."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pulumi
from pulumi.runtime import mocks, resource
from pulumi.runtime.proto import source_pb2
from pulumi.runtime.settings import SETTINGS, _get_rpc_manager, get_root_resource, set_root_resource
from pulumi.runtime.stack import Stack, run_pulumi_func


def run_program(
    program: Callable[[], None], monitor: mocks.MockMonitor, *, project: str, stack: str, is_preview: bool
) -> dict[str, Any]:
    """Run ``program`` to its end and return the stack's outputs; unknown ones are None.

    Parameters
    ----------
    program
        Declares resources and outputs.
    monitor
        Answers the program's requests to the engine.
    project, stack
        Names.
    is_preview
        Whether the program sees a preview, in which values may be unknown.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    set_root_resource(None)  # type: ignore[arg-type]  # the one of an earlier run has that run's name and outputs
    mocks.set_mocks(monitor.mocks, project=project, stack=stack, preview=is_preview, monitor=monitor)
    root = get_root_resource()
    assert isinstance(root, Stack)  # noqa: S101 - `set_mocks` makes it
    root._transformations = [_without_aliases]  # noqa: SLF001 - a public call would need a running loop

    async def run() -> dict[str, Any]:
        await run_pulumi_func(program)
        return await pulumi.Output.all(**root.outputs).future(with_unknowns=False) or {}

    try:
        with _without_positions():
            return loop.run_until_complete(run())
    except Exception:
        # Outputs that a failed program leaves pending would block the next program.
        SETTINGS.outputs.clear()
        _get_rpc_manager().clear()
        raise
    finally:
        _close(loop)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what a failed program left in a loop and close the loop, which holds three file descriptors."""
    if left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.wait(left))
    loop.close()


@contextmanager
def _without_positions() -> Iterator[None]:
    """Spare the SDK the search for the line that declares each resource, which is not used here.

    It reads the source of every frame of the stack: a third of a program's time below the command line.
    """
    own = resource._get_stack_trace  # noqa: SLF001 - the SDK has no switch
    resource._get_stack_trace = source_pb2.StackTrace  # noqa: SLF001
    try:
        yield
    finally:
        resource._get_stack_trace = own  # noqa: SLF001


def _without_aliases(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
    """Drop aliases, which only a state needs: those of Azure's SDK would take most of a program's time."""
    args.opts.aliases = None
    return pulumi.ResourceTransformationResult(args.props, args.opts)
