"""Permissions of the Cluster Autoscaler in the cluster.

Derived from its source: what its informers list and its actuation writes. It reads no Secret, and writes only
evictions, taints of nodes, events, its lease and its status.
"""

from collections.abc import Sequence
from typing import Any, Final

import pulumi
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components.contract.autoscaler import NAME, NAMESPACE, STATUS
from components.ownership import owned

_LOOK: Final = ["get", "list", "watch"]

CLUSTER_RULES: Final[Sequence[dict[str, Any]]] = (
    # The autoscaler simulates the scheduler, and reads all objects on which placement depends.
    {
        "apiGroups": [""],
        "resources": [
            *("namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes"),
            *("pods", "replicationcontrollers", "services"),
        ],
        "verbs": _LOOK,
    },
    {"apiGroups": ["apps"], "resources": ["daemonsets", "replicasets", "statefulsets"], "verbs": _LOOK},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": _LOOK},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": _LOOK},
    {
        "apiGroups": ["storage.k8s.io"],
        "resources": ["csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments"],
        "verbs": _LOOK,
    },
    {
        "apiGroups": ["resource.k8s.io"],
        "resources": ["deviceclasses", "resourceclaims", "resourceslices"],
        "verbs": _LOOK,
    },
    # It taints nodes that it is about to remove, and evicts their pods.
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch", "update"]},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
)

OWN_RULES: Final[Sequence[dict[str, Any]]] = (
    # RBAC cannot restrict `create` to a name.
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "resourceNames": [NAME],
        "verbs": ["get", "update"],
    },
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]},
    {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [STATUS],
        "verbs": ["delete", "get", "update"],
    },
)
"""Rules in its own namespace."""


def autoscaler_rights(name: str, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
    """Create the autoscaler's two roles and bind its service account to them."""
    here = owned(NAME, namespace=NAMESPACE)
    subjects = [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}]
    role_ref = {"apiGroup": "rbac.authorization.k8s.io", "name": NAME}
    return [
        ClusterRole(name, metadata=owned(NAME), rules=list(CLUSTER_RULES), opts=opts),
        ClusterRoleBinding(
            name,
            metadata=owned(NAME),
            role_ref={**role_ref, "kind": "ClusterRole"},
            subjects=subjects,
            opts=opts,
        ),
        Role(name, metadata=here, rules=list(OWN_RULES), opts=opts),
        RoleBinding(name, metadata=here, role_ref={**role_ref, "kind": "Role"}, subjects=subjects, opts=opts),
    ]
