"""Problems that the model finds in settings, with this package's messages."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from components.contract.choices import FINDING
from components.stack_files.problem import (
    LISTED_MAX,
    KeyPath,
    Problem,
    did_you_mean,
    nearest,
    path_text,
    printable,
    shown,
)
from infra.config.tree import Node, follow, tree

__all__ = [
    "KeyPath",
    "Problem",
    "allowed",
    "did_you_mean",
    "nearest",
    "path_text",
    "printable",
    "problems_of",
    "shown",
]


_NEED_OTHERS: Final = frozenset(
    {FINDING, "default_factory_not_called", "missing", "too_short", "union_tag_not_found", "value_error"}
)
"""Types of errors about several keys, or about a missing one."""


def problems_of(error: ValidationError, model: type[BaseModel], *, is_partial: bool = False) -> list[Problem]:
    """Return the problems that pydantic's ``error`` reports in a document of ``model``, with the document's paths.

    With ``is_partial``, other documents complete this one: it may lack keys, null removes a key, and problems that
    depend on other keys are left out.
    """
    root = tree(model)
    details = error.errors(include_url=False)
    if is_partial:
        details = [each for each in details if each["type"] not in _NEED_OTHERS and each["input"] is not None]
    return [_problem(detail, root) for detail in details if not _is_a_consequence(detail)]


def _is_a_consequence(detail: ErrorDetails) -> bool:
    """Return whether an error is only a consequence of an earlier one."""
    if detail["type"] == "too_short":  # pydantic does not count invalid items
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
    """Return the problem found by one of our checks. Allowed values are listed only if the value is not one of them."""
    message = context["message"] if "message" in context else str(context["error"])
    is_listed = "enum" in node.said or "const" in node.said
    if given is None or not is_listed or str(given) in allowed(node):
        return Problem(path, message, None if given is None else shown(given), context.get("allowed", ()))
    return _unfit(path, message, given, node, context.get("allowed", ()))


def _unfit(path: KeyPath, message: str, given: Any, node: Node, likely: tuple[str, ...] = ()) -> Problem:
    """Return the problem of a value that is not allowed at ``node`` or has the wrong type.

    ``likely`` are the allowed values that may have been meant; default: all.
    """
    values = likely or allowed(node)
    meant = did_you_mean(given, values)
    is_helpful = len(values) <= LISTED_MAX or (isinstance(given, str) and not meant)
    return Problem(path, message + meant, shown(given), values if is_helpful else ())


def _figure(value: Any) -> Any:
    """Return a bound without needless decimals: 100, not 100.0."""
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
