"""Protections of every storage account of a cluster."""

from typing import Any

from pulumi_azure_native.storage import NetworkRuleSetArgs, ResourceAccessRuleArgs, VirtualNetworkRuleArgs

from components.contract.aks.config import AksConfig


def protections(choices: AksConfig, bypass: str, *services: ResourceAccessRuleArgs) -> dict[str, Any]:
    """Return inputs of an account without keys that only the nodes' subnet and these services can reach, with TLS."""
    return {
        "enable_https_traffic_only": True,
        "minimum_tls_version": "TLS1_2",
        "allow_shared_key_access": False,
        "allow_blob_public_access": False,
        "allow_cross_tenant_replication": False,
        "network_rule_set": NetworkRuleSetArgs(
            default_action="Deny",
            bypass=bypass,
            virtual_network_rules=[VirtualNetworkRuleArgs(virtual_network_resource_id=choices.node_subnet_id)],
            resource_access_rules=[*services] or None,
        ),
    }
