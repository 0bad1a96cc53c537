"""ARM ids of declared resources; the program sets all names, so ids are known before creation."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from components.contract.aks.config import AksConfig
from workbench.offline.azure.facts import facts, resource

_PLACE: Final = re.compile(r"\{(\w+)\}")


def id_of(type_: str, inputs: Mapping[str, Any], choices: AksConfig) -> str | None:
    """Return the id of a resource; None if an input that it is built from is unknown.

    Parameters
    ----------
    type_
        Pulumi type.
    inputs
        Known inputs.
    choices
        The cluster section of the stack file, for the subscription.
    """
    known = {"subscriptionId": choices.subscription_id, **inputs}
    names = _PLACE.findall(resource(type_).id)
    if not all(isinstance(known.get(name), str) and known[name] for name in names):
        return None
    # The scope of an extension resource is an id itself and starts with a slash, as does the path.
    return _PLACE.sub(lambda place: str(known[place[1]]).strip("/"), resource(type_).id)


def _arm_type(path: str) -> str:
    """Return Azure's name of a type from the path of its ids."""
    namespace, *description = path.rpartition("/providers/")[2].split("/")
    return "/".join((namespace, *description[::2])).lower()


@cache
def pulumi_types() -> Mapping[str, str]:
    """Return Pulumi's type by Azure's in lower case."""
    known = facts().resources.items()
    return {_arm_type(each.id): type_ for type_, each in known if "/providers/" in each.id}
