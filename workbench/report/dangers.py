"""What is lost when a resource is replaced or deleted, and which kinds need an approval for that.

Facts by resource type; node groups and namespaces are classified by their labels, node groups also by their size, and
shared storage by its purpose.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from components.contract.labels import AnnotationKey
from components.contract.pools import PoolRole
from components.contract.shared_storage import Purpose, volume_name
from policies.resource import Resource
from policies.values import NotJudgeableError, Value
from policies.views.namespaces import is_user_namespace
from policies.views.node_groups import CLOUDS, NodeGroupFacts, node_groups
from policies.views.node_groups.local import NODE
from policies.views.objects import namespace_of
from policies.views.shared_storage import SHARE, AzureFiles, shared_storage
from policies.views.type_tokens import NAMESPACE


class _Fact(NamedTuple):
    loses: str
    """What is lost with the resource; empty if nothing."""
    kind: str = ""
    """The protected kind; empty if the resource is not protected."""


_NOTHING: Final = _Fact("")
_NODES: Final = "live nodes"
"""Kind of a group whose only loss is its running nodes."""

_HIDDEN: Final = _Fact("what it holds (its role is unknown)", "resource of unknown role")
"""Fact for groups and namespaces with unknown inputs, which may be protected."""

_BY_ROLE: Final = {
    PoolRole.DATA: _Fact("the data on the disks of its nodes", "data pool"),
    PoolRole.INITIAL: _Fact("the nodes of the platform's core services", "initial group"),
}
_NAMESPACE: Final = _Fact("the namespace with all objects and volume claims in it")
"""https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/."""

_DISK: Final = _Fact("all data on it")
_STORAGE: Final = _DISK._replace(kind="shared storage")
_LOGS: Final = _Fact("all logs in it")
_NETWORK: Final = _Fact("the addresses and routes of everything in it", "network")
_KEY: Final = _Fact("access to everything that it encrypted", "encryption key")
_CLUSTER: Final = _Fact("the cluster with all that runs on it", "cluster")


_CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"

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
    "kubernetes:core/v1:PersistentVolume": _DISK,
    _CLAIM: _DISK,
}
_GROUPS: Final = "|".join([*(cloud.group for cloud in CLOUDS), NODE])
"""Excludes the autoscaler's templates: only the cluster knows their nodes."""


def kind_of(type_: str, name: str, properties: Mapping[str, Any], scratch: Collection[str] = ()) -> str:
    """Return the protected kind of a resource, such as ``initial group``; empty if it is not protected.

    Parameters
    ----------
    type_, name
        Its type token and logical name.
    properties
        Its inputs before the change, with its outputs, which have the live size of a node group.
    scratch
        The storage accounts of ``scratch_accounts``. Default: none.
    """
    return _fact(type_, name, properties, scratch).kind


def carries_state(type_: str, properties: Mapping[str, Any]) -> str:
    """Return a description of what is lost with a resource; empty if nothing. Parameters as in ``kind_of``."""
    return _fact(type_, "", properties).loses


def scratch_accounts(resources: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Return the names of the storage accounts that hold scratch data only, by type token and properties.

    A file share has no tags: only its account says what it is for.
    """
    for type_, properties in resources:
        with suppress(NotJudgeableError):
            for each in shared_storage([Resource(type_, "", "", Value(dict(properties)))]):
                if isinstance(each, AzureFiles) and not each.is_kept:
                    yield from filter(None, (each.resource.props.at(key).text() for key in ("name", "accountName")))


def shrinks(type_: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, str]:
    """Return the protected kind of a node group, and which nodes an update removes; both empty if it removes none.

    The size of an elastic group is the autoscaler's, so only a group of fixed size shrinks.

    Parameters
    ----------
    type_
        Its type token.
    before
        Its properties before the update, as in ``kind_of``.
    after
        Its inputs after the update.
    """
    if not re.fullmatch(_GROUPS, type_):
        return "", ""
    with suppress(NotJudgeableError):
        old, new = (next(node_groups(Resource(type_, "", "", Value(dict(each)))), None) for each in (before, after))
        had, stay = old and old.nodes, new and not new.is_elastic and new.nodes
        if had and stay and stay < had:
            return _NODES, f"{had - stay} of its {had} nodes with the pods on them"
    return "", ""


def _fact(type_: str, name: str, properties: Mapping[str, Any], scratch: Collection[str] = ()) -> _Fact:
    resource = Resource(type_, name, "", Value(dict(properties)))
    try:
        if re.fullmatch(_GROUPS, type_):
            return next(map(_of_group, node_groups(resource)), _NOTHING)
        if is_user_namespace(resource):
            return _NAMESPACE._replace(kind="namespace")
        if _is_kept(resource, scratch):
            return _STORAGE
    except NotJudgeableError:
        return _HIDDEN
    return next((fact for pattern, fact in _BY_TYPE.items() if re.fullmatch(pattern, type_)), _NOTHING)


def _is_kept(resource: Resource, scratch: Collection[str]) -> bool:
    """Return whether a resource is shared storage, or a part with data of its own, and not known to be for scratch."""
    props = resource.props
    if re.fullmatch(SHARE, resource.type):
        return props.at("accountName").text() not in scratch
    if resource.type == _CLAIM:
        is_ours = resource.name == volume_name(namespace_of(resource), props.at("metadata", "name").text() or "")
        # The data of a volume that the stack declares stays in its storage.
        is_declared = props.at("spec", "volumeName").text() == resource.name
        purpose = props.at("metadata", "annotations", AnnotationKey.PURPOSE.value).text()
        return is_ours and not is_declared and purpose != Purpose.SCRATCH
    return any(each.is_kept for each in shared_storage([resource]))


def _of_group(group: NodeGroupFacts) -> _Fact:
    if group.role in _BY_ROLE:
        return _BY_ROLE[group.role]
    if group.nodes == 0:
        return _NOTHING
    if group.nodes == 1:
        return _Fact("its only node with the pods on it", _NODES)
    number = "nodes, number unknown," if group.nodes is None else f"{group.nodes} nodes"
    return _Fact(f"its {number} with the pods on them", _NODES)
