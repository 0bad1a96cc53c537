"""Stack file model of the ways in to an AKS cluster: the user's ingress controller, and names in an Azure DNS zone."""

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from components.contract.azure import DnsZoneId, zone_name
from components.contract.choices import Explained
from components.contract.ingress import INGRESS, INGRESS_DESCRIPTION, OwnIngress


class AksIngress(OwnIngress):
    """Ways in through your own ingress controller, with names that external-dns creates."""

    dns_zone_id: Annotated[
        DnsZoneId | None,
        Explained(
            "The names are created elsewhere.",
            "An identity of external-dns, without keys, with roles on this zone; its namespace.",
        ),
    ] = Field(
        None,
        description="Id of the DNS zone of the domain, public or private.",
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/dns"
                "/providers/Microsoft.Network/dnszones/example.com"
            )
        ],
    )

    @field_validator("dns_zone_id", mode="after")
    @classmethod
    def _of_the_domain(cls, zone: str | None, info: ValidationInfo) -> str | None:
        domain = info.data.get("domain")
        if zone and domain and not f".{domain}".endswith(f".{zone_name(zone)}"):
            raise ValueError(
                f"is the zone {zone_name(zone)}, which cannot hold a name such as mlrun.{domain}; use the domain's zone"
            )
        return zone


AksIngressChoice = Annotated[
    AksIngress | None,
    INGRESS,
    Field(
        description=INGRESS_DESCRIPTION,
        examples=[{"domain": "ml.example.com", "className": "traefik", "clusterIssuer": "letsencrypt"}],
    ),
]
"""The field ``ingress`` of an AKS cluster."""
