"""A program that runs in this process leaves nothing to the next, however it ends."""

import asyncio
from typing import Any

import pytest
from pulumi.runtime import mocks

from workbench.offline.recorder import run_program


class Nothing(mocks.Mocks):
    """Answers nothing."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        raise AssertionError(args)

    def call(self, args: mocks.MockCallArgs) -> Any:
        raise AssertionError(args)


def test_tasks_of_a_failed_program_are_cancelled() -> None:
    started = list[asyncio.Task[None]]()

    async def wait() -> None:
        await asyncio.Event().wait()

    def fail() -> None:
        started.append(asyncio.get_running_loop().create_task(wait()))
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 its own
        run_program(fail, mocks.MockMonitor(Nothing()), project="project", stack="stack", is_preview=True)
    assert [task.cancelled() for task in started] == [True]
