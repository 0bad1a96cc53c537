"""All rules, discovered automatically: a new file in a family of ``policies/rules`` adds a rule."""

import pkgutil
from importlib import import_module
from typing import Any, Final

from policies import rules
from policies.rule import Pack, Rule


def _discover() -> tuple[Rule[Any], ...]:
    found = pkgutil.walk_packages(rules.__path__, f"{rules.__name__}.")
    modules = (import_module(module.name) for module in found if not module.ispkg)
    return tuple(sorted((module.RULE for module in modules), key=lambda rule: rule.id))


RULES: Final = _discover()
"""Every rule, sorted by id."""


def rules_of(pack: Pack) -> tuple[Rule[Any], ...]:
    """Return the rules of one pack, sorted by id."""
    return tuple(rule for rule in RULES if rule.pack is pack)
