"""What is lost when a resource is replaced or deleted, and which kinds need an approval for that.

Facts by resource type; node groups and namespaces are classified by their labels.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from components.contract.pools import PoolRole
from policies.resource import Resource
from policies.values import NotJudgeableError, Value
from policies.views.namespaces import is_user_namespace
from policies.views.node_groups import CLOUDS, node_groups
from policies.views.node_groups.local import NODE
from policies.views.type_tokens import NAMESPACE


class _Fact(NamedTuple):
    loses: str
    """What is lost with the resource; empty if nothing."""
    kind: str = ""
    """The protected kind; empty if the resource is not protected."""


_NOTHING: Final = _Fact("")
_HIDDEN: Final = _Fact("what it holds (its role is unknown)", "resource of unknown role")
"""Fact for groups and namespaces with unknown inputs, which may be protected."""

_BY_ROLE: Final = {
    PoolRole.DATA: _Fact("the data on the disks of its nodes", "data pool"),
    PoolRole.INITIAL: _Fact("the nodes of the platform's core services", "initial group"),
}
_NAMESPACE: Final = _Fact("the namespace with all objects and volume claims in it")
"""https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/."""

_DISK: Final = _Fact("all data on it")
_LOGS: Final = _Fact("all logs in it")
_NETWORK: Final = _Fact("the addresses and routes of everything in it", "network")
_KEY: Final = _Fact("access to everything that it encrypted", "encryption key")
_CLUSTER: Final = _Fact("the cluster with all that runs on it", "cluster")


_BY_TYPE: Final = {
    **{
        pattern: fact
        for cloud in CLOUDS
        for fact, patterns in (
            (_CLUSTER, cloud.clusters),
            (_KEY, cloud.keys),
            (_NETWORK, cloud.networks),
            (_DISK, cloud.disks),
            (_LOGS, cloud.logs),
        )
        for pattern in patterns
    },
    NAMESPACE: _NAMESPACE,
    # Deleting a definition deletes its objects:
    # https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": _Fact("all objects of its kind"),
    # https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
    "kubernetes:core/v1:PersistentVolume(Claim)?": _DISK,
}
_GROUPS: Final = "|".join([*(cloud.group for cloud in CLOUDS), NODE])
"""Excludes the autoscaler's templates, whose groups have other roles and start empty."""


def kind_of(type_: str, name: str, inputs: Mapping[str, Any]) -> str:
    """Return the protected kind of a resource, such as ``initial group``; empty if it is not protected.

    Parameters
    ----------
    type_, name
        Its type token and logical name.
    inputs
        Its inputs before the change.
    """
    return _fact(type_, name, inputs).kind


def carries_state(type_: str, inputs: Mapping[str, Any]) -> str:
    """Return a description of what is lost with a resource; empty if nothing. Parameters as in ``kind_of``."""
    return _fact(type_, "", inputs).loses


def _fact(type_: str, name: str, inputs: Mapping[str, Any]) -> _Fact:
    resource = Resource(type_, name, "", Value(dict(inputs)))
    try:
        if re.fullmatch(_GROUPS, type_):
            return next((_BY_ROLE[group.role] for group in node_groups(resource) if group.role in _BY_ROLE), _NOTHING)
        if is_user_namespace(resource):
            return _NAMESPACE._replace(kind="namespace")
    except NotJudgeableError:
        return _HIDDEN
    return next((fact for pattern, fact in _BY_TYPE.items() if re.fullmatch(pattern, type_)), _NOTHING)
