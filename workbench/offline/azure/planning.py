"""What Azure does with a change that the plug-in would send: refuses it, or keeps an input that is left out.

Only what has a source counts; what is assumed stays the change that the plug-in shows.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pulumi.runtime.proto.provider_pb2 import PropertyDiff

from workbench.offline.azure.facts import Statement, facts
from workbench.offline.azure.inputs import inputs_of, said
from workbench.offline.input_paths import around
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import Changed, CloudError


def planned(type_: str, changed: Changed, new: Mapping[str, Any]) -> Changed:
    """Return what comes of a change in place: without the inputs that Azure keeps, which become warnings.

    Raises
    ------
    CloudError
        Azure does not make the change; the text names every input with its source.
    """
    if changed.replaces:
        return changed
    refused, kept = dict[str, Statement](), dict[str, Statement]()
    for path, kind in changed.kinds.items():
        is_gone = kind == PropertyDiff.DELETE and not path.endswith("]")
        found = said(type_, _input(type_, path), "absent" if is_gone else "change")
        if found is None or not found.source:
            continue
        if found.answer == "refused" and (is_gone or _is_meant(found, _at(new, path))):
            refused[path] = found
        elif found.answer == "keeps" and is_gone:
            kept[path] = found
    if refused:
        lines = (f"  {path}: fixed when it is made ({_source(found)})" for path, found in refused.items())
        advice = "Undo the change, or give the resource another name, so that another one is made."
        raise CloudError("\n".join([f"Azure does not change this {type_} in place:", *lines, advice]))
    warnings = tuple(_warning(type_, path, found) for path, found in kept.items())
    return replace(changed, kinds={p: kind for p, kind in changed.kinds.items() if p not in kept}, warnings=warnings)


def _input(type_: str, path: str) -> str:
    """Return the innermost input that the path of a change is or is in."""
    known = inputs_of(type_)
    return next((each for each in around(re.sub(r"\[\d+\]", "[]", path).removesuffix("[]")) if each in known), path)


def _at(given: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path; None if there is none."""
    found: Any = given
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        if index:
            found = found[int(index)] if isinstance(found, list) and int(index) < len(found) else None
        else:
            found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _is_meant(found: Statement, value: Any) -> bool:
    return value is not UNKNOWN and found.to in (None, value)


def _source(found: Statement) -> str:
    known = facts().sources[found.source]
    if "page" in known:
        return f"{known['page']}, {known['date']}"
    return f"{known['repository']} {known['file']}, {known['year']}"


def _warning(type_: str, path: str, found: Statement) -> str:
    cleared = said(type_, _input(type_, path), "cleared")
    how = "It cannot be cleared, only changed; another resource has none."
    if cleared and cleared.answer != "never":
        how = f"To clear it, give: {cleared.answer}."
    return f"{path} is left out, and Azure keeps the value that it has ({_source(found)}). {how}"
