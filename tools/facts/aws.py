"""Generates ``workbench/offline/aws/facts.json``: what each AWS input is, and what its change and removal do.

Run ``python -m tools.facts.aws --check`` to compare the checked-in file with its sources, ``--write`` to replace
it. Both work without a network. Each fact is marked with its source, a key of ``SOURCES``, or as assumed:

- Names, types, and which inputs are required, generated: the classes of the installed ``pulumi-aws``, which Pulumi
  generates from the schema of the plug-in of the same version. They also type an output as always there if the
  provider reads it from AWS when the program leaves it out; the lists of such inputs are checked against that.
- What replaces a resource, what never reaches AWS, which requests are sent and which errors are tried again, kept by
  hand in ``aws_resources/``: Pulumi's plug-in bridges Terraform's AWS provider, and neither its schema nor its source
  is in a package. Read on ``READ_ON`` in stored copies of the files named there, with the year of each copy and its
  commit where the copy told it; none is certainly the release that the plug-in bridges. What a copy does not know is
  assumed, unless the change that brought it, or somebody who used it, says more.

To move to a newer ``pulumi-aws`` raise its pin, read the files again and set ``READ_ON``.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final, NamedTuple, Union, get_args, get_origin

from tools.facts import sdk_inputs
from tools.facts.aws_upstream import TABLES, UPSTREAM, Upstream
from tools.facts.sdk_inputs import Declared, inputs
from workbench.offline.aws.facts import DATA
from workbench.offline.aws.provider import AUTO_NAMED
from workbench.system.errors import UserError

READ_ON: Final = "2026-11-22"
"""When the files were last read; a constant, so that a run on another day is equal."""

SOURCES: Final = {
    "copy": "hashicorp/terraform-provider-aws: the file that the resource names, in the copy that it names, with the"
    " constants and tags_gen.go of its package; for region internal/provider/sdkv2/region.go",
    "sdk": "classes of the installed pulumi-aws; inside objects types/output.d.ts of @pulumi/aws 7.48.0",
    "plug-in": "pulumi/pulumi-aws: provider/resource_overrides.go at 015d343812852f40a045a28e7f6e04bca69548f3 and"
    " provider/autonaming.go at 0c5f6583ebfb37cbe0febc2edb51b44cfeac2b15",
    "later": "the link that the resource gives for inputs younger than its copy",
    "assumed": "none",
}
"""Where a fact with this mark is from."""

TARGET: Final = DATA


class Row(NamedTuple):
    """One input, in the order of the generated rows; ``workbench/offline/aws/facts.py`` explains the fields."""

    path: str
    kind: str
    required: bool
    change: str
    removal: str
    is_read_back: bool
    by: tuple[str, str, str]


def rows(resource: str) -> list[Row]:
    """Return the facts about every input of a resource, outer inputs before inner ones.

    Raises
    ------
    UserError
        The table names inputs that the installed ``pulumi-aws`` does not have, or says otherwise than its classes
        which inputs keep AWS's value; all of them are listed.
    """
    module, _, name = resource.partition(".")
    known = UPSTREAM[resource]
    arguments = getattr(import_module(f"pulumi_aws.{module}"), f"{name}Args")
    found = [_row(known, each) for each in inputs(arguments)]
    if unknown := sorted(known.named - {row.path for row in found}):
        raise UserError(f"{TABLES.name} names inputs that {resource} does not have: {', '.join(unknown)}")
    always_there = {path for path in _always_there(resource) if path != "region"} - set(known.defaults)
    optional = {row.path for row in found if not row.required and "." not in row.path}
    if wrong := sorted((always_there & optional) ^ {path for path in known.keeps if "." not in path}):
        raise UserError(f"{TABLES.name} and pulumi-aws differ on what {resource} keeps: {', '.join(wrong)}")
    return found


def _always_there(resource: str) -> Iterator[str]:
    """Return the outputs of a resource that are typed as never missing."""
    from pulumi._types import input_type_py_to_pulumi_names  # noqa: PLC0415 only generators need it

    module, _, name = resource.partition(".")
    home = import_module(f"pulumi_aws.{module}")
    for python, pulumi in input_type_py_to_pulumi_names(getattr(home, f"{name}Args")).items():
        (output,) = get_args(getattr(getattr(home, name), python).fget.__annotations__["return"])
        if get_origin(output) is not Union or type(None) not in get_args(output):
            yield pulumi


def _row(known: Upstream, declared: Declared) -> Row:
    path = declared.path
    change, change_by = _change(known, path)
    removal, removal_by = _removal(known, declared, is_assumed=change_by in {"later", "assumed"})
    is_read_back = path not in known.not_read_back
    is_open = change_by in {"later", "assumed"} or _within(path, known.read_back_assumed)
    read_by = "assumed" if is_read_back and is_open else "copy"
    kind = "set" if path in known.sets else declared.kind
    return Row(path, kind, declared.required, change, removal, is_read_back, (change_by, removal_by, read_by))


def _change(known: Upstream, path: str) -> tuple[str, str]:
    """Return what a change of an input does, and its mark."""
    if later := next((each.change for each in known.later if _within(path, each.inputs)), ""):
        return later, "later"
    if _within(path, known.unread):
        return "unread", "assumed"
    # Of every resource that has one: internal/provider/sdkv2/region.go.
    if path == "region" or _within(path, known.replaces):
        return "replace", "copy"
    words = {
        "replace if removed": path in known.replaces_if_removed,
        "replace once set": path in known.replaces_once_set,
        "replace if exchanged": path in known.replaces_as_one,
        "ignored": _within(path, known.ignored),
    }
    return next((word for word, fits in words.items() if fits), "update"), "copy"


def _removal(known: Upstream, declared: Declared, *, is_assumed: bool) -> tuple[str, str]:
    """Return what the removal of an input does, and its mark."""
    if declared.required:
        return "required", "sdk"
    if declared.path in known.keeps:
        return "keeps", "sdk"
    if declared.path in known.never_cleared:
        return "never cleared", "copy"
    return "clears", "assumed" if is_assumed or declared.path in known.removal_assumed else "copy"


def _within(path: str, outer: Iterable[str]) -> bool:
    return any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in outer)


def _calls(known: Upstream) -> Iterator[tuple[str, str, str, str]]:
    """Return stage, request, input and mark, in the order in which requests are sent."""
    sent = [
        *(("create", call, "") for call in known.create),
        *(("update", call, path) for call, paths in known.update.items() for path in paths),
        *(("update", call, "tags") for call in known.tagging),
        *(("delete", call, "") for call in known.delete),
    ]
    for stage, call, path in sent:
        yield stage, f"{known.api}:{call}", path, "assumed" if call in known.calls_assumed else "copy"


def token(resource: str) -> str:
    """Return the type token of a resource, such as ``aws:eks/nodeGroup:NodeGroup``."""
    module, _, name = resource.partition(".")
    return str(getattr(import_module(f"pulumi_aws.{module}"), name).pulumi_type)


def generate() -> str:
    """Return the text of the file."""
    return (
        sdk_inputs.text_of(
            {
                "$schema": "facts.schema.json",
                "read_on": READ_ON,
                "release": version("pulumi-aws"),
                "sources": SOURCES,
                "resources": {token(name): _entry(name, known) for name, known in UPSTREAM.items()},
            }
        )
        + "\n"
    )


def _entry(name: str, known: Upstream) -> dict[str, Any]:
    """Return the facts about one type; what it does not have is left out."""
    found = rows(name)
    is_named = any(row.path in AUTO_NAMED for row in found)
    order = "old first" if known.deleted_first else "old first if named" if is_named else "new first"
    optional = {
        "commit": known.commit,
        "deleted_first": known.deleted_first,
        "recomputed": list(known.recomputed),
        "cleared_with": dict(known.cleared_with),
        "notes": dict(known.notes),
        "later": [[path, each.source, each.date] for each in known.later for path in each.inputs],
    }
    return {
        "source": known.file,
        "copy_of": known.copy_of,
        **{key: value for key, value in optional.items() if value},
        "replacement": [order, "plug-in"],
        "calls": [list(call) for call in _calls(known)],
        "retries": [[f"{known.api}:{call}", *error] for call, *error in known.retries],
        "retries_by": "assumed" if known.retries_assumed else "copy",
        "rows": [[*row[:-1], list(row.by)] for row in found],
    }


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    return sdk_inputs.main("tools.facts.aws", __doc__ or "", TARGET, generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
