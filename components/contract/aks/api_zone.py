"""The private DNS zone in which the API of a private AKS cluster has its name."""

from typing import Annotated, Final

from pydantic import Field

from components.contract.azure import PrivateZoneId, zone_name
from components.contract.choices import Explained

API_ZONE: Final = "privatelink"
"""First part of the names of zones for private APIs: https://learn.microsoft.com/azure/aks/private-clusters."""

SUBZONE_MAX: Final = 32
"""Maximum length of a subzone before that: MicrosoftDocs/azure-aks-docs ``articles/aks/private-clusters.md``."""

ApiZoneChoice = Annotated[
    PrivateZoneId | None,
    Explained(
        "AKS creates its own zone and links it only to the network of the nodes.",
        "The zone of the API's name, and two roles of the control plane's identity.",
    ),
    Field(
        description=(
            "Id of the private DNS zone of a private API, such as one of a hub that your networks already use. Fixed "
            "when the cluster is created."
        ),
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/dns"
                "/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
            )
        ],
    ),
]
"""The field ``privateDnsZoneId``."""


def require_api_zone(zone: str, location: str) -> None:
    """Require that AKS can put the name of an API into a zone.

    Parameters
    ----------
    zone
        Id of the zone.
    location
        Region of the cluster.

    Raises
    ------
    ValueError
        AKS does not accept the zone's name in this region.
    """
    wanted = f"{API_ZONE}.{location}.azmk8s.io"
    subzone, found, rest = f".{zone_name(zone)}".rpartition(f".{wanted}")
    if not found or rest or "." in subzone[1:] or len(subzone[1:]) > SUBZONE_MAX:
        raise ValueError(
            f"has a name that AKS does not accept in this region; it must be {wanted} or SUBZONE.{wanted}, with a "
            f"SUBZONE of at most {SUBZONE_MAX} characters without '.'"
        )
