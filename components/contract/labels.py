"""Label keys and values of nodes, namespaces and pods.

Components, policies and messages import them from here.
"""

import re
from enum import StrEnum
from typing import Final

IGUAZIO_DOMAIN: Final = "app.iguazio.com"
"""Prefix that belongs to Iguazio's platform; we write only the lifecycle label under it."""

OWN_DOMAIN: Final = "igz-clusters.io"
"""Prefix of labels and annotations that only this package uses."""


class LabelKey(StrEnum):
    """Label keys of the contract."""

    LIFECYCLE = f"{IGUAZIO_DOMAIN}/lifecycle"
    """On every node: whether it may be reclaimed. MLRun's preemption modes read it (MLRun node affinity)."""

    POOL = f"{OWN_DOMAIN}/pool"
    """On every node: the pool's name, the key under ``pools`` in the stack file."""

    ROLE = f"{OWN_DOMAIN}/role"
    """On every node: the pool's role, a ``PoolRole``."""

    USER_WORKLOADS = f"{OWN_DOMAIN}/user-workloads"
    """``true`` on nodes that user work may use and on namespaces that hold user work."""

    CORE_SERVICE = f"{OWN_DOMAIN}/core-service"
    """``true`` on pods of the platform's own services inside a user namespace; setting it requires a permission."""

    COMPLETION = f"{OWN_DOMAIN}/completion"
    """``guaranteed`` on pods of work whose completion must be guaranteed (Iguazio best practices, QoS)."""

    CRITICAL = f"{OWN_DOMAIN}/critical"
    """``true`` on pods of work that others wait for; its author chooses the class that is scheduled first."""

    GPU_MODEL = f"{OWN_DOMAIN}/gpu-model"
    """On simulated nodes with whole GPUs: the model, such as ``A10G``. The autoscaler recognises a GPU group by it."""

    RESERVED = f"{OWN_DOMAIN}/lifecycle"
    """``reserved`` on nodes of reserved capacity. The platform's lifecycle label has no value for it."""

    GPU_SHARING = f"{OWN_DOMAIN}/gpu-sharing"
    """On nodes whose GPUs are shared: how, such as ``time-slicing-4`` or ``mig-1g.10gb-7``."""

    FABRIC = f"{OWN_DOMAIN}/fabric"
    """On nodes with a fast network between them: which, such as ``efa``."""


TRUE: Final = "true"
"""The only value of the labels ``USER_WORKLOADS``, ``CORE_SERVICE`` and ``CRITICAL``."""


GUARANTEED: Final = "guaranteed"
"""The only value of ``COMPLETION``."""


class AnnotationKey(StrEnum):
    """Annotation keys of the contract: on pods, nodes and claims."""

    RESTART_PLAN = f"{OWN_DOMAIN}/restart-plan"
    """On pods that may run on spot nodes: the restart plan, in the form of ``RESTART_PLAN_PATTERN``."""

    PLACED_BY = f"{OWN_DOMAIN}/placed-by"
    """On pods without node selection of their own: why the API server added one."""

    CORRECTED = f"{OWN_DOMAIN}/corrected"
    """On pods whose placement no node could meet: what the API server changed."""

    COMPLETED = f"{OWN_DOMAIN}/completed-resources"
    """On pods with a request or limit that their author did not set: what the API server added or changed."""

    PURPOSE = f"{OWN_DOMAIN}/purpose"
    """On claims whose driver may delete their data with them: what the storage is for, one of ``Purpose``."""

    CAPACITY = f"{OWN_DOMAIN}/capacity"
    """JSON object of resource quantities; a simulated node reports it as its capacity."""

    ALLOCATABLE = f"{OWN_DOMAIN}/allocatable"
    """JSON object of resource quantities left for pods after the system's reservation."""

    CAPACITY_TYPE = f"{OWN_DOMAIN}/capacity-type"
    """``spot`` or ``on-demand``: lifecycle of a simulated node, which a cloud would report itself."""

    STARTS_IN = f"{OWN_DOMAIN}/starts-in"
    """Time until a simulated node is ready, such as ``2s``, in real seconds; default: none, ready at once."""

    STARTS_AT = f"{OWN_DOMAIN}/starts-at"
    """Moment at which a simulated node is ready; the simulator itself writes it."""

    SIMULATE = f"{OWN_DOMAIN}/simulate"
    """``not-ready`` breaks a simulated node."""

    GROUP = "cluster-autoscaler.kwok.nodegroup/name"
    """The node's group, on templates and on nodes created from them.

    The autoscaler's kwok provider defines the key. Static nodes do not have it: the provider removes nodes whose group
    has no template.
    """

    SIZE_MIN = "cluster-autoscaler.kwok.nodegroup/min-count"
    """Smallest size of the node's group; the same provider defines this key and the next two."""

    SIZE_MAX = "cluster-autoscaler.kwok.nodegroup/max-count"
    """Largest size of the node's group."""

    SIZE_DESIRED = "cluster-autoscaler.kwok.nodegroup/desired-count"
    """Size of the node's group at its creation."""

    STACK = f"{OWN_DOMAIN}/stack"
    """On kube-system of an existing cluster: the stack that uses it."""

    TAINTS = f"{OWN_DOMAIN}/taints"
    """On nodes of such a cluster: the taints that we added and may remove; comma-separated ``key=value:Effect``."""

    SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
    """``false`` on pods whose node the autoscaler must not drain, such as notebooks:
    https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md."""

    SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
    """``true`` on nodes that Cluster Autoscaler must not remove (kubernetes/autoscaler 0a11e9c1,
    ``cluster-autoscaler/core/scaledown/eligibility/eligibility.go``)."""

    SIMULATED = "kwok.x-k8s.io/node"
    """``fake`` on nodes that kwok manages; kwok touches no other node."""


class WellKnownLabel(StrEnum):
    """Labels that Kubernetes defines and that a simulated node must carry itself."""

    ARCH = "kubernetes.io/arch"
    HOSTNAME = "kubernetes.io/hostname"
    INSTANCE_TYPE = "node.kubernetes.io/instance-type"
    OS = "kubernetes.io/os"
    REGION = "topology.kubernetes.io/region"
    ZONE = "topology.kubernetes.io/zone"
    NAMESPACE_NAME = "kubernetes.io/metadata.name"
    POD_SECURITY_ENFORCE = "pod-security.kubernetes.io/enforce"
    POD_SECURITY_ENFORCE_VERSION = "pod-security.kubernetes.io/enforce-version"
    POD_SECURITY_WARN = "pod-security.kubernetes.io/warn"
    POD_SECURITY_AUDIT = "pod-security.kubernetes.io/audit"


RESTART_PLAN_PATTERN: Final = "^(retry|checkpoint:.+|manual:.+)$"
"""``retry``: the object that creates the pod creates another. ``checkpoint:PATH``: a new run continues from there.
``manual:WHO``: a person restarts it."""


RESERVED_PREFIXES: Final = (
    "kubernetes.io",
    "k8s.io",
    "eks.amazonaws.com",
    "kubernetes.azure.com",
    IGUAZIO_DOMAIN,
    OWN_DOMAIN,
)
"""Domains (with subdomains) whose labels a stack file may not set: those of Kubernetes, a cloud or this package."""

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


_RESERVED = "|".join(prefix.replace(".", r"\.") for prefix in RESERVED_PREFIXES)

LABEL_KEY_PATTERN: Final = rf"^(?!([-a-z0-9.]+\.)?({_RESERVED})/)([-a-z0-9.]+/)?{_NAME.pattern}$"
LABEL_VALUE_PATTERN: Final = f"^({_NAME.pattern})?$"
"""Patterns for the JSON Schema, which express the two functions below as far as possible."""


def is_dns_label(name: str) -> bool:
    """Return whether ``name`` is a valid namespace name: RFC 1123, at most 63 characters."""
    return _DNS_LABEL.fullmatch(name) is not None


def label_key_grammar_problem(key: str) -> str | None:
    """Return why ``key`` is not a valid label key, or None.

    Grammar: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
    """
    prefix, slash, name = key.rpartition("/")
    if not _NAME.fullmatch(name):
        subject = "the part after '/'" if slash else "a label's key"
        return f"{subject} must be 1 to 63 letters, digits, '-', '_' or '.', alphanumeric at both ends"
    if slash and not (0 < len(prefix) <= 253 and all(is_dns_label(p) for p in prefix.split("."))):  # noqa: PLR2004 the grammar's own limit
        return "the part before '/' must be a DNS name of at most 253 lower-case characters"
    return None


def label_key_problem(key: str) -> str | None:
    """Return why ``key`` cannot be a label in a stack file, or None."""
    if problem := label_key_grammar_problem(key):
        return problem
    prefix = key.rpartition("/")[0]
    for reserved in RESERVED_PREFIXES:
        if prefix == reserved or prefix.endswith(f".{reserved}"):
            return f"the prefix '{reserved}' is reserved; use another prefix, or none"
    return None


def label_value_problem(value: str) -> str | None:
    """Return why ``value`` cannot be a label's value, or None. The empty value is legal."""
    if value and not _NAME.fullmatch(value):
        return "must be at most 63 letters, digits, '-', '_' or '.', alphanumeric at both ends"
    return None
