"""Fragments of CEL, the API server's expression language, that several rules need."""

from collections.abc import Iterable
from typing import Final

TERMS: Final = (
    "variables.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
    ".?nodeSelectorTerms.orValue([])"
)
"""Terms of the pod's required node affinity; a node must match one of them."""

EXPRESSIONS: Final = "term.?matchExpressions.orValue([])"
"""Label requirements of a ``term``."""

VALUES: Final = "demand.?values.orValue([])"
"""Values of a ``demand``."""

TOLERATIONS: Final = "variables.spec.?tolerations.orValue([])"
"""The pod's tolerations."""


def selected(key: str) -> str:
    """Return the expression for the value of ``key`` in the pod's node selector, empty without one."""
    return f"variables.spec.?nodeSelector['{key}'].orValue('')"


def label(key: str) -> str:
    """Return the expression for the value of the pod's label ``key``, empty without one."""
    return f"variables.metadata.?labels['{key}'].orValue('')"


def words(texts: Iterable[str]) -> str:
    """Return a list of texts."""
    return "[" + ", ".join(f"'{text}'" for text in texts) + "]"


def culprit(condition: str, text: str) -> str:
    """Return a list of the text (an expression) if the condition holds, else an empty list."""
    return f"({condition} ? [{text}] : [])"


def wrong_selector(key: str, allowed: str) -> str:
    """Return a list that names the node selector's value of ``key`` if there is one and ``allowed`` lacks it."""
    found = selected(key)
    return culprit(f"{found} != '' && !({found} in {allowed})", f"'nodeSelector {key}: ' + {found}")


def every_term(test: str) -> str:
    """Return the expression that is true if there are terms, and each contains a ``demand`` that passes ``test``."""
    return f"({TERMS}.size() > 0 && {TERMS}.all(term, {EXPRESSIONS}.exists(demand, {test})))"


def every_demand(test: str) -> str:
    """Return the expression that is true if each ``demand`` of each term passes ``test``."""
    return f"{TERMS}.all(term, {EXPRESSIONS}.all(demand, {test}))"
