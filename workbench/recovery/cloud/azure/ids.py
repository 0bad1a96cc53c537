"""ARM ids of what a program declares: all names are its own, so that each id is known before anything exists."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from components.contract.aks.config import AksConfig
from workbench.offline.azure.facts import facts, resource

_PLACE: Final = re.compile(r"\{(\w+)\}")


def id_of(type_: str, inputs: Mapping[str, Any], choices: AksConfig) -> str | None:
    """Return the id of a resource; None if an input is missing that it is made of.

    Parameters
    ----------
    type_
        Pulumi's.
    inputs
        Without those that are not known.
    choices
        They name the subscription.
    """
    known = {"subscriptionId": choices.subscription_id, **inputs}
    names = _PLACE.findall(resource(type_).id)
    if not all(isinstance(known.get(name), str) and known[name] for name in names):
        return None
    # What a resource extends is an id itself, and begins with the slash that the path has too.
    return _PLACE.sub(lambda place: str(known[place[1]]).strip("/"), resource(type_).id)


def _arm_type(path: str) -> str:
    """Return a type as Azure writes it, by the path of its ids."""
    namespace, *words = path.rpartition("/providers/")[2].split("/")
    return "/".join((namespace, *words[::2])).lower()


@cache
def pulumi_types() -> Mapping[str, str]:
    """Return Pulumi's type by Azure's in lower case."""
    known = facts().resources.items()
    return {_arm_type(each.id): type_ for type_, each in known if "/providers/" in each.id}
