"""What Azure does with a change that the plug-in would send: refuses it, or keeps an input that is left out.

Only facts with a source count; for assumed ones, the plan shows the plug-in's change.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pulumi.runtime.proto.provider_pb2 import PropertyDiff

from workbench.offline.azure.facts import facts, resource
from workbench.offline.facts import Statement
from workbench.offline.input_paths import around
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import Changed, CloudError


def planned(type_: str, changed: Changed, new: Mapping[str, Any]) -> Changed:
    """Return the effect of a change in place: without the inputs that Azure keeps, which become warnings.

    Raises
    ------
    CloudError
        Azure does not make the change; the text names every input with its source.
    """
    if changed.replaces:
        return changed
    known = resource(type_)
    refused, kept = dict[str, Statement](), dict[str, str]()
    for path, kind in changed.kinds.items():
        is_gone = kind == PropertyDiff.DELETE and not path.endswith("]")
        outer = around(re.sub(r"\[\d+\]", "[]", path).removesuffix("[]"))
        fact = next((each for one in outer for each in known.inputs if _is_of(each, one)), path)
        found = known.said(fact, "absent" if is_gone else "change")
        if found is None or not found.source:
            continue
        if found.answer == "refused" and (is_gone or _is_meant(found, _at(new, path))):
            refused[path] = found
        elif found.answer == "keeps" and is_gone:
            kept[path] = facts().kept("Azure", path, known, fact)
    if refused:
        lines = (
            f"  {path}: fixed when it is made ({facts().sources[found.source]})" for path, found in refused.items()
        )
        advice = "Undo the change, or give the resource another name, so that another one is made."
        raise CloudError("\n".join([f"Azure does not change this {type_} in place:", *lines, advice]))
    kinds = {path: kind for path, kind in changed.kinds.items() if path not in kept}
    return replace(changed, kinds=kinds, warnings=tuple(kept.values()))


def _is_of(fact: str, path: str) -> bool:
    """Return whether a path leads to an input, whose own path has ``{}`` for the key of a map."""
    return bool(re.fullmatch(re.escape(fact).replace(r"\{\}", r"\.[^.]+"), path))


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
