"""Azure resources made on the emulator through its provider, as the engine makes them: checked first, deleted last."""

from dataclasses import dataclass, field, replace
from typing import Any

from emulators.azure.provider import AzureEmulator
from support.minors import OLDER
from workbench.offline.provider import Changed, Existing

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
GROUP = "azure-native:resources:ResourceGroup"
NETWORK, SUBNET = "azure-native:network:VirtualNetwork", "azure-native:network:Subnet"
NAT, ADDRESS = "azure-native:network:NatGateway", "azure-native:network:PublicIPAddress"
RULES = "azure-native:network:NetworkSecurityGroup"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
ROLE = "azure-native:authorization:RoleDefinition"
WORKFLOW = "azure-native:logic:Workflow"
PLACEMENT = "azure-native:compute:ProximityPlacementGroup"
CLUSTER, POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"
MAINTENANCE = "azure-native:containerservice:MaintenanceConfiguration"
WORKSPACE = "azure-native:operationalinsights:Workspace"
DIAGNOSTICS = "azure-native:monitor:DiagnosticSetting"
COLLECTION = "azure-native:monitor:DataCollectionRule"
COLLECTED = "azure-native:monitor:DataCollectionRuleAssociation"
STORAGE = "azure-native:storage:StorageAccount"
FILE_SERVICE, SHARE = "azure-native:storage:FileServiceProperties", "azure-native:storage:FileShare"
CONTAINER = "azure-native:storage:BlobContainer"
EXTENSION = "azure-native:kubernetesconfiguration:Extension"
BINDING = "azure-native:containerservice:TrustedAccessRoleBinding"
VAULT = "azure-native:dataprotection:BackupVault"
POLICY, INSTANCE = "azure-native:dataprotection:BackupPolicy", "azure-native:dataprotection:BackupInstance"
PLACE = {"location": "westeurope"}
IN_GROUP = {"resourceGroupName": "dev"}
CONTRIBUTOR = (
    f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/"
    "4d97b98b-1d4f-4787-a291-c67834d212e7"
)


@dataclass
class Stack:
    """What one provider made, in order."""

    provider: AzureEmulator
    made: list[Existing] = field(default_factory=list)

    def make(self, type_: str, name: str, /, **inputs: Any) -> Existing:
        """Make a resource, with what the check adds to its inputs."""
        whole = self.checked(type_, name, inputs)
        id_, outputs = self.provider.create(type_, name, whole)
        self.made.append(Existing(type_, name, id_, whole, outputs))
        return self.made[-1]

    def checked(self, type_: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return inputs with what the check adds; anything wrong with them fails the test."""
        checked = self.provider.check(type_, name, inputs, seed=b"seed", kept={})
        assert checked.problems == ()
        return {**inputs, **checked.filled, **checked.added}

    def refreshed(self, resource: Existing) -> Existing:
        """Return a resource as a refresh finds it."""
        found = self.provider.read(resource)
        assert found
        return replace(resource, inputs=found.inputs, outputs=found.outputs)

    def compared(self, resource: Existing, **inputs: Any) -> Changed:
        """Return what it means to give a resource these inputs over those that the program gave."""
        return self.provider.compare(resource.type_, resource.inputs, {**resource.inputs, **inputs}, filled=frozenset())

    def change(self, resource: Existing, **inputs: Any) -> Existing:
        """Give a resource other inputs; None takes one away."""
        wanted = {name: value for name, value in {**resource.inputs, **inputs}.items() if value is not None}
        return replace(resource, inputs=wanted, outputs=self.provider.update(resource, wanted))

    def delete_all(self) -> None:
        """Delete everything, the last one first."""
        while self.made:
            self.provider.delete(self.made.pop())

    def group(self) -> Existing:
        """Make the group that everything else is in."""
        return self.make(GROUP, "group", resourceGroupName="dev", **PLACE)

    def subnet(self) -> Existing:
        """Make a group, a network and a subnet for nodes."""
        self.group()
        self.make(
            NETWORK,
            "net",
            virtualNetworkName="net",
            addressSpace={"addressPrefixes": ["10.8.0.0/16"]},
            **IN_GROUP,
            **PLACE,
        )
        return self.make(
            SUBNET, "nodes", virtualNetworkName="net", subnetName="nodes", addressPrefix="10.8.0.0/20", **IN_GROUP
        )

    def account(self, **inputs: Any) -> Existing:
        """Make a storage account for file shares, in a group that exists."""
        given = {"accountName": "corpus", "kind": "FileStorage", "sku": {"name": "Premium_ZRS"}, **IN_GROUP, **PLACE}
        return self.make(STORAGE, "corpus", **{**given, **inputs})

    def cluster(self, **inputs: Any) -> Existing:
        """Make a cluster with one system pool, and all that it needs."""
        subnet = self.subnet()
        identity = self.make(IDENTITY, "cluster", resourceName="cluster", **IN_GROUP, **PLACE)
        self.make(
            ASSIGNMENT,
            "network",
            roleAssignmentName="22222222-2222-3333-4444-555555555555",
            scope=subnet.id,
            principalId=identity.outputs["principalId"],
            principalType="ServicePrincipal",
            roleDefinitionId=CONTRIBUTOR,
        )
        given = {
            "resourceName": "dev",
            "dnsPrefix": "dev",
            "kubernetesVersion": OLDER,
            "identity": {"type": "UserAssigned", "userAssignedIdentities": [identity.id]},
            "agentPoolProfiles": [system_pool(subnet.id)],
            "networkProfile": {"networkPlugin": "azure", "networkPluginMode": "overlay", "podCidr": "10.244.0.0/16"},
            "autoScalerProfile": {"expander": "least-waste", "scanInterval": "20s"},
            "oidcIssuerProfile": {"enabled": True},
            **IN_GROUP,
            **PLACE,
        }
        return self.make(CLUSTER, "cluster", **{**given, **inputs})

    def pool(self, name: str, **inputs: Any) -> Existing:
        """Make one more pool of the cluster."""
        subnet = next(each for each in self.made if each.type_ == SUBNET)
        given = {
            "resourceName": "dev",
            "agentPoolName": name,
            "mode": "User",
            "vmSize": "Standard_D4s_v5",
            "enableAutoScaling": True,
            "count": 1,
            "minCount": 1,
            "maxCount": 3,
            "vnetSubnetID": subnet.id,
            "nodeLabels": {"igz-clusters.io/pool": name},
            **IN_GROUP,
        }
        return self.make(POOL, name, **{**given, **inputs})


def system_pool(subnet: str) -> dict[str, Any]:
    """Return the inline pool of a cluster."""
    return {
        "name": "system",
        "mode": "System",
        "count": 2,
        "vmSize": "Standard_D4s_v5",
        "osType": "Linux",
        "type": "VirtualMachineScaleSets",
        "vnetSubnetID": subnet,
    }
