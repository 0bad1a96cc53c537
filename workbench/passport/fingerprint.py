"""What a cluster is compared with later: the fields of its objects that do not change by themselves.

What scales or moves is left out: nodes, pods, status, and what the API server notes about an object. Nodes are compared
by the checks of ``verify`` instead: one that does not meet its pool's demands is a deviation.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.contract.autoscaler import NAMESPACE as SYSTEM
from components.contract.digests import digest_of
from components.contract.storage import DEFAULT_KEYS
from policies.views.nuclio import NAME as NUCLIO
from workbench.engine.live_objects import LiveObject, ObjectKey
from workbench.passport.model import Deviation, Fingerprint
from workbench.passport.mpi_jobs import is_of_job
from workbench.passport.reading import Sight
from workbench.verification.deviation import Verification
from workbench.verification.nodes import members

_ALL: Final = frozenset(
    {
        *("ClusterRole", "ClusterRoleBinding", "PriorityClass", "StorageClass"),
        *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
        *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    }
)
_OF_USER_NAMESPACES: Final = frozenset({"LimitRange", "NetworkPolicy", "ResourceQuota", "Role", "RoleBinding"})
_ADD_ONS: Final = frozenset({"DaemonSet", "Deployment"})
_MOVING: Final = frozenset({"Node", "Pod"})

_NOTED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Fields of an object that the API server or a controller writes; kind and name are kept apart."""

_MOMENTS: Final = frozenset({"kubectl.kubernetes.io/restartedAt"})
"""Annotations of pods that only say when something happened."""

_RENEWED: Final = ("clientConfig", "caBundle")
"""Certificate with which the API server verifies a webhook: cert-manager and charts renew it."""

POOL: Final = "Pool"
"""Kind of the entries about nodes."""


def fingerprints(sight: Sight) -> tuple[Fingerprint, ...]:
    """Return the entries of a cluster, in order of their keys."""
    found = {**dict(_pools(sight)), **dict(_objects(sight))}
    return tuple(
        Fingerprint(kind=kind, namespace=namespace, name=name, digest=digest_of(fields), fields=fields)
        for (kind, namespace, name), fields in sorted(found.items())
    )


def deviations(verification: Verification) -> tuple[Deviation, ...]:
    """Return what differs from the contract, as a passport keeps it."""
    return tuple(
        Deviation(check=check, where=str(each.place), problem=each.problem) for check, each in verification.deviations
    )


def _pools(sight: Sight) -> Iterator[tuple[ObjectKey, dict[str, Any]]]:
    """Yield labels and taints of each pool, and the kubelets of those that always have nodes."""
    contract = sight.contract
    nodes = members(contract, sight.snapshot)
    for pool, groups in contract.pools.items():
        infos = (each.node.content.get("status", {}).get("nodeInfo") or {} for each in nodes if each.pool == pool)
        kubelets = {str(info.get("kubeletVersion", "")) for info in infos}
        fields: dict[str, Any] = {
            "labels": dict(groups[0].labels),
            "taints": [str(taint) for taint in groups[0].taints],
            "groups": {group.name: str(group.size) for group in groups},
        }
        if min(size for group in groups for size in group.minimums):
            fields["kubelets"] = sorted(kubelets)
        yield (POOL, "", pool), fields


def _objects(sight: Sight) -> Iterator[tuple[ObjectKey, dict[str, Any]]]:
    for key, live in sight.snapshot.objects.items():
        declared = sight.contract.declared.get(key)
        if declared is not None and live.kind not in _MOVING:
            yield key, _whole(live, declared)
        elif _is_kept(key, sight) and not is_of_job(live):
            yield key, _whole(live, {})
        elif live.kind in _ADD_ONS and live.namespace == SYSTEM:
            yield key, _images(live)


def _is_kept(key: ObjectKey, sight: Sight) -> bool:
    """Return whether an object that the stack does not declare is kept."""
    kind, namespace, name = key
    if kind in _ALL:
        return True
    namespaces = sight.contract.config.namespaces
    if kind == "Namespace":
        return name in namespaces
    is_settings = kind == "ConfigMap" and bool(NUCLIO.fullmatch(name))
    return namespace in namespaces and (kind in _OF_USER_NAMESPACES or is_settings)


def _whole(live: LiveObject, declared: Mapping[str, Any]) -> dict[str, Any]:
    annotations = {*((declared.get("metadata") or {}).get("annotations") or {}), *DEFAULT_KEYS}
    fields = {key: _plain(value, key) for key, value in live.content.items() if key not in _NOTED}
    if live.kind == "ConfigMap":
        fields = {key: _digests(value) for key, value in fields.items()}
    metadata = {
        "labels": dict(live.labels),
        "annotations": {key: value for key, value in live.annotations.items() if key in annotations},
    }
    return {**fields, "metadata": {key: value for key, value in metadata.items() if value}}


def _images(live: LiveObject) -> dict[str, Any]:
    """Return the images of an add-on: its version. The number of its pods is left out, since others set it."""
    spec = live.content["spec"]["template"]["spec"]
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return {"images": {str(each["name"]): str(each.get("image", "")) for each in containers}}


def _plain(value: Any, key: str) -> Any:
    """Return a value without what changes by itself, and with digests in place of environment variables' values."""
    if isinstance(value, Mapping):
        kept = (name for name in value if name not in _MOMENTS and (key, name) != _RENEWED)
        return {name: _plain(value[name], name) for name in kept}
    if isinstance(value, list):
        if key == "env":
            return [_without_value(each) for each in value]
        return [_plain(each, key) for each in value]
    return value


def _without_value(variable: Any) -> Any:
    if isinstance(variable, Mapping) and variable.get("value"):
        return {**variable, "value": digest_of(variable["value"])}
    return variable


def _digests(value: Any) -> Any:
    return {key: digest_of(each) for key, each in value.items()} if isinstance(value, Mapping) else value
