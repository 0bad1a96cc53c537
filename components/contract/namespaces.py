"""User namespaces: where users' jobs, functions and notebooks run, and their quotas."""

from functools import partial
from ipaddress import IPv4Network, ip_network
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.labels import TRUE, LabelKey, WellKnownLabel, is_dns_label
from components.contract.policy_choices import AdmissionMode
from components.contract.quantities import Quantity, parse_quantity

DEFAULT_NAMESPACES: Final = ("mlrun",)
"""Default user namespaces: the default of the MLRun CE chart."""

SYSTEM_NAMESPACES: Final = ("kube-system", "kube-public", "kube-node-lease", "iguazio-system")
"""Namespaces of Kubernetes and of the platform's own operators, which rules about user work ignore."""

V3IO_NAMESPACES: Final = ("default-tenant", "iguazio-system")
"""Namespaces in which a full Iguazio platform runs V3IO's daemons, which need privileged pods and host paths."""

_PACKAGE_NAMES: Final = ("cluster-autoscaler", "igz-clusters", "openshift")

LINK_LOCAL: Final = IPv4Network("169.254.0.0/16")
"""Link-local addresses, with those at which clouds serve the machine's credentials; pods never reach them."""

BASELINE_LEVEL: Final = "baseline"
OPEN_LEVEL: Final = "privileged"
"""Pod Security's level without restrictions."""


def _namespace_name(name: str) -> str:
    if not is_dns_label(name):
        raise ValueError(
            "a namespace's name must be 1 to 63 lower-case letters, digits or '-', without '-' at either end"
        )
    if name == "default" or name.startswith("kube-"):
        raise ValueError("the name is reserved for Kubernetes; choose another")
    if name.startswith("openshift-") or name in _PACKAGE_NAMES:
        raise ValueError("the name is reserved for OpenShift, the autoscaler or this package; choose another")
    return name


def _cidr(text: str) -> str:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        raise ValueError("is not a CIDR range such as 10.0.0.0/16 or fd00::/8") from None
    if str(network) != text:  # Kubernetes accepts the canonical form only
        raise ValueError(f"must be written as '{network}'")
    if isinstance(network, IPv4Network) and network.subnet_of(LINK_LOCAL):
        raise ValueError(f"is inside {LINK_LOCAL}, where clouds serve the machine's credentials; remove it")
    return text


NamespaceName = Annotated[
    str,
    AfterValidator(_namespace_name),
    Field(
        json_schema_extra={
            "pattern": "^(?!kube-|openshift-|(default|cluster-autoscaler|igz-clusters|openshift)$)"
            "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
        }
    ),
]
"""A name that Kubernetes allows and does not use itself."""


CPU_BOUNDS: Final = ("10m", "1M")
MEMORY_BOUNDS: Final = ("1Mi", "1Pi")
"""Least and most of a quota: less admits no pod, more is beyond any cluster."""


def _within(least: str, most: str, text: str) -> str:
    if not parse_quantity(least) <= parse_quantity(text) <= parse_quantity(most):
        raise ValueError(f"must be {least} to {most}")
    return text


def egress_block(cidr: str) -> dict[str, object]:
    """Return the ``ipBlock`` of a network policy for a range, without link-local addresses."""
    network = ip_network(cidr)
    holds = isinstance(network, IPv4Network) and LINK_LOCAL.subnet_of(network)
    return {"cidr": cidr, **({"except": [str(LINK_LOCAL)]} if holds else {})}


class Quota(ContractModel):
    """Maximum that all pods of a namespace may request together, as Kubernetes quantities."""

    cpu: Annotated[Quantity, AfterValidator(partial(_within, *CPU_BOUNDS))] = Field(
        description="Cores.", examples=["64"]
    )
    memory: Annotated[Quantity, AfterValidator(partial(_within, *MEMORY_BOUNDS))] = Field(
        description="Memory, as a Kubernetes quantity.", examples=["256Gi"]
    )
    gpus: Annotated[int, Explained("A namespace with a quota gets GPUs only if the quota sets a number.")] = Field(
        0, ge=0, strict=True, description="Whole GPUs.", examples=[2]
    )


class UserNamespace(ContractModel):
    """Choices about one user namespace."""

    core_services: Annotated[
        bool,
        Explained(
            "Core services need rights that user pods must not have.",
            "MLRun's settings (ConfigMap mlrun-override-env) in this namespace.",
        ),
    ] = Field(
        default=False,
        strict=True,
        description="Whether the platform's own services run here too, as with the MLRun CE chart.",
        examples=[True],
    )
    quota: Annotated[
        Quota | None,
        Explained("Pods beyond a quota are rejected; without a quota they wait by priority.", "A ResourceQuota."),
    ] = Field(
        None,
        description="Maximum of all requests of the namespace's pods.",
        examples=[{"cpu": "64", "memory": "256Gi", "gpus": 2}],
    )
    egress_cidrs: Annotated[
        tuple[Annotated[str, AfterValidator(_cidr)], ...],
        Explained("Egress must be allowed explicitly.", "Network policies that allow egress to these ranges."),
    ] = Field((), description="CIDR ranges outside the namespace that pods may reach.", examples=[["10.0.0.0/16"]])

    def marks(self, admission: AdmissionMode) -> dict[str, str]:
        """Return the namespace's labels: admission guard and rules read the first, Pod Security the others.

        Pod Security can except no pod, so with core services and before rejections it only warns; our own policies
        enforce its baseline there.
        """
        refuses = admission is AdmissionMode.DENY and not self.core_services
        warnings = (WellKnownLabel.POD_SECURITY_WARN.value, WellKnownLabel.POD_SECURITY_AUDIT.value)
        return {
            LabelKey.USER_WORKLOADS.value: TRUE,
            WellKnownLabel.POD_SECURITY_ENFORCE.value: BASELINE_LEVEL if refuses else OPEN_LEVEL,
            WellKnownLabel.POD_SECURITY_ENFORCE_VERSION.value: "latest",
            **dict.fromkeys(() if refuses else warnings, BASELINE_LEVEL),
        }
