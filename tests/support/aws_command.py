"""Lines for AWS's command line, run by boto3: options and their values are read by the model that it is made from."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jmespath
from botocore import xform_name
from botocore.model import ListShape, MapShape, Shape, StructureShape

from emulators.aws.client import Emulator


def run_aws(aws: Emulator, words: Sequence[str]) -> str:
    """Run what stands after ``aws`` on a line and return what it would print.

    Raises
    ------
    LookupError
        There is no such service, operation or option.
    ClientError
        AWS refuses it.
    """
    service, command, *rest = words
    client = aws.api(service)
    waiter = client.get_waiter(rest.pop(0).replace("-", "_")) if command == "wait" else None
    operation = waiter.config.operation if waiter else client.meta.method_to_api_mapping[command.replace("-", "_")]
    given = dict(_options(rest))
    query = given.pop("query", [""])[0]
    given.pop("region", None)  # the emulator has one
    members = _members(client.meta.service_model.operation_model(operation).input_shape, given)
    if waiter:
        waiter.wait(**members)
        return ""
    answer = getattr(client, command.replace("-", "_"))(**members)
    answer.pop("ResponseMetadata", None)
    return json.dumps(jmespath.search(query, answer) if query else answer, default=str, indent=4) + "\n"


def _options(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each option with the words that follow it."""
    starts = [index for index, word in enumerate(words) if word.startswith("--")]
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        yield words[start].removeprefix("--"), list(words[start + 1 : end])


def _members(shape: StructureShape, given: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the request that options make: ``--nodegroup-name x``, ``--deletion-protection``, ``--no-…``."""
    known = {xform_name(name, "-"): (name, member) for name, member in shape.members.items()}
    found = {}
    for option, values in given.items():
        name, member = known.get(option) or known[option.removeprefix("no-")]
        is_off = option not in known
        found[name] = not is_off if member.type_name == "boolean" else _value(member, values)
    return found


def _value(shape: Shape, words: Sequence[str]) -> Any:
    if isinstance(shape, ListShape):
        return [_value(shape.member, [word]) for word in words]
    (word,) = words
    if isinstance(shape, MapShape):
        return json.loads(word)
    if isinstance(shape, StructureShape):
        return _shorthand(shape, word)
    return int(word) if shape.type_name in {"integer", "long"} else word


def _shorthand(shape: StructureShape, text: str) -> dict[str, Any]:
    """Read ``Name=vpc-id,Values=a,b``: what has no name belongs to the list before it."""
    parts: dict[str, list[str]] = {}
    last = ""
    for piece in text.split(","):
        name, equals, value = piece.partition("=")
        last = name if equals else last
        parts.setdefault(last, []).append(value if equals else piece)
    return {name: _value(shape.members[name], values) for name, values in parts.items()}
