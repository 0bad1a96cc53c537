"""Whether an update of a local stack would change nothing, so that its plan is enough.

The plan compares inputs, outputs and live objects. It does not show everything that the state keeps, such as the order
of dependencies, which the program decides: so program and choices must also be those of the last finished update.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from workbench.report.event_payloads import Step
from workbench.report.events import Stream
from workbench.stacks import Stack
from workbench.system.files import write_private
from workbench.system.paths import PRIVATE, PROJECT_ROOT, data_dir

_PROGRAM: Final = ("infra", "components")
_PINS: Final = ("requirements.txt", "Pulumi.yaml")


def changes_nothing(plan: Stream) -> bool:
    """Return whether a plan is complete and leaves every resource, and every output, as the state has it."""
    is_whole = plan.summary is not None and not plan.invalid_lines
    return is_whole and not plan.failures and all(_is_unchanged(step) for step in (*plan.steps, *plan.results))


def _is_unchanged(step: Step) -> bool:
    before, after = step.old, step.new
    if step.op == "refresh":
        # Every command refreshes again, so a changed status needs no update; a deleted object does.
        return after is not None
    if step.op != "same" or before is None or after is None or before.protect != after.protect:
        return False
    # Before a step the engine does not know the outputs yet.
    return before.inputs == after.inputs and (before.outputs == after.outputs or not after.outputs)


def is_as_updated(stack: Stack) -> bool:
    """Return whether program and choices are those of the stack's last finished update."""
    try:
        return _file(stack).read_text(encoding="utf-8") == _signature(stack)
    except (OSError, UnicodeDecodeError):
        return False


@contextmanager
def noting_update(stack: Stack) -> Iterator[None]:
    """Update a stack in this context; if it succeeds, record the program and choices that it started with.

    If they cannot be recorded, the next `up` repeats the update.
    """
    file = _file(stack)
    file.unlink(missing_ok=True)
    before = None
    with suppress(OSError):  # an editor's temporary file may vanish between its listing and its reading
        before = _signature(stack)
    yield
    if before:
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True, mode=PRIVATE)
            write_private(file, before)


def _file(stack: Stack) -> Path:
    return data_dir() / "updates" / f"{stack.name}.sha256"


def _signature(stack: Stack) -> str:
    digest = hashlib.sha256(json.dumps(stack.document, sort_keys=True, default=str).encode())
    sources = [file for folder in _PROGRAM for file in (PROJECT_ROOT / folder).rglob("*") if _is_source(file)]
    for file in sorted([*sources, *(PROJECT_ROOT / name for name in _PINS)]):
        digest.update(f"{file.relative_to(PROJECT_ROOT)}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _is_source(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts
