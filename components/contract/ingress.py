"""How clients outside the cluster reach services in it: a domain, and the ingress class that leads to them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.constraint_violation import Mismatch
from components.contract.environments import Environment
from components.contract.labels import LabelKey, WellKnownLabel, is_dns_label
from components.contract.roles import PoolRole

HOST_MAX: Final = 128
"""Maximum length of a host name in rules of an Application Load Balancer, in characters; its last part is letters.

https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_HostHeaderConditionConfig.html
"""

FIRST_PART_MAX: Final = 61
"""Maximum length of a host name's first part: DNS allows 63, and external-dns adds records with ``a-`` in front."""

DOMAIN_MAX: Final = HOST_MAX - len("mlrun-api.")
"""Maximum length of a domain, in characters."""

CONTROLLER_NAMESPACE: Final = "ingress"
"""Namespace of the user's own controller, unless the stack file names another."""

TLS_SECRET: Final = "ingress-tls"  # noqa: S105 the name of a Secret
"""Secret in which cert-manager stores a certificate, unless the stack file names another."""

EXTERNAL_DNS: Final = "external-dns"
"""EKS add-on, chart, namespace and service account of the program that creates names."""

_LABEL: Final = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_DOMAIN: Final = rf"({_LABEL}\.)+[a-z]{{1,63}}"
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
    pods, pod_port
        Labels of its pods, and the port on which they listen.
    """

    name: str
    service: str
    port: int
    pods: Mapping[str, str]
    pod_port: int


def _mlrun(component: str, name: str = "mlrun") -> dict[str, str]:
    return {"app.kubernetes.io/name": name, "app.kubernetes.io/component": component}


UI: Final = Endpoint("mlrun", "mlrun-ui", 80, _mlrun("ui"), 8090)
API: Final = Endpoint("mlrun-api", "mlrun-api", 8080, _mlrun("api"), 8080)
NUCLIO: Final = Endpoint("nuclio", "nuclio-dashboard", 8070, {"nuclio.io/app": "dashboard"}, 8070)
JUPYTER: Final = Endpoint("jupyter", "mlrun-jupyter", 8888, _mlrun("jupyter-notebook", "mlrun-ce"), 8888)
GRAFANA: Final = Endpoint("grafana", "grafana", 80, {"app.kubernetes.io/name": "grafana"}, 3000)
ENDPOINTS: Final = (UI, API, NUCLIO, JUPYTER, GRAFANA)
"""Names, services and ports: mlrun/ce 44ef417e ``charts/mlrun-ce/values.yaml`` and ``templates/aws/aws_ingress.yaml``
(5289f008), v3io/helm-charts 4f7599c7 ``stable/mlrun``; Grafana's container port: grafana/helm-charts (assumed). The
labels are those of ``tests/kit``, with their sources."""

CHALLENGES: Final = ({"acme.cert-manager.io/http01-solver": "true"}, 8089)
"""Labels and port of the pods with which cert-manager proves by HTTP-01 that it controls a name.

cert-manager/cert-manager ``pkg/apis/acme/v1/types.go``, ``pkg/issuer/acme/http/http.go``.
"""


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
    has_issuer
        Whether cert-manager creates the certificate.
    tls_secret
        Secret with the certificate; empty if an Ingress names none.
    suffix
        Suffix of the names of services, if several namespaces have them. Default: none.
    controller
        Values of the chart of the class's controller, by path. Default: none; the user runs the controller.
    names
        Values of the chart of external-dns, by path. Default: none; an add-on or the user creates the names.
    """

    domain: str
    class_name: str
    peers: tuple[Mapping[str, Any], ...]
    is_encrypted: bool
    annotations: Mapping[str, str] = field(default_factory=dict)
    has_issuer: bool = False
    tls_secret: str = ""
    suffix: str = ""
    controller: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reached(self) -> dict[str, tuple[Mapping[str, str], int]]:
        """Labels and port of the pods that requests from outside reach, by a name for them."""
        challenges = {"challenges": CHALLENGES} if self.has_issuer else {}
        return {**{each.name: (each.pods, each.pod_port) for each in ENDPOINTS}, **challenges}

    def host(self, endpoint: Endpoint) -> str:
        """Return the host name of a service."""
        return f"{endpoint.name}{self.suffix}.{self.domain}"

    def url(self, endpoint: Endpoint) -> str:
        """Return the address of a service."""
        return f"http{'s' if self.is_encrypted else ''}://{self.host(endpoint)}"


def suffixes(core_namespaces: Sequence[str]) -> dict[str, str]:
    """Return the suffixes of the names of services, by namespace with core services; empty for the first.

    The resulting names are directly below the domain, so its certificate covers them.
    """
    return {name: f"-{name}" if index else "" for index, name in enumerate(core_namespaces)}


def long_names(ways_in: WaysIn | None, core_namespaces: Sequence[str]) -> Iterator[Mismatch]:
    """Find namespaces whose services' host names are too long for DNS or load balancers; paths begin at them."""
    if not ways_in:
        return
    for namespace, suffix in suffixes(core_namespaces).items():
        first = f"{API.name}{suffix}"
        host = f"{first}.{ways_in.domain}"
        if len(first) > FIRST_PART_MAX or len(host) > HOST_MAX:
            yield Mismatch(
                (namespace,),
                f"makes host names such as {host} too long: at most {FIRST_PART_MAX} characters before the domain, and "
                f"{HOST_MAX} together; shorten the namespace's name or cluster.ingress.domain",
            )


def in_namespace(namespace: str) -> dict[str, Any]:
    """Return the peer in a network policy that selects all pods of a namespace."""
    return {"namespaceSelector": {"matchLabels": {WellKnownLabel.NAMESPACE_NAME.value: namespace}}}


def naming(domain: str, owner: str) -> dict[str, Any]:
    """Return the values of external-dns on every cluster.

    kubernetes-sigs/external-dns 2bf1bf8a ``charts/external-dns/values.yaml``.

    Parameters
    ----------
    domain
        Domain of the names.
    owner
        Name that distinguishes the cluster from others with names in the same zone: external-dns changes only names of
        this owner.
    """
    return {
        "nodeSelector": {LabelKey.ROLE.value: PoolRole.INITIAL.value},
        # With another source, external-dns would exit if the cluster lacks its resource type.
        "sources": ["ingress"],
        "domainFilters": [domain],
        # By default, external-dns keeps the names of deleted Ingresses.
        "policy": "sync",
        # Otherwise it polls once a minute, and names remain if it is deleted together with the last Ingress.
        "triggerLoopOnEvent": True,
        "txtOwnerId": owner,
    }


def _domain(domain: str) -> str:
    if "/" in domain or ":" in domain:
        raise ValueError("must be a domain alone, such as ml.example.com, without scheme, port and path")
    if domain.startswith("*."):
        raise ValueError("must be the domain without '*.': names of services are put in front of it")
    labels = domain.split(".")
    is_name = len(labels) > 1 and all(map(is_dns_label, labels)) and labels[-1].isalpha()
    if not is_name or len(domain) > DOMAIN_MAX:
        raise ValueError(
            f"must be a domain such as ml.example.com: at most {DOMAIN_MAX} characters, in parts of 1 to 63 lower-case "
            "letters, digits or '-' with a '.' between them, and letters alone in the last part"
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
    """Settings of the ways in on every kind of cluster."""

    domain: Domain = Field(
        description="Domain of the host names mlrun, mlrun-api, nuclio, jupyter and grafana.",
        examples=["ml.example.com"],
    )


class OwnIngress(Ingress):
    """Ways in through your own ingress controller, which this package neither installs nor configures."""

    class_name: ObjectName = Field(description="Ingress class of the controller.", examples=["traefik"])
    controller_namespace: Annotated[
        NamespaceText,
        Explained("The one of docs/mlrun-ce.md.", "Whose pods reach the platform's services: a network policy."),
    ] = Field(CONTROLLER_NAMESPACE, description="Namespace of the controller.", examples=["traefik"])
    cluster_issuer: Annotated[
        ObjectName | None,
        Explained("Not every cluster has cert-manager.", "An annotation, by which cert-manager issues a certificate."),
    ] = Field(None, description="ClusterIssuer of cert-manager that issues the certificate.", examples=["letsencrypt"])
    tls_secret: Annotated[
        ObjectName | None,
        Explained(f"With `clusterIssuer` {TLS_SECRET}; without it there is no TLS, which prod requires."),
    ] = Field(
        None,
        description="Secret of type kubernetes.io/tls with the certificate, in each namespace with core services.",
        examples=["ml-tls"],
    )

    @property
    def ways_in(self) -> WaysIn:
        """The cluster's ways in."""
        secret = self.tls_secret or (TLS_SECRET if self.cluster_issuer else "")
        issuer = {"cert-manager.io/cluster-issuer": self.cluster_issuer} if self.cluster_issuer else {}
        return WaysIn(
            domain=self.domain,
            class_name=self.class_name,
            peers=(in_namespace(self.controller_namespace),),
            is_encrypted=bool(secret),
            annotations=issuer,
            has_issuer=bool(issuer),
            tls_secret=secret,
        )


INGRESS: Final = Explained(
    "Only the owner of a network knows who may have access, and under which names.",
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
"""The field ``ingress`` of kinds of clusters on which users run their own controller."""


IN_PRODUCTION: Final = "`ingress.clusterIssuer` or `ingress.tlsSecret`, if there is `ingress`"
"""Requirement in production, for the reference page."""


def own_ways_in(ingress: OwnIngress | None) -> WaysIn | None:
    """Return the ways in through the user's own controller; None if there are none."""
    return ingress.ways_in if ingress else None


def unencrypted_in_prod(ingress: OwnIngress | None, environment: Environment) -> Iterator[Mismatch]:
    """Find ways in to a production cluster without TLS; paths begin at the cluster."""
    if ingress and environment is Environment.PROD and not ingress.ways_in.is_encrypted:
        yield Mismatch(
            ("ingress",),
            "has no certificate, and in prod clients must use TLS; set clusterIssuer or tlsSecret",
        )
