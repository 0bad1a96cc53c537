"""Which properties of a Kubernetes object cannot be changed in place, by Pulumi's Kubernetes provider.

Read from the source of the release that ``toolchain/kubernetes-provider`` pins: pulumi/pulumi-kubernetes,
``provider/pkg/provider/diff.go``. API versions that no supported cluster serves are left out.
"""

from collections.abc import Mapping
from typing import Any, Final

FACTS_DATE: Final = "2026-11-21"
"""When the source was read."""

IDENTITY: Final = ("metadata.name", "metadata.namespace")
"""Properties whose change replaces an object of any kind."""

_CONTAINER: Final = (
    "args",
    "command",
    "env",
    "image",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "resources",
    "securityContext",
    "stdin",
    "stdinOnce",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "tty",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
)
_POD: Final = (
    "affinity",
    "automountServiceAccountToken",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostname",
    "imagePullSecrets",
    "nodeName",
    "nodeSelector",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "readinessGates",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "volumes",
)
_VOLUME: Final = (
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "csi",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "glusterfs",
    "hostPath",
    "iscsi",
    "local",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
)

SECRET: Final = "kubernetes:core/v1:Secret"  # noqa: S105 a type token
CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"

REPLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "kubernetes:apps/v1:DaemonSet": ("spec.selector",),
    "kubernetes:apps/v1:Deployment": ("spec.selector",),
    "kubernetes:apps/v1:StatefulSet": (
        "spec.podManagementPolicy",
        "spec.revisionHistoryLimit",
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ),
    "kubernetes:batch/v1:Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "kubernetes:core/v1:PersistentVolume": tuple(f"spec.{kind}" for kind in _VOLUME),
    "kubernetes:core/v1:PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ),
    "kubernetes:core/v1:Pod": (
        *(f"spec.{field}" for field in _POD),
        *(f"spec.{kind}[*].{field}" for kind in ("containers", "initContainers") for field in _CONTAINER),
    ),
    "kubernetes:core/v1:ResourceQuota": ("spec.scopes",),
    SECRET: ("type",),
    "kubernetes:core/v1:Service": ("spec.clusterIP",),
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": ("roleRef",),
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": ("roleRef",),
    "kubernetes:storage.k8s.io/v1:StorageClass": ("parameters", "provisioner"),
}
"""By type token: what replaces the object when it or anything below it changes, besides ``IDENTITY``."""

CONTENT: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    SECRET: ("enableSecretMutable", ("stringData", "data")),
    CONFIG_MAP: ("enableConfigMapMutable", ("binaryData", "data")),
}
"""By type token: the provider's setting that lets content change in place, and what replaces the object without it.

An object that is marked ``immutable`` is replaced regardless of the setting.
"""


def replacing(type_: str, inputs: Mapping[str, Any], settings: frozenset[str]) -> tuple[str, ...]:
    """Return the paths that replace an object when they change; ``[*]`` in them is any index.

    Parameters
    ----------
    type_, inputs
        The declared object.
    settings
        Names of the provider's settings that are on.
    """
    setting, content = CONTENT.get(type_, ("", ()))
    in_place = setting in settings and not inputs.get("immutable")
    return (*IDENTITY, *REPLACES.get(type_, ()), *(() if in_place else content))
