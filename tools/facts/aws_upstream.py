"""What is kept by hand about AWS resources in ``aws_resources/``, a file a module; ``aws.py`` says where it is from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

TABLES: Final = Path(__file__).with_name("aws_resources")
"""The files."""

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


@dataclass(frozen=True, config=CLOSED, kw_only=True)
class Upstream:
    """What the source of one resource says. Inputs are spelled as Pulumi does.

    Parameters
    ----------
    file
        Path in hashicorp/terraform-provider-aws.
    copy_of
        Year of the copy that was read.
    commit
        Of the copy; empty if the copy did not tell it.
    replaces
        Inputs whose change replaces the resource.
    sets
        Lists whose order means nothing.
    replaces_if_removed
        Inputs whose removal replaces the resource; other changes update it.
    replaces_once_set
        Inputs whose change or removal replaces the resource; giving one where none was updates it.
    replaces_as_one
        Inputs of which exactly one is given; to give another one replaces the resource, to change it updates it.
    ignored
        Inputs whose change is planned as an update, but for which the update sends nothing.
    later
        What younger sources say of inputs that the copy does not know.
    unread
        Inputs of which no source says what a change does; it is taken for an update.
    keeps
        Inputs that are Optional and Computed: left out, AWS's value counts, and their removal plans nothing, also if
        other changes replace. Source: hashicorp/terraform-plugin-sdk, helper/schema/schema.go, ``diffString``.
    defaults
        Inputs that look like ``keeps`` to the SDK, but that the plug-in or the provider gives a value of its own.
    never_cleared
        Optional inputs whose removal is planned as an update that leaves the old value in AWS.
    cleared_with
        What to give instead of leaving an input out, so that its value goes.
    removal_assumed
        Inputs of which the copy leaves open what their removal does; it is taken for clearing.
    not_read_back
        Inputs that a refresh does not read from AWS.
    read_back_assumed
        Inputs for which the part of the copy that reads them, or what is inside them, was not read.
    notes
        Conditions of facts, by input.
    api
        Service of the requests.
    create, delete
        Requests in their order; those after the first may depend on inputs.
    update
        Inputs by the request that a change of one sends.
    tagging
        Requests that change tags: ``tags_gen.go`` of the package.
    calls_assumed
        Requests among them that are not from the copy.
    retries
        Request, error code, part of the message (empty: any) and seconds for which the real plug-in sends it again.
    retries_assumed
        They are not complete, or not from the copy.
    recomputed
        Outputs that any update makes unknown again.
    deleted_first
        The old resource is deleted before the new one is made, also where the name is automatic.
    """

    file: str
    copy_of: int
    api: str
    commit: str = ""
    replaces: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    replaces_if_removed: tuple[str, ...] = ()
    replaces_once_set: tuple[str, ...] = ()
    replaces_as_one: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    later: tuple[Later, ...] = ()
    unread: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    never_cleared: tuple[str, ...] = ()
    cleared_with: Mapping[str, str] = Field(default_factory=dict)
    removal_assumed: tuple[str, ...] = ()
    not_read_back: tuple[str, ...] = ()
    read_back_assumed: tuple[str, ...] = ()
    notes: Mapping[str, str] = Field(default_factory=dict)
    create: tuple[str, ...] = ()
    update: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    delete: tuple[str, ...] = ()
    tagging: tuple[str, ...] = ()
    calls_assumed: tuple[str, ...] = ()
    retries: tuple[tuple[str, str, str, int], ...] = ()
    retries_assumed: bool = False
    recomputed: tuple[str, ...] = ()
    deleted_first: bool = False

    @property
    def named(self) -> set[str]:
        """All inputs that it names."""
        groups = (
            self.replaces, self.sets, self.replaces_if_removed, self.replaces_once_set, self.replaces_as_one,
            self.ignored, self.unread, self.keeps, self.defaults, self.never_cleared, self.cleared_with,
            self.removal_assumed, self.not_read_back, self.read_back_assumed, self.notes,
            *self.update.values(), *(each.inputs for each in self.later),
        )  # fmt: skip
        return {path for group in groups for path in group}


def _read() -> dict[str, Upstream]:
    texts = (each.read_text(encoding="utf-8") for each in sorted(TABLES.glob("*.yaml")))
    found = {name: entry for text in texts for name, entry in yaml.safe_load(text).items()}
    return TypeAdapter(dict[str, Upstream]).validate_python(dict(sorted(found.items())))


UPSTREAM: Final[Mapping[str, Upstream]] = _read()
"""The resources that the offline provider knows, by module and class in ``pulumi_aws``."""
