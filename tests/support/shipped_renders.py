"""Digests of what the shipped stacks plan, so that a review sees which resources a change of the program changes.

``tests/renders/STACK.txt`` has a line for each resource that a first preview declares: type, logical name, and a
digest of its inputs and options. ``python -m support.shipped_renders`` in ``tests`` renews the files.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from infra.config import StackConfig
from infra.program import run
from support.existing import sighting_of
from support.recorder import Options, Recorder, record
from workbench.stacks import find, stack_files
from workbench.system.paths import PROJECT_ROOT

FOLDER: Final = PROJECT_ROOT / "tests" / "renders"
STACK: Final = "pulumi:pulumi:Stack"
"""Only the first program of a process declares it."""


def planned(config: StackConfig) -> Recorder:
    """Return what a first preview of a stack declares."""
    sighting = sighting_of(config)
    return record(lambda: run(config, kubeconfig="/nowhere/kubeconfig", sighting=sighting), first_preview=True)


def lines(recorder: Recorder) -> list[str]:
    """Return the line of each resource, in the order of types and names."""
    return sorted(
        f"{type_} {name} {_digest([inputs, _said(recorder.options[type_, name])])}"
        for (type_, name), inputs in recorder.sent.items()
        if type_ != STACK
    )


def file_of(stack: str) -> Path:
    """Return the file of a stack."""
    return FOLDER / f"{stack}.txt"


def differing(stack: str, now: Iterable[str]) -> dict[str, list[str]]:
    """Return the resources that are added, removed or changed since the file was written; empty if there are none."""
    before, after = (
        {line.rpartition(" ")[0]: line for line in given} for given in (file_of(stack).read_text().splitlines(), now)
    )
    found = {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": sorted(key for key in before.keys() & after.keys() if before[key] != after[key]),
    }
    return {what: resources for what, resources in found.items() if resources}


def write() -> None:
    """Renew all files."""
    FOLDER.mkdir(exist_ok=True)
    for stack in stack_files():
        file_of(stack).write_text("\n".join(lines(planned(find(stack).config))) + "\n", encoding="utf-8")


def _said(options: Options) -> dict[str, Any]:
    """Return the options in one form: only the first program of a process has the stack as a parent."""
    said = {key: sorted(value) if isinstance(value, tuple) else value for key, value in asdict(options).items()}
    made_from = {key: sorted(sources) for key, sources in options.made_from.items()}
    return {**said, "parent": "" if f":{STACK}::" in options.parent else options.parent, "made_from": made_from}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


if __name__ == "__main__":
    write()
