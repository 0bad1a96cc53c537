from support.aks_account import Account

NATIVE = "azure-native:"


def own_part(own: Account) -> dict[str, list[str]]:
    """Return what is in an account's group, by type."""
    inside = own.group.lower()
    found = {
        type_: [id_ for id_ in ids if id_.lower() == inside or id_.lower().startswith(f"{inside}/")]
        for type_, ids in own.az.inventory().items()
    }
    return {type_: ids for type_, ids in found.items() if ids}


def test_what_was_asked_for_is_told_by_pulumis_types_and_answered_ids(own: Account) -> None:
    cluster = own.cluster()
    pool = own.pool(cluster)
    found = own_part(own)
    assert found["azure-native:containerservice:ManagedCluster"] == [cluster]
    assert found["azure-native:containerservice:AgentPool"] == [pool]
    assert {type_ for type_ in found if type_.startswith(NATIVE)} == {
        "azure-native:authorization:RoleAssignment",
        "azure-native:containerservice:AgentPool",
        "azure-native:containerservice:ManagedCluster",
        "azure-native:managedidentity:UserAssignedIdentity",
        "azure-native:network:Subnet",
        "azure-native:network:VirtualNetwork",
        "azure-native:resources:ResourceGroup",
    }


def test_what_azure_made_is_told_by_azures_types(own: Account) -> None:
    before = set(own.az.inventory().get("Microsoft.Resources/resourceGroups", []))
    cluster = own.cluster()
    assert own_part(own)["Microsoft.ContainerService/managedClusters/agentPools"] == [f"{cluster}/agentPools/initial"]
    (new,) = set(own.az.inventory()["Microsoft.Resources/resourceGroups"]) - before
    assert new.endswith(own.properties(cluster)["nodeResourceGroup"])
    own.delete(cluster)
    assert set(own.az.inventory().get("Microsoft.Resources/resourceGroups", [])) == before
