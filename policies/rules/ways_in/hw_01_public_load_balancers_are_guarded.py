"""HW-01: load balancers on the internet name their clients and use TLS."""

from collections.abc import Iterator
from typing import Final

from components.contract.labels import TRUE
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.values import Value

_INGRESS: Final = r"kubernetes:networking\.k8s\.io/v1:Ingress"
_PARAMETERS: Final = r"kubernetes:elbv2\.k8s\.aws/v1beta1:IngressClassParams"
_SERVICE: Final = "kubernetes:core/v1:Service"

_PUBLIC: Final = "internet-facing"

_ALB: Final = "alb.ingress.kubernetes.io/"
_SERVICES: Final = "service.beta.kubernetes.io/"
"""Prefixes of annotations: kubernetes-sigs/aws-load-balancer-controller v3.5.0 ``docs/guide/ingress/annotations.md``,
``docs/guide/service/annotations.md``; those of Azure: https://cloud-provider-azure.sigs.k8s.io/topics/loadbalancer/."""

_CLIENTS: Final = ("inbound-cidrs", "security-group-prefix-lists", "security-groups")
"""Annotations of an Ingress that restrict its clients."""

_SCHEMES: Final = ("scheme", "frontend-nlb-scheme")
"""Annotations of an Ingress that create public addresses: of its load balancer, and of a second one before it."""

_INTERNAL: Final = ("aws-load-balancer-internal", "azure-load-balancer-internal")
"""Annotations of a Service by which its load balancer gets no public address; a scheme takes precedence."""

_RANGES: Final = (
    "load-balancer-source-ranges",
    "aws-load-balancer-security-groups",
    "aws-load-balancer-security-group-prefix-lists",
    "azure-allowed-ip-ranges",
    "azure-allowed-service-tags",
)
"""Annotations of a Service that restrict its clients, in addition to ``spec.loadBalancerSourceRanges``."""


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Reject public load balancers that do not state their clients, and public HTTP."""
    kind = resource.type.rpartition(":")[2]
    annotations, spec = resource.props.at("metadata", "annotations"), resource.props.at("spec")
    subject = f"{kind} '{resource.name}'"
    if kind == "Ingress":
        if any(annotations.at(f"{_ALB}{name}").text() == _PUBLIC for name in _SCHEMES):
            clients = any(annotations.at(f"{_ALB}{name}").text() for name in _CLIENTS)
            yield from _guarded(subject, has_clients=clients, has_tls=_has_tls(annotations))
    elif kind == "IngressClassParams":
        if spec.at("scheme").text() == _PUBLIC:
            clients = any(spec.at(name).elements() for name in ("inboundCIDRs", "prefixListsIDs", "PrefixListsIDs"))
            yield from _guarded(subject, has_clients=clients, has_tls=bool(spec.at("certificateArn").elements()))
    elif spec.at("type").text() == "LoadBalancer":
        yield from _service(subject, annotations, spec)


def _has_tls(annotations: Value) -> bool:
    """Return whether clients of an Ingress use TLS: it has a certificate, and listens to HTTP only to redirect it."""
    ports = annotations.at(f"{_ALB}listen-ports").text() or ""
    is_redirected = bool(annotations.at(f"{_ALB}ssl-redirect").text())
    return bool(annotations.at(f"{_ALB}certificate-arn").text()) and ('"HTTP"' not in ports or is_redirected)


def _guarded(subject: str, *, has_clients: bool, has_tls: bool) -> Iterator[Finding]:
    if not has_clients:
        yield Finding(f"{subject} is {_PUBLIC} and names no clients, so that everyone may come in; expected ranges.")
    if not has_tls:
        yield Finding(f"{subject} is {_PUBLIC} and accepts HTTP; expected a certificate, and redirects to HTTPS.")


def _service(subject: str, annotations: Value, spec: Value) -> Iterator[Finding]:
    scheme = annotations.at(f"{_SERVICES}aws-load-balancer-scheme").text()
    is_internal = any(annotations.at(f"{_SERVICES}{name}").text() == TRUE for name in _INTERNAL)
    if scheme == "internal" or (is_internal and not scheme) or spec.at("loadBalancerSourceRanges").elements():
        return
    if any(annotations.at(f"{_SERVICES}{name}").text() for name in _RANGES):
        return
    if scheme == _PUBLIC:
        yield Finding(f"{subject} is {_PUBLIC} and names no clients; expected spec.loadBalancerSourceRanges.")
    else:
        yield Finding(
            f"{subject} may get a public address, and names no clients; expected spec.loadBalancerSourceRanges, or the "
            "annotation for an internal load balancer.",
            advice=True,
        )


RULE = Rule(
    id="HW-01",
    slug="public-load-balancers-are-guarded",
    title="Load balancers on the internet must name their clients and use TLS",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="EKS best practices, security (network security: encryption in transit, restricting access)",
    applies_to=resources_of("each Ingress, each class of them and each Service", _INGRESS, _PARAMETERS, _SERVICE),
    why="MLRun, Nuclio and Jupyter require no password, and public addresses are scanned all the time.",
    fix="Make it internal, or name the ranges of clients (inboundCIDRs, inbound-cidrs, loadBalancerSourceRanges) and a "
    "certificate; 0.0.0.0/0 means everyone.",
    check=check,
)
