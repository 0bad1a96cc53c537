"""What of a cluster does not change once it is made, and what is never turned off."""

from collections.abc import Mapping
from typing import Any, Final

from emulators.azure.server.kinds.kind import at
from emulators.azure.server.refusals import unchangeable
from emulators.azure.server.said import Fixed, fixed
from emulators.core.refusal import Refusal

TOKEN: Final = "azure-native:containerservice:ManagedCluster"  # noqa: S105 a type

REPLACED: Final = (
    "properties.diskEncryptionSetID",
    "properties.dnsPrefix",
    "properties.fqdnSubdomain",
    "properties.networkProfile.dnsServiceIP",
    "properties.networkProfile.networkPlugin",
    "properties.networkProfile.podCidr",
    "properties.networkProfile.serviceCidr",
    "properties.nodeResourceGroup",
    "properties.windowsProfile.adminUsername",
)
"""What a cluster is made with beside what the facts name: the plug-in replaces the cluster."""

ACCESS: Final = "properties.apiServerAccessProfile"
OIDC: Final = "properties.oidcIssuerProfile.enabled"


def check(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuse a change that AKS does not make.

    Parameters
    ----------
    old, new
        As it is kept, and as it would be.
    """
    for each in (*fixed(TOKEN), *map(Fixed, REPLACED)):
        before, after = at(old, each.path), at(new, each.path)
        if after is not None and before is not None and each.is_changed(before, after):
            raise _never_off() if each.path == OIDC else unchangeable(each.path)
    _check_private(old, new)


def _never_off() -> Refusal:
    """Return the refusal to turn the issuer off: https://github.com/Azure/AKS-Construction/issues/531."""
    return Refusal("OIDCIssuerFeatureCannotBeDisabled", 400, "OIDC issuer feature cannot be disabled.")


def _check_private(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuse another mode of access to the API server where it is not in the network of the nodes.

    Source: https://learn.microsoft.com/azure/aks/private-clusters#prerequisites; the code is assumed.
    """
    path = f"{ACCESS}.enablePrivateCluster"
    is_integrated = at(old, f"{ACCESS}.enableVnetIntegration")
    if bool(at(old, path)) != bool(at(new, path)) and not is_integrated:
        raise unchangeable(path)
