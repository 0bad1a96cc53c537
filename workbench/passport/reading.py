"""Reads a cluster for a passport: what ``verify`` reads, and other owners' objects that affect admission and rights."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from components.contract.autoscaler import NAMESPACE as SYSTEM
from workbench.engine.kubectl import Api
from workbench.engine.live_objects import LiveObject, key_of
from workbench.system.errors import UserError
from workbench.verification.contract import Contract
from workbench.verification.snapshot import Snapshot, take

_EVERYWHERE: Final = (
    "clusterrolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
)
_IF_SERVED: Final = (
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
)
_IN_USER_NAMESPACES: Final = (
    *("limitranges", "resourcequotas"),
    *("rolebindings.rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io"),
)
_ADD_ONS: Final = ("daemonsets.apps", "deployments.apps")
"""All of these are kinds that the role ``igz-clusters:verifier`` may list."""


@dataclass(frozen=True)
class Sight:
    """A cluster at one moment.

    Parameters
    ----------
    contract
        What the stack demands of it.
    snapshot
        Its objects.
    uid
        UID of the namespace kube-system.
    version
        Version of the API server.
    served
        Groups and versions of its APIs, such as ``resource.k8s.io/v1``.
    """

    contract: Contract
    snapshot: Snapshot
    uid: str
    version: str
    served: frozenset[str]


def read(api: Api, contract: Contract) -> Sight:
    """Read a cluster; changes nothing, and reads no Secrets.

    Raises
    ------
    UserError
        The cluster does not answer, or refuses a request.
    """
    namespaces = tuple(contract.config.namespaces)
    snapshot = take(api, contract.declared.values(), namespaces)
    everywhere = (*_EVERYWHERE, *(_IF_SERVED if snapshot.mutates else ()))
    found = [
        *_listed(api, everywhere),
        *_listed(api, _ADD_ONS, "--namespace", SYSTEM),
        *(each for name in namespaces for each in _listed(api, _IN_USER_NAMESPACES, "--namespace", name)),
    ]
    more = {key_of(each): LiveObject(each) for each in found}
    whole = replace(snapshot, objects={**more, **snapshot.objects})
    system = whole.get("Namespace", SYSTEM)
    if system is None or not system.uid:
        raise UserError(f"The cluster has no namespace {SYSTEM}, by which a passport identifies it.")
    return Sight(
        replace(contract, mutates=snapshot.mutates),
        whole,
        system.uid,
        str(json.loads(api.run("get", "--raw", "/version"))["gitVersion"]),
        frozenset(_served(json.loads(api.run("get", "--raw", "/apis")))),
    )


def _listed(api: Api, kinds: Iterable[str], *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(api.run("get", ",".join(kinds), *options, "-o", "json"))["items"]
    return found


def _served(answer: Mapping[str, Any]) -> Iterable[str]:
    return (version["groupVersion"] for group in answer["groups"] for version in group["versions"])
