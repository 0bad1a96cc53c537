"""Generates ``workbench/offline/aws/facts.json``: what each AWS input is, and what its change and removal do.

Run ``python -m tools.facts.aws --check`` to compare the checked-in file with its sources, ``--write`` to replace
it. Both work without a network. Each fact has a source, a key of ``aws_sources.yaml``, or is assumed:

- Names, types, and which inputs are required, generated: the classes of the installed ``pulumi-aws``, which Pulumi
  generates from the schema of the plug-in of the same version. They also type an output as always there if the
  provider reads it from AWS when the program leaves it out; the statements of what is kept are checked against that.
- What replaces a resource, what never reaches AWS, which requests are sent and which errors are tried again, kept by
  hand in ``aws_resources/``: Pulumi's plug-in bridges Terraform's AWS provider, and neither its schema nor its source
  is in a package. Read on ``READ_ON`` in stored copies of the files named there, with the year of each copy and its
  commit where the copy names it; none is certainly the release that the plug-in bridges. What a copy does not know is
  assumed, unless the change that brought it, or a user of it, says more.

To move to a newer ``pulumi-aws`` raise its pin, read the files again and set ``READ_ON``.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple, Union, get_args, get_origin

import yaml
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from tools.facts import sdk_inputs, statements
from tools.facts.sdk_inputs import Declared, inputs
from tools.facts.statements import Says
from workbench.offline.aws.facts import DATA
from workbench.offline.aws.provider import AUTO_NAMED
from workbench.offline.facts import Call, Retried, Source, Statement, answer
from workbench.system.errors import UserError

READ_ON: Final = "2026-11-22"
"""When the files were last read; a constant, so that a run on another day is equal."""

TABLES: Final = Path(__file__).with_name("aws_resources")
"""What is kept by hand, a file a module."""

SOURCES: Final = statements.sources(Path(__file__).with_name("aws_sources.yaml"))

FILE: Final = "file"
"""The source of a table that is the file of the resource."""

TARGET: Final = DATA

COMMON: Final = Statement(question="declared", answer="declared", of=("*",), source="sdk")
"""What is said of every input."""

EVERY: Final = (
    # Of every resource that has one.
    Statement(question="replaced", answer="replace", of=("region",), source="region"),
    Statement(question="absent", answer="resets", of=("region",), source="region"),
    Statement(question="read", answer="read back", of=("region",), source="region"),
    Statement(question="replaced", answer="update", of=("*",), source=FILE),
    Statement(question="absent", answer="resets", of=("*",), source=FILE),
    Statement(question="read", answer="read back", of=("*",), source=FILE),
)
"""What is said of every resource that does not say otherwise."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"), kw_only=True)
class Upstream:
    """What the source of one resource says. Inputs are spelled as Pulumi does.

    Parameters
    ----------
    file
        Path in hashicorp/terraform-provider-aws.
    copy_of
        Year of the copy that was read.
    commit
        Of the copy; empty if the copy does not name it.
    says
        What the plug-in and AWS do with the inputs. ``keeps`` are those that are Optional and Computed: left out, AWS's
        value counts, and their removal plans nothing, also if other changes replace. Source:
        hashicorp/terraform-plugin-sdk, helper/schema/schema.go, ``diffString``.
    sets
        Lists whose order means nothing.
    filled_in
        Inputs that look kept to the SDK, but that the plug-in or the provider gives a value that it makes up.
    defaults
        Values that it gives to inputs that are left out: ``Default`` of the file.
    api
        Service of the requests.
    create, delete
        Requests in their order; those after the first may depend on inputs.
    update
        Inputs by the request that a change of one sends.
    tagging
        Requests that change tags: ``tags_gen.go`` of the package.
    calls_assumed
        Requests of an update that are not from the copy.
    retries
        Request, error code, part of the message (empty: any) and seconds for which the real plug-in sends it again.
    retries_assumed
        What to try if they are not complete, or not from the copy.
    recomputed
        Outputs that any update makes unknown again.
    deleted_first
        The old resource is deleted before the new one is made, also where the name is automatic.
    """

    file: str
    copy_of: int
    api: str
    commit: str = ""
    says: Says = ()
    sets: tuple[str, ...] = ()
    filled_in: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = Field(default_factory=dict)
    create: tuple[str, ...] = ()
    update: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    delete: tuple[str, ...] = ()
    tagging: tuple[str, ...] = ()
    calls_assumed: tuple[str, ...] = ()
    retries: tuple[tuple[str, str, str, int], ...] = ()
    retries_assumed: str = ""
    recomputed: tuple[str, ...] = ()
    deleted_first: bool = False

    @property
    def named(self) -> set[str]:
        """All inputs that it names."""
        return {
            *statements.named(self.says),
            *self.sets,
            *self.filled_in,
            *self.defaults,
            *(p for each in self.update.values() for p in each),
        }

    @property
    def source(self) -> Source:
        """Its file, in the copy that was read."""
        copy = self.commit or f"copy of {self.copy_of}"
        return Source(repository="hashicorp/terraform-provider-aws", file=self.file, version=copy, year=self.copy_of)


def _read() -> dict[str, Upstream]:
    texts = (each.read_text(encoding="utf-8") for each in sorted(TABLES.glob("*.yaml")))
    found = {name: entry for text in texts for name, entry in yaml.safe_load(text).items()}
    return TypeAdapter(dict[str, Upstream]).validate_python(dict(sorted(found.items())))


UPSTREAM: Final[Mapping[str, Upstream]] = _read()
"""The resources that the offline provider knows, by module and class in ``pulumi_aws``."""


class Row(NamedTuple):
    """One input, in the order of the generated rows; ``workbench/offline/facts.py`` explains the fields."""

    path: str
    kind: str
    required: bool
    change: str


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
    declared = list(inputs(getattr(import_module(f"pulumi_aws.{module}"), f"{name}Args")))
    statements.refuse_unknown(TABLES.name, resource, known.named, declared)
    optional = {each.path for each in declared if not each.required and "." not in each.path}
    kept = {path for path in optional if _answer(known, path, "absent") == "keeps"}
    always_there = {path for path in _always_there(resource) if path != "region"} - {*known.filled_in, *known.defaults}
    if wrong := sorted((always_there & optional) ^ kept):
        raise UserError(f"{TABLES.name} and pulumi-aws differ on what {resource} keeps: {', '.join(wrong)}")
    return [_row(known, each) for each in declared]


def _row(known: Upstream, declared: Declared) -> Row:
    kind = "set" if declared.path in known.sets else declared.kind
    return Row(declared.path, kind, declared.required, _answer(known, declared.path, "replaced"))


def _answer(known: Upstream, path: str, question: str) -> str:
    found = answer(known.says, path, question) or answer(EVERY, path, question)
    return found.answer if found else ""


def _always_there(resource: str) -> Iterator[str]:
    """Return the outputs of a resource that are typed as never missing."""
    from pulumi._types import input_type_py_to_pulumi_names  # noqa: PLC0415 only generators need it

    module, _, name = resource.partition(".")
    home = import_module(f"pulumi_aws.{module}")
    for python, pulumi in input_type_py_to_pulumi_names(getattr(home, f"{name}Args")).items():
        (output,) = get_args(getattr(getattr(home, name), python).fget.__annotations__["return"])
        if get_origin(output) is not Union or type(None) not in get_args(output):
            yield pulumi


def _calls(known: Upstream) -> Iterator[Call]:
    """Return the requests of each operation; those of an update with the inputs that send them."""
    update = {**known.update, **dict.fromkeys(known.tagging, ("tags",))}
    sent = {request: f"{known.api}:{request} ({', '.join(paths)})" for request, paths in update.items()}
    found = {
        "create": [f"{known.api}:{request}" for request in known.create],
        "update": [text for request, text in sent.items() if request not in known.calls_assumed],
        "delete": [f"{known.api}:{request}" for request in known.delete],
    }
    for operation, requests in found.items():
        if requests:
            yield Call(operation=operation, answer=tuple(requests), source=known.file)
    if known.calls_assumed:
        guessed = tuple(sent[request] for request in known.calls_assumed)
        yield Call(operation="update", answer=guessed, assumed="change each and read the requests in CloudTrail")


def _retries(known: Upstream) -> Iterator[Retried]:
    assumed = known.retries_assumed
    source = "" if assumed else known.file
    for call, code, message, seconds in known.retries:
        request = f"{known.api}:{call}"
        yield Retried(request=request, code=code, message=message, seconds=seconds, source=source, assumed=assumed)


def token(resource: str) -> str:
    """Return the type token of a resource, such as ``aws:eks/nodeGroup:NodeGroup``."""
    module, _, name = resource.partition(".")
    return str(getattr(import_module(f"pulumi_aws.{module}"), name).pulumi_type)


def generate() -> str:
    """Return the text of the file."""
    sources = {**SOURCES, **{known.file: known.source for known in UPSTREAM.values()}}
    facts = {
        "$schema": "../facts.schema.json",
        "read_on": READ_ON,
        "release": version("pulumi-aws"),
        "sources": {key: statements.row(each) for key, each in sources.items()},
        "common": statements.rows(says=[COMMON]),
        "resources": {token(name): _entry(name, known) for name, known in UPSTREAM.items()},
    }
    return sdk_inputs.text_of(facts) + "\n"


def _entry(name: str, known: Upstream) -> dict[str, Any]:
    """Return the facts about one type; what it does not have is left out."""
    found = rows(name)
    is_named = any(row.path in AUTO_NAMED for row in found)
    first = "the old one goes first" if known.deleted_first else "the new one is made first"
    if is_named and not known.deleted_first:
        first += ", unless the program gives the name"
    order = Call(operation="order", answer=(first,), source="plugin-naming" if is_named else "plugin-order")
    optional = {
        "deleted_first": known.deleted_first,
        "recomputed": list(known.recomputed),
        "defaults": dict(known.defaults),
    }
    says = [replace(each, source=known.file) if each.source == FILE else each for each in (*known.says, *EVERY)]
    return {
        "source": known.file,
        **{key: value for key, value in optional.items() if value},
        **statements.rows(says=says, calls=(*_calls(known), order), retries=_retries(known)),
        "rows": [list(row) for row in found],
    }


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    return sdk_inputs.main("tools.facts.aws", __doc__ or "", TARGET, generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
