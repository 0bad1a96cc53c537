"""How clients outside the cluster reach services in it: a domain, and the ingress class that leads to them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.constraint_violation import Mismatch
from components.contract.environments import Environment
from components.contract.labels import LabelKey, WellKnownLabel, is_dns_label
from components.contract.roles import PoolRole

DOMAIN_MAX: Final = 179
"""Maximum length of a domain, in characters: DNS allows 253, and names of services and namespaces stand in front."""

CONTROLLER_NAMESPACE: Final = "ingress"
"""Namespace of a controller of the user's, unless the stack file names another."""

TLS_SECRET: Final = "ingress-tls"  # noqa: S105 the name of a Secret
"""Secret into which cert-manager puts a certificate, unless the stack file names another."""

EXTERNAL_DNS: Final = "external-dns"
"""EKS add-on, chart, namespace and service account of the program that creates names."""

_LABEL: Final = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_DOMAIN: Final = rf"({_LABEL}\.)+{_LABEL}"
_NAME: Final = rf"{_LABEL}(\.{_LABEL})*"


@dataclass(frozen=True)
class Endpoint:
    """A service of MLRun CE that people and clients use.

    Parameters
    ----------
    name
        First part of its host name.
    service, port
        Service and its port.
    pod_port
        Port on which its pods listen.
    """

    name: str
    service: str
    port: int
    pod_port: int


UI: Final = Endpoint("mlrun", "mlrun-ui", 80, 8090)
NUCLIO: Final = Endpoint("nuclio", "nuclio-dashboard", 8070, 8070)
GRAFANA: Final = Endpoint("grafana", "grafana", 80, 3000)
ENDPOINTS: Final = (
    UI,
    Endpoint("mlrun-api", "mlrun-api", 8080, 8080),
    NUCLIO,
    Endpoint("jupyter", "mlrun-jupyter", 8888, 8888),
    GRAFANA,
)
"""Names, services and ports: mlrun/ce 44ef417e ``charts/mlrun-ce/values.yaml`` and ``templates/aws/aws_ingress.yaml``
(5289f008), v3io/helm-charts 4f7599c7 ``stable/mlrun``; Grafana's container port: grafana/helm-charts (assumed)."""

POD_PORTS: Final = tuple(dict.fromkeys(each.pod_port for each in ENDPOINTS))
"""Ports of pods that requests from outside reach. Nuclio's functions listen on 8080 too."""


@dataclass(frozen=True, kw_only=True)
class WaysIn:
    """How clients reach services of a cluster, in the same terms for every kind of cluster.

    Parameters
    ----------
    domain
        Domain of all host names.
    class_name
        Class of an Ingress.
    peers
        Peers in network policies from which requests come: the load balancer's network, or the controller's pods.
    is_encrypted
        Whether clients use TLS.
    annotations
        Annotations of an Ingress.
    tls_secret
        Secret with the certificate; empty if an Ingress names none.
    suffix
        Behind the names of services, where several namespaces have them. Default: nothing.
    controller
        Values of the chart of the class's controller, by path. Default: the controller is the user's.
    names
        Values of the chart of external-dns, by path. Default: there is an add-on, or the names are the user's.
    """

    domain: str
    class_name: str
    peers: tuple[Mapping[str, Any], ...]
    is_encrypted: bool
    annotations: Mapping[str, str] = field(default_factory=dict)
    tls_secret: str = ""
    suffix: str = ""
    controller: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)

    def host(self, endpoint: Endpoint) -> str:
        """Return the host name of a service."""
        return f"{endpoint.name}{self.suffix}.{self.domain}"

    def url(self, endpoint: Endpoint) -> str:
        """Return the address of a service."""
        return f"http{'s' if self.is_encrypted else ''}://{self.host(endpoint)}"


def in_namespace(namespace: str) -> dict[str, Any]:
    """Return the peer in a network policy that is all pods of a namespace."""
    return {"namespaceSelector": {"matchLabels": {WellKnownLabel.NAMESPACE_NAME.value: namespace}}}


def naming(domain: str, owner: str) -> dict[str, Any]:
    """Return the values of external-dns on every cluster.

    kubernetes-sigs/external-dns 2bf1bf8a ``charts/external-dns/values.yaml``.

    Parameters
    ----------
    domain
        Domain of the names.
    owner
        Name of the cluster among those whose names are in the same zone: external-dns changes its owner's names alone.
    """
    return {
        "nodeSelector": {LabelKey.ROLE.value: PoolRole.INITIAL.value},
        # Any other source whose resources the cluster lacks ends the program.
        "sources": ["ingress"],
        "domainFilters": [domain],
        # By default names of deleted Ingresses stay.
        "policy": "sync",
        "txtOwnerId": owner,
    }


def _domain(domain: str) -> str:
    if "/" in domain or ":" in domain:
        raise ValueError("must be a domain alone, such as ml.example.com, without scheme, port and path")
    if domain.startswith("*."):
        raise ValueError("must be the domain without '*.': names of services are put in front of it")
    labels = domain.split(".")
    if len(labels) == 1 or not all(map(is_dns_label, labels)) or len(domain) > DOMAIN_MAX:
        raise ValueError(
            f"must be a domain such as ml.example.com: at most {DOMAIN_MAX} characters, in parts of 1 to 63 lower-case "
            "letters, digits or '-' with a '.' between them"
        )
    if labels[-2:] == ["cluster", "local"]:
        raise ValueError("is the domain of names inside the cluster; use one that clients outside can look up")
    return domain


def _object_name(name: str) -> str:
    if not all(map(is_dns_label, name.split("."))):
        raise ValueError("must be the name of an object: lower-case letters, digits, '-' and '.'")
    return name


def _namespace(name: str) -> str:
    if not is_dns_label(name):
        raise ValueError("must be a namespace: 1 to 63 lower-case letters, digits or '-', without '-' at either end")
    return name


Domain = Annotated[str, AfterValidator(_domain), Field(json_schema_extra={"pattern": f"^{_DOMAIN}$"})]
ObjectName = Annotated[
    str, AfterValidator(_object_name), Field(max_length=253, json_schema_extra={"pattern": f"^{_NAME}$"})
]
NamespaceText = Annotated[str, AfterValidator(_namespace), Field(json_schema_extra={"pattern": f"^{_LABEL}$"})]


class Ingress(ContractModel):
    """What ways in have in common on every kind of cluster."""

    domain: Domain = Field(
        description="Domain of the host names, before which mlrun, mlrun-api, nuclio, jupyter and grafana stand.",
        examples=["ml.example.com"],
    )


class OwnIngress(Ingress):
    """Ways in through an ingress controller of yours, which this package neither installs nor configures."""

    class_name: ObjectName = Field(description="Ingress class of the controller.", examples=["traefik"])
    controller_namespace: Annotated[
        NamespaceText,
        Explained("The one of docs/mlrun-ce.md.", "Whose pods reach the platform's services: a network policy."),
    ] = Field(CONTROLLER_NAMESPACE, description="Namespace of the controller.", examples=["traefik"])
    cluster_issuer: Annotated[
        ObjectName | None,
        Explained("Not every cluster has cert-manager.", "An annotation, by which cert-manager makes the certificate."),
    ] = Field(None, description="ClusterIssuer of cert-manager that makes the certificate.", examples=["letsencrypt"])
    tls_secret: Annotated[
        ObjectName | None,
        Explained(f"With `clusterIssuer` {TLS_SECRET}; without it there is no TLS, which prod requires."),
    ] = Field(
        None, description="Secret of type kubernetes.io/tls with the certificate of all hosts.", examples=["ml-tls"]
    )

    @property
    def ways_in(self) -> WaysIn:
        """The ways in that result."""
        secret = self.tls_secret or (TLS_SECRET if self.cluster_issuer else "")
        issuer = {"cert-manager.io/cluster-issuer": self.cluster_issuer} if self.cluster_issuer else {}
        return WaysIn(
            domain=self.domain,
            class_name=self.class_name,
            peers=(in_namespace(self.controller_namespace),),
            is_encrypted=bool(secret),
            annotations=issuer,
            tls_secret=secret,
        )


INGRESS: Final = Explained(
    "Only the owner of a network knows who may come in, and under which names.",
    "Addresses in MLRun's values, an Ingress for its services, and a network policy that lets requests in.",
)
"""Reason and effect of ``cluster.ingress`` on every kind of cluster."""

INGRESS_DESCRIPTION: Final = "How people and clients reach the platform from outside (docs/ways-in.md)."

OwnIngressChoice = Annotated[
    OwnIngress | None,
    INGRESS,
    Field(
        description=INGRESS_DESCRIPTION,
        examples=[{"domain": "ml.example.com", "className": "traefik", "clusterIssuer": "letsencrypt"}],
    ),
]
"""The field ``ingress`` of kinds of clusters whose controller is the user's."""


IN_PRODUCTION: Final = "`ingress.clusterIssuer` or `ingress.tlsSecret`, if there is `ingress`"
"""What production requires of them, for the reference page."""


def own_ways_in(ingress: OwnIngress | None) -> WaysIn | None:
    """Return the ways in through a controller of the user's; None if there are none."""
    return ingress.ways_in if ingress else None


def unencrypted_in_prod(ingress: OwnIngress | None, environment: Environment) -> Iterator[Mismatch]:
    """Find ways in to a production cluster without TLS; paths begin at the cluster."""
    if ingress and environment is Environment.PROD and not ingress.ways_in.is_encrypted:
        yield Mismatch(
            ("ingress",),
            "has no certificate, and in prod clients must use TLS; set clusterIssuer or tlsSecret",
        )
