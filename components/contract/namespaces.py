"""User namespaces: where users' jobs, functions and notebooks run, and their quotas."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.choices import ContractModel, Explained
from components.contract.constraint_violation import Mismatch
from components.contract.egress import (
    CLOUD_APIS,
    AllowedEgress,
    Destination,
    EgressCidr,
    ip_block,
    replaced_api_server,
)
from components.contract.headroom import HEADROOM
from components.contract.identity import CloudIdentity, key_problem
from components.contract.ingress import EXTERNAL_DNS
from components.contract.labels import TRUE, LabelKey, WellKnownLabel, is_dns_label
from components.contract.mlrun_choices import MlrunChoices
from components.contract.policy_choices import AdmissionMode
from components.contract.pools import NodePool
from components.contract.quantities import Quantity, within
from components.contract.shared_storage import VOLUMES_MAX, ClaimName, Storage, Volume, Volumes

DEFAULT_NAMESPACES: Final = ("mlrun",)
"""Default user namespaces: the default of the MLRun CE chart."""

SYSTEM_NAMESPACES: Final = ("kube-system", "kube-public", "kube-node-lease", "iguazio-system")
"""Namespaces of Kubernetes and of the platform's own operators, which rules about user work ignore."""

TENANT_NAMESPACE: Final = "default-tenant"
"""Where a full Iguazio platform runs MLRun (mlrun 005d5263, ``automation/system_test/prepare.py``)."""

V3IO_NAMESPACES: Final = (TENANT_NAMESPACE, "iguazio-system")
"""Namespaces in which a full Iguazio platform runs V3IO's daemons, which need privileged pods and host paths."""

_PACKAGE_NAMES: Final = ("cluster-autoscaler", EXTERNAL_DNS, "igz-clusters", HEADROOM, "openshift")

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
        raise ValueError(
            "the name is reserved for OpenShift, the autoscaler, external-dns or this package; choose another"
        )
    return name


NamespaceName = Annotated[
    str,
    AfterValidator(_namespace_name),
    Field(
        json_schema_extra={
            "pattern": f"^(?!kube-|openshift-|(default|{'|'.join(_PACKAGE_NAMES)})$)"
            "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
        }
    ),
]
"""A name that Kubernetes allows and does not use itself."""


CPU_BOUNDS: Final = ("10m", "1M")
MEMORY_BOUNDS: Final = ("1Mi", "1Pi")
"""Lower and upper bound of a quota: less admits no pod, more is beyond any cluster."""


class Quota(ContractModel):
    """Maximum that all pods of a namespace may request together, as Kubernetes quantities."""

    cpu: Annotated[Quantity, AfterValidator(within(*CPU_BOUNDS))] = Field(description="Cores.", examples=["64"])
    memory: Annotated[Quantity, AfterValidator(within(*MEMORY_BOUNDS))] = Field(
        description="Memory, as a Kubernetes quantity.", examples=["256Gi"]
    )
    gpus: Annotated[int, Explained("A namespace with a quota gets GPUs only if the quota sets a number.")] = Field(
        0, ge=0, strict=True, description="Whole GPUs.", examples=[2]
    )
    gpu_slices: Annotated[int, Explained("A namespace with a quota gets shares of GPUs only if it sets a number.")] = (
        Field(
            0,
            ge=0,
            strict=True,
            description="Turns on shared GPUs, or slices of them, of each kind that pools with sharing offer.",
            examples=[8],
        )
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
    mlrun: Annotated[
        MlrunChoices | None,
        Explained("A single MLRun needs no separate settings.", "MLRun's settings in this namespace."),
    ] = Field(
        None,
        description="Settings of the MLRun that runs here, in place of those under `platform.mlrun`.",
        examples=[{"executing": "7d"}],
    )
    identity: Annotated[
        CloudIdentity | None,
        Explained(
            "Access must be granted explicitly.",
            "An identity in the cloud, the service account igz-jobs, and the network policy allow-cloud-apis.",
        ),
    ] = Field(
        None,
        description="Rights of the namespace's jobs in the cloud, without keys (docs/identity.md). Users who may "
        "create pods here have them.",
        examples=[{"buckets": [{"bucket": "ml-data", "prefix": "vision/", "access": "write"}]}],
    )
    quota: Annotated[
        Quota | None,
        Explained("Pods beyond a quota are rejected; without a quota they wait by priority.", "A ResourceQuota."),
    ] = Field(
        None,
        description="Maximum of all requests of the namespace's pods.",
        examples=[{"cpu": "64", "memory": "256Gi", "gpus": 2}],
    )
    egress: Annotated[
        tuple[Destination, ...],
        Explained(
            "Only the owner knows them. DNS, the namespace itself, core services, the API server and, with profile "
            "iguazio, V3IO need no entry.",
            "The network policy allow-egress.",
        ),
    ] = Field(
        (),
        description="Destinations outside the cluster that pods may reach.",
        examples=[[{"reason": "object store", "cidrs": ["10.8.0.0/24"], "ports": [443]}]],
    )
    egress_cidrs: Annotated[
        tuple[EgressCidr, ...],
        Explained(
            "Egress must be allowed explicitly; `egress` allows less, since it names ports.",
            "The network policy allow-egress.",
        ),
    ] = Field(
        (),
        description="CIDR ranges outside the namespace that pods may reach on all ports.",
        examples=[["10.0.0.0/16"]],
    )
    api_server_cidrs: Annotated[
        tuple[EgressCidr, ...] | None,
        Explained(
            "Derived from the cluster: the network of its nodes; all public addresses for a public AKS API; on an "
            "existing cluster the addresses of the Service `kubernetes` and its endpoints in each run.",
            "The network policy allow-api-server, which Spark drivers, MPI launchers and pipelines need.",
        ),
    ] = Field(
        None,
        description="CIDR ranges of the Service `kubernetes` and its endpoints; empty keeps user pods off the API.",
        examples=[["172.20.0.1/32", "10.20.0.0/16"]],
    )

    volumes: Annotated[
        dict[ClaimName, Volume],
        Explained(
            "A namespace shares data only if its owner says so.",
            "For each name a claim, which all pods of the namespace can mount at once, and its volume.",
        ),
    ] = Field(
        {},
        max_length=VOLUMES_MAX,
        description="Volumes in shared storage, by the name of their claim.",
        examples=[{"shared": {"storage": "corpus"}}],
    )

    @field_validator("mlrun", mode="after")
    @classmethod
    def _runs_here(cls, own: MlrunChoices | None, info: ValidationInfo) -> MlrunChoices | None:
        if own and info.data.get("core_services") is False:
            raise ValueError("MLRun runs only in namespaces with coreServices: true; set that, or remove this key")
        return own

    @field_validator("identity", mode="after")
    @classmethod
    def _is_not_overruled(cls, identity: CloudIdentity | None, info: ValidationInfo) -> CloudIdentity | None:
        own = info.data.get("mlrun")
        if identity and own and (problem := key_problem(own, identity)):
            raise ValueError(f"{problem} from mlrun.autoMount.parameters of this namespace")
        return identity

    @property
    def job_accounts(self) -> tuple[str, ...]:
        """Service accounts with a cloud identity, that of functions first; none without one."""
        return self.identity.service_accounts if self.identity else ()

    def egress_policies(self, derived: Sequence[AllowedEgress]) -> dict[str, list[dict[str, Any]]]:
        """Return the egress rules of all pods by the name of their network policy.

        Parameters
        ----------
        derived
            What pods of every user namespace of the cluster may reach.
        """
        everyones = (*derived, *([CLOUD_APIS] if self.identity else ()))
        allowed = {f"allow-{each.name}": [each.rule] for each in replaced_api_server(everyones, self.api_server_cidrs)}
        blocks = [{"ipBlock": ip_block(cidr)} for cidr in self.egress_cidrs]
        own = [*([{"to": blocks}] if blocks else []), *(each.rule for each in self.egress)]
        return {**allowed, **({"allow-egress": own} if own else {})}

    @property
    def names_destinations(self) -> bool:
        """Whether some of its egress is to certain destinations, not to all addresses."""
        cidrs = [*self.egress_cidrs, *(cidr for each in self.egress for cidr in each.cidrs)]
        return any(ip_network(cidr).prefixlen for cidr in cidrs)

    def marks(self, admission: AdmissionMode) -> dict[str, str]:
        """Return the namespace's labels: admission guard and rules read the first, Pod Security the others.

        Pod Security cannot exempt single pods. With core services, or if admission only warns, it only warns too; our
        own policies enforce its baseline there.
        """
        refuses = admission is AdmissionMode.DENY and not self.core_services
        warnings = (WellKnownLabel.POD_SECURITY_WARN.value, WellKnownLabel.POD_SECURITY_AUDIT.value)
        return {
            LabelKey.USER_WORKLOADS.value: TRUE,
            WellKnownLabel.POD_SECURITY_ENFORCE.value: BASELINE_LEVEL if refuses else OPEN_LEVEL,
            WellKnownLabel.POD_SECURITY_ENFORCE_VERSION.value: "latest",
            **dict.fromkeys(() if refuses else warnings, BASELINE_LEVEL),
        }


def core_of(namespaces: Mapping[str, UserNamespace]) -> list[str]:
    """Return the namespaces with core services, in the order of the stack file."""
    return [name for name, choices in namespaces.items() if choices.core_services]


def identities_of(namespaces: Mapping[str, UserNamespace]) -> dict[str, CloudIdentity]:
    """Return the cloud identities of user namespaces, by namespace."""
    return {name: choices.identity for name, choices in namespaces.items() if choices.identity}


def volumes_of(namespaces: Mapping[str, UserNamespace]) -> Volumes:
    """Return all volumes in shared storage, by namespace and claim."""
    return {(name, claim): each for name, choices in namespaces.items() for claim, each in choices.volumes.items()}


def unshared_gpus(namespaces: Mapping[str, UserNamespace], pools: Iterable[NodePool]) -> Iterator[Mismatch]:
    """Find quotas of shares that no pool offers; paths begin at the stack file's ``namespaces``."""
    if any(pool.sharing for pool in pools):
        return
    for name, choices in namespaces.items():
        if choices.quota and choices.quota.gpu_slices:
            message = "no pool of this stack file shares its GPUs; remove it, or set sharing on a pool of role gpu"
            yield Mismatch((name, "quota", "gpuSlices"), message)


def unknown_storage(namespaces: Mapping[str, UserNamespace], storage: Mapping[str, Storage]) -> Iterator[Mismatch]:
    """Find volumes in a storage that does not exist; paths begin at the stack file's ``namespaces``."""
    known = f"known: {', '.join(storage)}" if storage else "the stack file has none; add it under `storage`"
    for (name, claim), volume in volumes_of(namespaces).items():
        if volume.storage not in storage:
            message = f"'{volume.storage}' is not a storage of this stack file; {known}"
            yield Mismatch((name, "volumes", claim, "storage"), message)


def second_volumes(namespaces: Mapping[str, UserNamespace], storage: Mapping[str, Storage]) -> Iterator[Mismatch]:
    """Find further volumes of storage that is mounted as a whole; paths begin at the stack file's ``namespaces``."""
    first = dict[str, tuple[str, str]]()
    for (name, claim), volume in volumes_of(namespaces).items():
        found = storage.get(volume.storage)
        if found and found.is_lustre and (taken := first.setdefault(volume.storage, (name, claim))) != (name, claim):
            message = (
                f"'{volume.storage}' is of type lustre, which is mounted as a whole, and namespace '{taken[0]}' has it "
                f"already as '{taken[1]}'; add another storage"
            )
            yield Mismatch((name, "volumes", claim, "storage"), message)
