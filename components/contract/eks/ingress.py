"""Stack file model of the ways in to an EKS cluster: one Application Load Balancer, its certificate and its names."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.aws import CertificateArn, HostedZoneId, OwnTag
from components.contract.choices import Explained, Findings
from components.contract.eks.network import CLIENT_PREFIXES, CreatedNetwork, ExistingNetwork
from components.contract.ingress import INGRESS, INGRESS_DESCRIPTION, Ingress, WaysIn
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from components.contract.ranges import EVERYWHERE, NEVER_PUBLIC, PUBLIC_PREFIX_MIN, differing, ipv4_network

CLASS: Final = "alb"
"""Ingress class that the chart of the AWS Load Balancer Controller creates."""

CONTROLLER: Final = "aws-load-balancer-controller"
"""Chart of that controller, and its service account, which gets the role."""

CONTROLLER_NAMESPACE: Final = "kube-system"
"""Its namespace according to its documentation: ``docs/deploy/installation.md`` of v3.5.0."""

RANGES_MAX: Final = 30
"""Maximum number of ranges of clients: the controller creates a rule for each range and each of the ports 80 and 443.

kubernetes-sigs/aws-load-balancer-controller v3.5.0 ``pkg/ingress/model_build_managed_sg.go``; AWS allows 60 rules per
group by default: https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html.
"""

TLS_POLICY: Final = "ELBSecurityPolicy-TLS13-1-2-2021-06"
"""TLS 1.3 and 1.2. The controller's default allows 1.0.

https://docs.aws.amazon.com/elasticloadbalancing/latest/application/describe-ssl-policies.html
"""

_ANNOTATIONS: Final = "alb.ingress.kubernetes.io"

_SWITCHED_OFF: Final = ("EnableServiceController", "ALBGatewayAPI", "NLBGatewayAPI", "GatewayListenerSet")
"""Features of the controller that create load balancers for objects other than an Ingress.

v3.5.0 ``pkg/config/feature_gates.go``.
"""

_ANSWERS: Final = "200-499"
"""Status codes of healthy targets: MLRun's API has no page ``/``, those of Jupyter and Grafana redirect (assumed)."""


class Scheme(StrEnum):
    """Whether a load balancer has public addresses, in AWS's terms."""

    INTERNAL = "internal"
    """Only the VPC and networks connected to it reach it."""

    INTERNET_FACING = "internet-facing"


def _range(text: str) -> str:
    ipv4_network(text)
    return text


ClientRange = Annotated[str, AfterValidator(_range)]


class EksIngress(Ingress):
    """Ways in through one Application Load Balancer, which the AWS Load Balancer Controller creates."""

    scheme: Annotated[
        Scheme, Explained("Nothing from the internet reaches the platform.", "Subnets of the load balancer.")
    ] = Field(Scheme.INTERNAL, description="Whether it has public addresses.", examples=["internet-facing"])
    client_cidrs: Annotated[
        tuple[ClientRange, ...],
        AfterValidator(differing),
        Explained(decides="Ingress rules of the load balancer's security group, for ports 80 and 443."),
    ] = Field(
        min_length=1,
        max_length=RANGES_MAX,
        description="CIDR ranges of clients: of connected networks, or public ones if internet-facing.",
        examples=[["10.0.0.0/8"]],
    )
    certificate_arn: Annotated[
        CertificateArn | None,
        Explained("Without it clients use HTTP, which prod and internet-facing load balancers refuse."),
    ] = Field(
        None,
        description="ARN of a certificate of ACM for `*.DOMAIN`, in the cluster's account and region.",
        examples=["arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555"],
    )
    hosted_zone_id: Annotated[
        HostedZoneId | None,
        Explained(
            "The names are created elsewhere.",
            "The EKS add-on external-dns, with rights on names below the domain in this zone only.",
        ),
    ] = Field(
        None,
        description=(
            "Id of the Route 53 zone of the domain or of one above it, public or private, in the cluster's account."
        ),
        examples=["Z0123456789ABC"],
    )

    @field_validator("client_cidrs", mode="after")
    @classmethod
    def _can_reach_it(cls, ranges: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        findings = Findings()
        scheme = info.data.get("scheme")
        for index, text in enumerate(ranges):
            if scheme and (problem := _PROBLEMS[scheme](text)):
                findings.add(problem, index, given=text)
        findings.raise_if_any()
        return ranges

    @field_validator("certificate_arn", mode="after")
    @classmethod
    def _tls_on_the_internet(cls, arn: str | None, info: ValidationInfo) -> str | None:
        if not arn and info.data.get("scheme") is Scheme.INTERNET_FACING:
            raise ValueError(
                "HW-01: is required with scheme 'internet-facing': passwords and data would be sent in plain text"
            )
        return arn

    def ways_in(
        self, *, cluster: str, region: str, network: CreatedNetwork | ExistingNetwork, tags: Mapping[str, str]
    ) -> WaysIn:
        """Return the cluster's ways in.

        Parameters
        ----------
        cluster, region, network
            The cluster's name, region and network.
        tags
            Tags of the controller's resources.
        """
        ports = {f"{_ANNOTATIONS}/listen-ports": '[{"HTTP": 80}, {"HTTPS": 443}]'} if self.certificate_arn else {}
        # The controller cannot find its VPC by itself: hop limit 1 blocks the metadata service for pods.
        by_tag: dict[str, Any] = {"vpcTags": {OwnTag.CLUSTER.value: cluster}}
        found = {"vpcId": network.vpc_id} if isinstance(network, ExistingNetwork) else by_tag
        return WaysIn(
            domain=self.domain,
            class_name=CLASS,
            # Targets are pods, which the load balancer reaches from its own addresses in the VPC.
            peers=({"ipBlock": {"cidr": network.cidr}},),
            is_encrypted=bool(self.certificate_arn),
            annotations={f"{_ANNOTATIONS}/success-codes": _ANSWERS, **ports},
            controller={
                "clusterName": cluster,
                "region": region,
                **found,
                "serviceAccount.name": CONTROLLER,
                "nodeSelector": {LabelKey.ROLE.value: PoolRole.INITIAL.value},
                # Its role has no rights for these.
                "enableShield": False,
                "enableWaf": False,
                "enableWafv2": False,
                # The class's parameters do not apply to an Ingress that names the class in an annotation.
                "disableIngressClassAnnotation": True,
                # Services of type LoadBalancer and Gateways would not be limited to the class's ranges of clients.
                "enableServiceMutatorWebhook": False,
                "controllerConfig.featureGates": dict.fromkeys(_SWITCHED_OFF, False),
                **({"defaultTags": shown} if (shown := _printable(tags)) else {}),
                "ingressClassParams.name": CLASS,
                "ingressClassParams.spec": self._parameters(cluster),
            },
        )

    def _parameters(self, cluster: str) -> dict[str, Any]:
        """Return the parameters of all Ingresses of the class, which override their annotations."""
        tls = {"certificateArn": [self.certificate_arn], "sslPolicy": TLS_POLICY, "sslRedirectPort": "443"}
        return {
            "group": {"name": cluster},  # one load balancer for all
            "scheme": self.scheme.value,
            "inboundCIDRs": list(self.client_cidrs),
            "targetType": "ip",
            **(tls if self.certificate_arn else {}),
        }


EksIngressChoice = Annotated[
    EksIngress | None,
    INGRESS,
    Field(
        description=INGRESS_DESCRIPTION,
        examples=[
            {
                "domain": "ml.example.com",
                "clientCidrs": ["10.0.0.0/8"],
                "certificateArn": (
                    "arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555"
                ),
                "hostedZoneId": "Z0123456789ABC",
            }
        ],
    ),
]
"""The field ``ingress`` of an EKS cluster."""


def _printable(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags that the chart can pass on: its template writes them to YAML without quotes."""
    return {key: value for key, value in tags.items() if ": " not in f"{key}={value} "}


def _internal_problem(text: str) -> str | None:
    network = ipv4_network(text)
    # Connected networks may use public addresses too: a security group compares only the source address.
    if network.prefixlen < CLIENT_PREFIXES[0]:
        return "covers the internet or much of it; name the ranges of connected networks, such as 10.0.0.0/8"
    if network.is_loopback or network.is_link_local or network.is_multicast or network.is_reserved:
        return "holds no addresses of clients in other networks; remove it"
    return None


def _public_problem(text: str) -> str | None:
    network = ipv4_network(text)
    if network == EVERYWHERE:
        return None
    if network.prefixlen < PUBLIC_PREFIX_MIN:
        instead = f"ranges of /{PUBLIC_PREFIX_MIN} or smaller, or {EVERYWHERE} for all of it"
        return f"covers much of the internet; write {instead}"
    if any(network.overlaps(reserved) for reserved in NEVER_PUBLIC):
        return "is a private range and cannot be the source of internet traffic; remove it, or use scheme internal"
    return None


_PROBLEMS: Final = {Scheme.INTERNAL: _internal_problem, Scheme.INTERNET_FACING: _public_problem}
