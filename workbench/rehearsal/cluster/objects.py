"""The objects that a stack's program declares, as far as a rehearsal needs them in its cluster."""

import time
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Final

from components.contract import autoscaler
from components.contract.headroom import HEADROOM
from workbench.rehearsal.cluster.simulated import Api, ApiError, LostError
from workbench.stacks import Stack
from workbench.system.errors import UserError

APPLIED: Final = (
    "CustomResourceDefinition",
    "Namespace",
    "PriorityClass",
    "StorageClass",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "ConfigMap",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "PolicyParameters",
    "ValidatingAdmissionPolicy",
    "MutatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicyBinding",
    "Deployment",
)
"""Kinds that are applied, in this order: parameters exist before the policies that read them, and policies before their
bindings. Otherwise the API server would look for the parameters again only after 30 s, and refuse all pods until then.
Of Deployments only the placeholders of headroom are applied: the load of the cluster's own pods is created separately.
"""

LEFT_OUT: Final = {
    "Node": "the rehearsal makes the nodes",
    "DaemonSet": "the load of the cluster's own pods is made apart",
    "PersistentVolume": "scenarios make the claims of their pods, and their volumes",
    "PersistentVolumeClaim": "scenarios make the claims of their pods, and their volumes",
}
"""Kinds that are not applied, and why."""

_ESTABLISHED_SECONDS: Final = 30.0
_PAUSE: Final = 0.05

_ONE_PROGRAM: Final = Lock()
"""The engine's SDK runs one program in a process at a time."""


def objects_of(stack: Stack) -> list[dict[str, Any]]:
    """Return the manifests that a rehearsal of ``stack`` needs, in the order in which they can be applied.

    The stack's program runs in this process and queries no cluster: values that the cloud of a new cluster would set
    are left out, and nothing is known about an existing one either.

    Raises
    ------
    UserError
        The program cannot be run, or a provider rejects what it declares.
    """
    from workbench.offline.declared import declared  # noqa: PLC0415 it loads the SDK, which no other command needs

    with _ONE_PROGRAM:
        result = declared(stack, {})
    if result.refused:
        problems = "\n".join(f"  {each.urn}: {each.problem.path}: {each.problem.reason}" for each in result.refused)
        raise UserError(
            f"The resources of '{stack.name}' are invalid:\n{problems}",
            f"`igz-clusters check {stack.name}` shows them; correct the stack file.",
        )
    return chosen(result.objects)


def chosen(objects: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those of the declared objects that a rehearsal applies, in the order in which they can be applied."""
    wanted = [each for each in objects if each["kind"] in APPLIED and not _is_made_apart(each)]
    return sorted(wanted, key=lambda each: APPLIED.index(each["kind"]))


def apply_objects(api: Api, objects: Sequence[dict[str, Any]], progress: Callable[[str], None]) -> None:
    """Apply objects in their order, and wait for each kind that they define.

    Raises
    ------
    UserError
        The API server refuses an object.
    LostError
        It does not answer.
    """
    progress(f"applying {len(objects)} objects of the stack")
    for each in objects:
        try:
            api.apply(each)
            if each["kind"] == "CustomResourceDefinition":
                wait_for_kind(api, each)
        except ApiError as error:
            name = each["metadata"].get("name", "")
            raise UserError(
                f"The API server refuses the {each['kind']} {name} of the stack: {error.message}",
                "If the stack names an older version of Kubernetes, raise it; otherwise report this as a defect.",
            ) from error


def wait_for_kind(api: Api, definition: Mapping[str, Any]) -> None:
    """Wait until the API server serves the kind of a definition; ``LostError`` if it does not."""
    spec = definition["spec"]
    kind = spec["names"]["kind"]
    manifest = {
        "apiVersion": f"{spec['group']}/{spec['versions'][0]['name']}",
        "kind": kind,
        "metadata": {"name": "x", "namespace": "default"},
    }
    deadline = time.monotonic() + _ESTABLISHED_SECONDS
    while not _is_served(api, manifest):
        if time.monotonic() > deadline:
            raise LostError(f"The API server of the rehearsal does not serve the kind {kind}.\nRehearse again.")
        time.sleep(_PAUSE)


def _is_served(api: Api, manifest: Mapping[str, Any]) -> bool:
    """Return whether discovery names the kind of an object, and its objects can be listed."""
    try:
        return api.get(api.path_of(manifest).rpartition("/")[0]) is not None
    except ApiError:
        return False


def _is_made_apart(manifest: dict[str, Any]) -> bool:
    """Return whether the rehearsal creates it itself: ConfigMaps of the node groups, and pods of the cluster's own."""
    kind, metadata = manifest["kind"], manifest["metadata"]
    if kind == "Deployment":
        return bool(metadata.get("namespace") != HEADROOM)
    return kind == "ConfigMap" and metadata.get("name") in {autoscaler.CONFIG, autoscaler.TEMPLATES}
