"""Generates ``workbench/offline/aws/facts.json``: what each AWS input is, and what a change of it does.

Run ``python -m tools.facts.aws --check`` to compare the checked-in file with its sources, ``--write`` to replace
it. Both work without a network. What comes from where:

- Names, types, and which inputs are required, generated: the classes of the installed ``pulumi-aws``, which Pulumi
  generates from the schema of the plug-in of the same version.
- What replaces a resource, what is a set, and what is deleted first, kept by hand in ``aws.yaml``: Pulumi's plug-in
  bridges Terraform's AWS provider, and neither its schema nor its source is in a package. Read on ``READ_ON`` in
  stored copies of the files that it names (repository hashicorp/terraform-provider-aws): ``ForceNew``,
  ``RequiresReplace``, ``CustomizeDiff``, ``TypeSet``. It gives the year of each copy; none is certainly the
  release that the plug-in bridges. Of inputs younger than a copy it gives what the change that brought them says of
  itself, or somebody who used them, with link and date. Where neither does, they stay marked as not read.

To move to a newer ``pulumi-aws`` raise its pin, read the files again and set ``READ_ON``.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from tools.facts import sdk_inputs
from tools.facts.sdk_inputs import Declared, inputs
from workbench.offline.aws.facts import DATA
from workbench.system.errors import UserError

READ_ON: Final = "2026-11-21"
"""When the files were last read; a constant, so that a run on another day is equal."""

TABLE: Final = Path(__file__).with_suffix(".yaml")
"""What is kept by hand."""

TARGET: Final = DATA

CLOSED: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=CLOSED)
class Later:
    """What a source younger than the copy says of inputs that the copy does not know.

    Parameters
    ----------
    inputs
        As Pulumi spells them; what is inside them is meant too.
    change
        What a change of one does, in the words of ``workbench/offline/aws/facts.py``.
    source
        Where it is said.
    date
        When it was said.
    """

    inputs: tuple[str, ...]
    change: str
    source: str
    date: str


@dataclass(frozen=True, config=CLOSED)
class Upstream:
    """What the source of one resource says.

    Parameters
    ----------
    file
        Path in hashicorp/terraform-provider-aws.
    copy_of
        Year of the copyright line of the copy that was read.
    replaces
        Inputs whose change replaces the resource, as Pulumi spells them.
    sets
        Lists whose order means nothing.
    replaces_if_removed
        Inputs whose removal replaces the resource; other changes update it.
    replaces_once_set
        Inputs whose change or removal replaces the resource; giving one where none was updates it.
    replaces_as_one
        Inputs of which exactly one is given; to give another one replaces the resource, to change it updates it.
    later
        What younger sources say of inputs that the copy does not know.
    unread
        Inputs of which no source says what a change does; it is taken for an update.
    recomputed
        Outputs that any update makes unknown again.
    deleted_first
        The old resource is deleted before the new one is made, also where the name is automatic.
    """

    file: str
    copy_of: int
    replaces: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    replaces_if_removed: tuple[str, ...] = ()
    replaces_once_set: tuple[str, ...] = ()
    replaces_as_one: tuple[str, ...] = ()
    later: tuple[Later, ...] = ()
    unread: tuple[str, ...] = ()
    recomputed: tuple[str, ...] = ()
    deleted_first: bool = False


UPSTREAM: Final[Mapping[str, Upstream]] = TypeAdapter(dict[str, Upstream]).validate_python(
    yaml.safe_load(TABLE.read_text(encoding="utf-8"))
)
"""The resources that the offline provider knows, by module and class in ``pulumi_aws``."""


class Row(NamedTuple):
    """One input, in the order of the generated rows."""

    path: str
    kind: str
    required: bool
    change: str


def rows(resource: str) -> list[Row]:
    """Return the facts about every input of a resource, outer inputs before inner ones.

    Raises
    ------
    UserError
        The table names an input that the installed ``pulumi-aws`` does not have; all of them are listed.
    """
    module, _, name = resource.partition(".")
    known = UPSTREAM[resource]
    declared = inputs(getattr(import_module(f"pulumi_aws.{module}"), f"{name}Args"))
    found = [_row(known, each) for each in declared]
    changing = (known.replaces, known.replaces_if_removed, known.replaces_once_set, known.replaces_as_one, known.unread)
    named = {path for paths in (*changing, known.sets, *(later.inputs for later in known.later)) for path in paths}
    if unknown := sorted(named - {row.path for row in found}):
        raise UserError(f"{TABLE.name} names inputs that {resource} does not have: {', '.join(unknown)}")
    return found


def _row(known: Upstream, declared: Declared) -> Row:
    path = declared.path
    change = next((later.change for later in known.later if _within(path, later.inputs)), "update")
    # Of every resource that has one: internal/provider/sdkv2/region.go.
    if path == "region" or _within(path, known.replaces):
        change = "replace"
    elif _within(path, known.unread):
        change = "unread"
    elif path in known.replaces_if_removed:
        change = "replace if removed"
    elif path in known.replaces_once_set:
        change = "replace once set"
    elif path in known.replaces_as_one:
        change = "replace if exchanged"
    return Row(path, "set" if path in known.sets else declared.kind, declared.required, change)


def _within(path: str, outer: Iterable[str]) -> bool:
    return any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in outer)


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
                "resources": {token(name): _entry(name, known) for name, known in UPSTREAM.items()},
            }
        )
        + "\n"
    )


def _entry(name: str, known: Upstream) -> dict[str, Any]:
    """Return the facts about one type; what it does not have is left out."""
    optional = {
        "deleted_first": known.deleted_first,
        "recomputed": list(known.recomputed),
        "later": [[path, each.source, each.date] for each in known.later for path in each.inputs],
    }
    return {
        "source": known.file,
        "copy_of": known.copy_of,
        **{key: value for key, value in optional.items() if value},
        "rows": [list(row) for row in rows(name)],
    }


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    return sdk_inputs.main("tools.facts.aws", __doc__ or "", TARGET, generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
