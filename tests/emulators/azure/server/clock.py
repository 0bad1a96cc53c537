"""How long Azure works on something after it has answered, in seconds of Azure."""

from typing import Final

SECONDS: Final = {
    "Microsoft.Authorization/roleAssignments/propagation": 120,
    "Microsoft.Authorization/roleDefinitions/propagation": 30,
    "Microsoft.ContainerService/managedClusters/create": 300,
    "Microsoft.ContainerService/managedClusters/update": 120,
    "Microsoft.ContainerService/managedClusters/upgrade": 600,
    "Microsoft.ContainerService/managedClusters/stop": 180,
    "Microsoft.ContainerService/managedClusters/start": 240,
    "Microsoft.ContainerService/managedClusters/delete": 240,
    "Microsoft.ContainerService/managedClusters/agentPools/create": 150,
    "Microsoft.ContainerService/managedClusters/agentPools/update": 60,
    "Microsoft.ContainerService/managedClusters/agentPools/upgrade": 600,
    "Microsoft.ContainerService/managedClusters/agentPools/delete": 180,
    "Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings/create": 30,
    "Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings/delete": 30,
    "Microsoft.DataProtection/backupVaults/create": 10,
    "Microsoft.DataProtection/backupVaults/delete": 10,
    "Microsoft.DataProtection/backupVaults/backupInstances/create": 60,
    "Microsoft.DataProtection/backupVaults/backupInstances/delete": 60,
    "Microsoft.DataProtection/backupVaults/backupInstances/purge": 14 * 24 * 3600,
    "Microsoft.DataProtection/backupVaults/backupInstances/restore": 600,
    "Microsoft.DataProtection/backupVaults/backupInstances/sync": 60,
    "Microsoft.DataProtection/backupVaults/backupInstances/update": 60,
    "Microsoft.KubernetesConfiguration/extensions/create": 120,
    "Microsoft.KubernetesConfiguration/extensions/delete": 60,
    "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write": 2,
    "Microsoft.ManagedIdentity/userAssignedIdentities/replication": 30,
    "Microsoft.Network/natGateways/create": 10,
    "Microsoft.Network/natGateways/delete": 10,
    "Microsoft.Network/networkSecurityGroups/create": 5,
    "Microsoft.Network/networkSecurityGroups/delete": 10,
    "Microsoft.Network/publicIPAddresses/create": 5,
    "Microsoft.Network/publicIPAddresses/delete": 10,
    "Microsoft.Network/routeTables/create": 5,
    "Microsoft.Network/routeTables/delete": 10,
    "Microsoft.Network/virtualNetworks/create": 5,
    "Microsoft.Network/virtualNetworks/delete": 10,
    "Microsoft.Network/virtualNetworks/subnets/create": 5,
    "Microsoft.Network/virtualNetworks/subnets/update": 5,
    "Microsoft.Network/virtualNetworks/subnets/delete": 10,
    "Microsoft.OperationalInsights/workspaces/create": 30,
    "Microsoft.OperationalInsights/workspaces/delete": 10,
    "Microsoft.Resources/resourceGroups/delete": 60,
    "Microsoft.Storage/storageAccounts/create": 20,
    "Microsoft.Storage/storageAccounts/update": 5,
    "Microsoft.Storage/storageAccounts/delete": 5,
}
"""Orders of magnitude, to tell long from short; no measurement. What is not listed is done when it is answered.

Of roles Microsoft says up to 10 minutes (https://learn.microsoft.com/azure/role-based-access-control/troubleshooting),
for AKS up to 60 (https://learn.microsoft.com/azure/aks/user-assigned-managed-identity).
"""

POOL_WRITES: Final = 20
"""Writes of agent pools that a cluster takes at once; then one each minute: Azure's limits of AKS's API."""

POOL_WRITE_SECONDS: Final = 60.0
