"""The words in which a type of resource is described: its requests, its look, its changes, and when it is ready."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from emulators.aws.resources.connection import Aws
from workbench.offline.aws.operations import Request

Params: TypeAlias = Mapping[str, Any]
"""Members of a request; texts in it are templates such as ``{id}`` or ``{clusterName}``, functions get the keys."""


@dataclass(frozen=True)
class DescribeCall:
    """A request that describes a resource.

    Parameters
    ----------
    service, operation
        As botocore spells them.
    params
        What is asked.
    at
        JMESPath of the description in the answer; none there: it does not exist.
    shape
        Dotted path of the description in the answer's model. Default: the names in ``at``.
    """

    service: str
    operation: str
    params: Params
    at: str
    shape: str = ""


@dataclass(frozen=True)
class State:
    """How a resource tells how far it is.

    Parameters
    ----------
    at
        JMESPath of the state in the description.
    ready
        State in which it can be used.
    pending
        States that lead there.
    gone
        States in which it exists no more.
    reasons
        JMESPath of a list of texts that say why it is in another state.
    """

    at: str
    ready: str
    pending: frozenset[str]
    gone: frozenset[str] = frozenset()
    reasons: str = "[]"


@dataclass(frozen=True)
class Minutes:
    """How long the real plug-in waits, in minutes of AWS's time."""

    create: float = 10.0
    update: float = 10.0
    delete: float = 10.0


@dataclass(frozen=True)
class Given:
    """A resource and what is wanted of it.

    Parameters
    ----------
    keys
        What templates are filled with: outputs and inputs by name, and ``id``.
    old
        What it has, in the form of ``new``; empty if it was just made.
    new
        Inputs that are wanted.
    """

    aws: Aws
    keys: Mapping[str, Any]
    old: Mapping[str, Any]
    new: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Change:
    """One request that changes a resource in place.

    Parameters
    ----------
    inputs
        Dotted paths of those that it changes; it is sent, with all of them, if one differs.
    request
        Where they go, whole.
    about
        What the real plug-in calls it in errors, such as ``version``.
    build
        Members beside the inputs, or instead of them where names are the same; None: nothing is to be sent.
    is_also_first
        Sent after the resource was made too, for the inputs that are given; the request that makes it takes none.
    """

    inputs: tuple[str, ...]
    request: Request
    about: str = ""
    build: Callable[[Given], Params | None] = lambda _: {}
    is_also_first: bool = False


@dataclass(frozen=True)
class Tagging:
    """How a service changes the tags of what exists.

    Parameters
    ----------
    service, add, remove
        The operations.
    target
        Members that name the resource.
    tags, keys
        Members with the tags to add and the keys to remove.
    """

    service: str
    add: str
    remove: str
    target: Params
    tags: str
    keys: str


@dataclass(frozen=True)
class Removal:
    """How a resource is deleted.

    Parameters
    ----------
    requests
        Service, operation and members, or what makes them of the keys, one after the other.
    needs
        Inputs or outputs by operation without which there is nothing to ask for: a gateway may be detached already.
    """

    requests: tuple[tuple[str, str, Params | Callable[[Params], Params]], ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How resources of one type live.

    Parameters
    ----------
    noun
        What the real plug-in calls one in errors, such as ``EKS Node Group``.
    id
        Template of the id. The parts of an id that is given are read by it.
    imported
        Template of the id that an import is given, where it is another one.
    made
        JMESPath in the answer of the request that makes it; what it finds is ``{id}``.
    keys
        Members that name the resource in requests that change it.
    look
        How it is described.
    more
        More that belongs to its description, by the member that it becomes. Keys hold the description as ``found``.
    gone
        Codes that say that it does not exist.
    told
        JMESPath in the description by input, where the name alone does not lead there.
    untold
        Dotted paths of inputs that AWS does not tell, though the name is there; they stay what they were.
    carried
        Inputs that no request takes and that mean something all the same, to us or to the plug-in.
    outputs
        JMESPath in the description by output that is no input.
    arn
        Template of the resource's part of its ARN, with the service before it: ``ec2:vpc/{id}``.
    create
        Members of the request that makes it beside the inputs.
    derived
        Values for templates that are made from others.
    adopt
        Makes it without the first request of ``operations.py``; returns what answers ``made``.
    changes
        In this order.
    changed
        How a resource tells how far a change is, where the plug-in waits for it by the description.
    tagging
        How tags are changed. Default: the type has none.
    tag_type
        What EC2 calls the type in ``TagSpecifications``.
    updates
        Members of ``DescribeUpdate`` beside the update's own id, of services that work on changes for a while.
    """

    noun: str
    look: DescribeCall
    removal: Removal
    id: str = "{id}"
    imported: str = ""
    made: str = ""
    keys: Params = field(default_factory=dict)
    more: Mapping[str, DescribeCall | Callable[[Given], Any]] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    told: Mapping[str, str] = field(default_factory=dict)
    untold: frozenset[str] = frozenset()
    carried: frozenset[str] = frozenset()
    outputs: Mapping[str, str] = field(default_factory=dict)
    arn: str = ""
    state: State | None = None
    minutes: Minutes = Minutes()
    create: Callable[[Given], Params] = lambda _: {}
    derived: Mapping[str, Callable[[Mapping[str, Any]], Any]] = field(default_factory=dict)
    adopt: Callable[[Given], Params] | None = None
    changes: tuple[Change, ...] = ()
    changed: State | None = None
    tagging: Tagging | None = None
    tag_type: str = ""
    updates: Params = field(default_factory=dict)


def with_defaults(inputs: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with the real plug-in's values for those that are left out, inside the objects that are given."""
    filled = dict(inputs)
    for path, value in defaults.items():
        outer, _, name = path.rpartition(".")
        if not outer:
            filled.setdefault(name, value)
        elif isinstance(inner := filled.get(outer), Mapping):
            filled[outer] = {name: value, **inner}
    return filled


def if_given(name: str) -> Callable[[Given], Params | None]:
    """Return a ``build`` for a request that makes sense only with an input."""
    return lambda given: {} if given.new.get(name) else None


def if_dropped(name: str) -> Callable[[Given], Params | None]:
    """Return a ``build`` for a request that makes sense only without an input."""
    return lambda given: None if given.new.get(name) else {}


def filled_in(template: Any, keys: Mapping[str, Any]) -> Any:
    """Return ``template`` with the values of ``keys`` in all its texts."""
    if isinstance(template, str):
        return template.format_map(keys)
    if callable(template):
        return template(keys)
    if isinstance(template, Mapping):
        return {name: filled_in(inner, keys) for name, inner in template.items()}
    if isinstance(template, list):
        return [filled_in(inner, keys) for inner in template]
    return template


def parts(template: str, text: str) -> dict[str, str]:
    """Return the values that make ``template`` to ``text``, none if nothing does; the last one takes what is left."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(template))
    found = re.fullmatch(pattern, text)
    return found.groupdict() if found else {}
