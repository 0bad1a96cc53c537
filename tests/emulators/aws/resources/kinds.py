"""The description of a type of resource: its requests, how it is read, its changes, and when it is ready."""

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
        Members of the request.
    at
        JMESPath of the description in the answer; if there is none, the resource does not exist.
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
    """How a resource reports its state.

    Parameters
    ----------
    at
        JMESPath of the state in the description.
    ready
        State in which it can be used.
    pending
        States before it is ready.
    gone
        States in which it no longer exists.
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
    """A resource and its wanted inputs.

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
        The request that sends them, all at once.
    about
        What the real plug-in calls it in errors, such as ``version``.
    build
        Members in addition to the inputs, or in place of those with the same name; None: send nothing.
    is_also_first
        Also sent after creation, for the inputs that are given: the request that creates it does not accept them.
    """

    inputs: tuple[str, ...]
    request: Request
    about: str = ""
    build: Callable[[Given], Params | None] = lambda _: {}
    is_also_first: bool = False


@dataclass(frozen=True)
class Tagging:
    """How a service changes the tags of an existing resource.

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
        Inputs or outputs by operation; without them nothing is sent, since a gateway may be detached already.
    """

    requests: tuple[tuple[str, str, Params | Callable[[Params], Params]], ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The life cycle of resources of one type.

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
        JMESPath in the description by input, if it is not the input's name.
    untold
        Dotted paths of inputs whose value AWS does not return, although the name is there; they keep their value.
    carried
        Inputs that no request accepts, but that we or the plug-in use.
    outputs
        JMESPath in the description by output that is not an input.
    arn
        Template of the resource's part of its ARN, with the service before it: ``ec2:vpc/{id}``.
    create
        Members of the request that creates it, in addition to the inputs.
    derived
        Values for templates that are made from others.
    adopt
        Makes it without the first request of ``operations.py``; returns what answers ``made``.
    changes
        In this order.
    changed
        How a resource reports the progress of a change, if the plug-in waits for it by the description.
    tagging
        How tags are changed. Default: the type has none.
    tag_type
        What EC2 calls the type in ``TagSpecifications``.
    updates
        Members of ``DescribeUpdate`` in addition to the update's own id, for services whose changes take a while.
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
