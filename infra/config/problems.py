"""Problems in a stack file: what is wrong, where, what is allowed and what to do."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import override

from components.contract.choices import FINDING
from infra.config.model import CONFIG_KEY
from infra.config.tree import Node, follow, tree

KeyPath = tuple[int | str, ...]

_TEXT_MAX: Final = 60
_MESSAGE_MAX: Final = 300
_ALLOWED_MAX: Final = 12
_DIGITS_MAX: Final = 18
_NEAR: Final = 0.7
_BEGUN_MIN: Final = 3
_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_LOGIN: Final = re.compile(r"^(?!.*@sha256:)([a-z]*:/+)?.*:.*@", re.DOTALL)
"""Beginning of an address with a login. Its password may hold a slash, and the address be mistyped."""


@dataclass(frozen=True)
class Problem:
    """One problem. Its text is one printable line of bounded length, whatever was given."""

    path: KeyPath | None
    """Its keys and indexes, below ``CONFIG_KEY``; None for a problem of the whole file."""
    message: str
    """What is wrong and what to do."""
    given: str | None = None
    """The invalid value in printable form; None if showing it would not help or is not allowed."""
    allowed: tuple[str, ...] = ()
    """Values, keys or ranges that would be valid."""
    line: int | None = None
    """Line of the stack file, from 1; None where only the value is known."""
    column: int | None = None

    @override
    def __str__(self) -> str:
        """Return path, message, value and allowed values, without the line."""
        more = [f"given: {self.given}"] if self.given is not None else []
        if self.allowed:
            rest = len(self.allowed) - _ALLOWED_MAX
            values = ", ".join(printable(value) for value in self.allowed[:_ALLOWED_MAX])
            more.append(f"allowed: {values}" + (f" and {rest} more" if rest > 0 else ""))
        where = "" if self.path is None else f"{path_text(self.path)}: "
        extra = f" ({'; '.join(more)})" if more else ""
        return f"{where}{printable(self.message, _MESSAGE_MAX)}{extra}"


def path_text(path: KeyPath) -> str:
    """Return a path as people write it: ``pools.gpu.instanceTypes[0]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{shown(part)}]"
        elif _PLAIN_KEY.fullmatch(part) and len(part) <= _TEXT_MAX:
            text += f".{part}"
        else:
            text += f"[{shown(part)}]"
    return text.removeprefix(".") or CONFIG_KEY


def shown(value: Any) -> str:
    """Return a value in one short printable line, without the contents of mappings and lists, which may be secret."""
    if isinstance(value, str):
        return _shown_text(value)
    if isinstance(value, Mapping | BaseModel):
        return "a mapping"
    if isinstance(value, list | tuple | set):
        return "a list"
    if isinstance(value, bool | None):
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int) and abs(value) >= 10**_DIGITS_MAX:
        return f"a number of more than {_DIGITS_MAX} digits"
    return printable(str(value))


def _shown_text(text: str) -> str:
    """Return the beginning of a text in quotes, without a login in an address and without a private key."""
    if "PRIVATE KEY" in text:
        return "a private key"
    rest = f"... ({len(text)} characters)" if len(text) > _TEXT_MAX else ""
    return repr(_LOGIN.sub(r"\g<1>...@", text)[:_TEXT_MAX]) + rest


def printable(text: str, limit: int = _TEXT_MAX) -> str:
    """Return a text with control and invisible characters escaped, shortened to ``limit`` characters."""
    escaped = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: limit + 1])
    return escaped if len(escaped) <= limit else f"{escaped[:limit]}..."


def nearest(text: Any, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, ignoring case; None if none is similar."""
    by_lower = {word.lower(): word for word in known}
    if not isinstance(text, str) or len(text) > _TEXT_MAX:
        return None
    lower = text.lower()
    begun = [word for word in by_lower if len(word) >= _BEGUN_MIN and lower.startswith(word)]  # such as maximum
    near = difflib.get_close_matches(lower, by_lower, n=1, cutoff=_NEAR) or begun
    return by_lower[near[0]] if near else None


def did_you_mean(text: Any, known: Iterable[str]) -> str:
    """Return a did-you-mean question for the end of a message; empty without a suggestion."""
    match = nearest(text, known)
    return f", did you mean '{match}'?" if match else ""


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Return the problems that pydantic's ``error`` reports in a document of ``model``, with the document's paths."""
    root = tree(model)
    details = error.errors(include_url=False)
    return [_problem(detail, root) for detail in details if not _is_a_consequence(detail)]


def _is_a_consequence(detail: ErrorDetails) -> bool:
    """Return whether an error is only a consequence of an earlier one."""
    if detail["type"] == "too_short":  # items that are wrong themselves are not counted
        return bool(len(detail["input"]) >= detail["ctx"]["min_length"])
    return detail["type"] == "default_factory_not_called"


def allowed(node: Node) -> tuple[str, ...]:
    """Return the values or the range allowed at ``node``; empty if it defines neither."""
    said = node.said
    if "enum" in said or "const" in said:
        return tuple(str(value) for value in said.get("enum", [said.get("const")]))
    if "minimum" in said:
        return (f"{said['minimum']} to {said['maximum']}" if "maximum" in said else f"{said['minimum']} or more",)
    return ()


def _problem(detail: ErrorDetails, root: Node) -> Problem:
    """Return our problem for one of pydantic's errors, by its type."""
    kind, context, given = detail["type"], detail.get("ctx", {}), detail["input"]
    path, place = follow(root, detail["loc"], by_field=kind in (FINDING, "value_error"))
    node = place or Node({}, {})
    if kind == "invalid_key" or detail["loc"][-1:] == ("[key]",):
        return Problem(path, str(context["error"]) if kind == "value_error" else "a key must be text; put it in quotes")
    if kind == "extra_forbidden":
        known = (follow(root, detail["loc"][:-1])[1] or root).keys
        return Problem(path, f"unknown key{did_you_mean(path[-1], known)}", allowed=tuple(known))
    if kind.startswith("union_tag_"):
        path, given, node = (*path, node.tag_key), given.get(node.tag_key), Node({"enum": list(node.members)}, {})
        kind = "missing" if given is None else "enum"
    if kind == "missing":
        values = allowed(node)
        return Problem(path, "is required" if values else f"is required: {_a(node.kind)}", allowed=values)
    if kind in (FINDING, "value_error"):
        return _refused(path, context, given, node)
    kind = "empty" if kind == "string_too_short" and context["min_length"] == 1 else kind
    figures = {key: _figure(value) for key, value in context.items()}
    message = _SAID[kind].format(**figures, a_kind=_a(node.kind)) if kind in _SAID else detail["msg"]
    if kind in _COUNTED:
        return Problem(path, message)
    is_unquoted = kind == "string_type" and not isinstance(given, Mapping | list | None)
    return _unfit(path, f"{message}; put it in quotes" if is_unquoted else message, given, node)


def _refused(path: KeyPath, context: Mapping[str, Any], given: Any, node: Node) -> Problem:
    """Return the problem found by one of our checks. Allowed values are listed only if the value is not one."""
    message = context["message"] if "message" in context else str(context["error"])
    is_listed = "enum" in node.said or "const" in node.said
    if given is None or not is_listed or str(given) in allowed(node):
        return Problem(path, message, None if given is None else shown(given), context.get("allowed", ()))
    return _unfit(path, message, given, node, context.get("allowed", ()))


def _unfit(path: KeyPath, message: str, given: Any, node: Node, likely: tuple[str, ...] = ()) -> Problem:
    """Return the problem of a value that is not allowed at ``node`` or has the wrong type.

    ``likely`` are the allowed values of which one was meant; default: all.
    """
    values = likely or allowed(node)
    meant = did_you_mean(given, values)
    is_helpful = len(values) <= _ALLOWED_MAX or (isinstance(given, str) and not meant)
    return Problem(path, message + meant, shown(given), values if is_helpful else ())


def _figure(value: Any) -> Any:
    """Return a bound as people write it: 100, not 100.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _a(kind: str) -> str:
    return kind if kind in ("text", "true or false") else f"a {kind}"


_COUNTED: Final = ("empty", "too_long", "too_short")

_SAID: Final = {
    **dict.fromkeys(
        (
            *("bool_type", "bool_parsing", "dict_type", "float_type", "float_parsing", "finite_number"),
            *("int_type", "int_parsing", "int_from_float", "int_parsing_size", "list_type", "tuple_type"),
            *("model_type", "model_attributes_type", "string_type"),
        ),
        "must be {a_kind}",
    ),
    **dict.fromkeys(("enum", "literal_error"), "unknown value"),
    "empty": "must not be empty",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_long": "must have at most {max_length} characters",
    "string_unicode": "must be valid Unicode text",
    "string_too_short": "must have at least {min_length} characters",
    "too_long": "has {actual_length} entries, at most {max_length} are allowed",
    "too_short": "must have at least {min_length} entry",
}
"""Messages for pydantic's error types; others keep pydantic's text."""
