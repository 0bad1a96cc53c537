"""The autoscaler's pod and rights, as the API server will see them."""

from typing import Any

from components.addons.autoscaler_rights import CLUSTER_RULES, OWN_RULES
from support.eks import built

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
NAME = "test-own-autoscaler"


def deployment() -> dict[str, Any]:
    return dict(built().of_type(DEPLOYMENT)[NAME]["spec"])


def pod() -> dict[str, Any]:
    return dict(deployment()["template"]["spec"])


def test_it_runs_on_the_initial_group_and_tolerates_nothing() -> None:
    assert pod()["nodeSelector"] == {"igz-clusters.io/role": "initial"}
    assert "tolerations" not in pod()
    assert pod()["priorityClassName"] == "system-cluster-critical"


def test_a_second_one_waits_on_another_node() -> None:
    (spread,) = pod()["topologySpreadConstraints"]
    assert deployment()["replicas"] == 2
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["labelSelector"]["matchLabels"] == deployment()["template"]["metadata"]["labels"]
    budget = built().of_type("kubernetes:policy/v1:PodDisruptionBudget")[NAME]["spec"]
    assert budget == {
        "maxUnavailable": 1,
        "selector": deployment()["selector"],
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }


def test_requests_equal_limits() -> None:
    (container,) = pod()["containers"]
    assert container["resources"]["requests"] == container["resources"]["limits"]


def test_it_may_read_no_secret_and_no_config_map_but_its_own() -> None:
    for rule in CLUSTER_RULES:
        assert not {"secrets", "configmaps", "serviceaccounts/token"} & set(rule["resources"])
        assert "*" not in (*rule["apiGroups"], *rule["resources"], *rule["verbs"])
    named = [rule for rule in OWN_RULES if rule["verbs"] != ["create"]]
    assert all(rule["resourceNames"] for rule in named)


def test_it_changes_nothing_cluster_wide_but_nodes_evictions_and_events() -> None:
    changed = {
        resource
        for rule in CLUSTER_RULES
        if set(rule["verbs"]) - {"get", "list", "watch"}
        for resource in rule["resources"]
    }
    assert changed == {"nodes", "pods/eviction", "events"}


def test_its_account_is_the_one_that_has_the_role() -> None:
    (identity,) = built().of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation").values()
    account = built().of_type("kubernetes:core/v1:ServiceAccount")[f"{NAME}-account"]["metadata"]
    assert (identity["namespace"], identity["serviceAccount"]) == (account["namespace"], account["name"])
    assert pod()["serviceAccountName"] == account["name"]


def test_its_identity_is_there_before_its_pod() -> None:
    identity = ("aws:eks/podIdentityAssociation:PodIdentityAssociation", NAME)
    assert identity in built().needs((DEPLOYMENT, NAME))
