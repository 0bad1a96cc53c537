from support.aks import CLUSTER, NO_INTERNET, build, built

WORKSPACE = "azure-native:operationalinsights:Workspace"
SETTING = "azure-native:monitor:DiagnosticSetting"
RULE = "azure-native:monitor:DataCollectionRule"
ASSOCIATION = "azure-native:monitor:DataCollectionRuleAssociation"


def test_logs_are_kept_as_long_as_the_environment_needs() -> None:
    days = {e: built(e).of_type(WORKSPACE)["test-logs-workspace"]["retentionInDays"] for e in ("dev", "prod")}
    assert days == {"dev": 30, "prod": 365}
    own = build({"cluster.logRetentionDays": 90}).of_type(WORKSPACE)
    assert own["test-logs-workspace"]["retentionInDays"] == 90


def test_the_audit_log_of_the_cluster_goes_to_the_workspace() -> None:
    (setting,) = built().of_type(SETTING).values()
    assert (setting["resourceUri"], setting["workspaceId"]) == ("test-cluster-id", "test-logs-workspace-id")
    assert {"category": "kube-audit-admin", "enabled": True} in setting["logs"]


def test_the_agent_of_the_nodes_finds_a_rule_that_says_what_to_collect_and_where_to() -> None:
    """Without one it runs and collects nothing."""
    agent = built().of_type(CLUSTER)["test-cluster"]["addonProfiles"]["omsagent"]
    assert agent == {
        "enabled": True,
        "config": {"logAnalyticsWorkspaceResourceID": "test-logs-workspace-id", "useAADAuth": "true"},
    }
    (rule,) = built().of_type(RULE).values()
    (association,) = built().of_type(ASSOCIATION).values()
    assert association == {
        "associationName": "ContainerInsightsExtension",
        "resourceUri": "test-cluster-id",
        "dataCollectionRuleId": "test-logs-containers-id",
    }
    (destination,) = rule["destinations"]["logAnalytics"]
    (flow,) = rule["dataFlows"]
    assert destination["workspaceResourceId"] == "test-logs-workspace-id"
    assert flow["destinations"] == [destination["name"]]
    assert flow["streams"] == rule["dataSources"]["extensions"][0]["streams"]


def test_an_agent_without_a_way_to_the_workspace_is_left_out_and_the_audit_log_is_kept() -> None:
    isolated = build(NO_INTERNET)
    assert "addonProfiles" not in isolated.of_type(CLUSTER)["test-cluster"]
    assert isolated.of_type(RULE) == isolated.of_type(ASSOCIATION) == {}
    assert isolated.of_type(SETTING) == built().of_type(SETTING)


def test_nobody_needs_the_workspaces_keys() -> None:
    assert built().of_type(WORKSPACE)["test-logs-workspace"]["features"] == {"disableLocalAuth": True}


def test_the_workspace_is_there_before_the_cluster_and_goes_after_it() -> None:
    assert (WORKSPACE, "test-logs-workspace") in built().needs((CLUSTER, "test-cluster"))
