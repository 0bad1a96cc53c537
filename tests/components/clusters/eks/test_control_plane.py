import pytest

from support.eks import ACCOUNT, CLUSTER, ROLE, build, built

KEY = "aws:kms/key:Key"
ENTRY = "aws:eks/accessEntry:AccessEntry"
ASSOCIATION = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
KUBERNETES = "pulumi:providers:kubernetes"
LOGS = "aws:cloudwatch/logGroup:LogGroup"


def test_the_api_is_private_unless_ranges_are_named() -> None:
    private = built().of_type(CLUSTER)["test-cluster"]["vpcConfig"]
    assert (private["endpointPrivateAccess"], private["endpointPublicAccess"]) == (True, False)
    ranges = ["203.0.113.0/24"]
    public = build({"cluster.publicAccessCidrs": ranges}).of_type(CLUSTER)["test-cluster"]["vpcConfig"]
    assert (public["endpointPrivateAccess"], public["endpointPublicAccess"]) == (True, True)
    assert public["publicAccessCidrs"] == ranges


def test_all_five_logs_are_kept_as_long_as_the_environment_needs() -> None:
    cluster = built().of_type(CLUSTER)["test-cluster"]
    assert cluster["enabledClusterLogTypes"] == ["api", "audit", "authenticator", "controllerManager", "scheduler"]
    days = {e: built(e).of_type(LOGS)["test-cluster-logs"]["retentionInDays"] for e in ("dev", "prod")}
    assert days == {"dev": 30, "prod": 365}
    own = build({"cluster.logRetentionDays": 731}).of_type(LOGS)
    assert own["test-cluster-logs"]["retentionInDays"] == 731


def test_the_log_group_exists_before_eks_would_make_one_without_an_end() -> None:
    assert built().of_type(LOGS)["test-cluster-logs"]["name"] == "/aws/eks/research/cluster"
    assert (LOGS, "test-cluster-logs") in built().needs((CLUSTER, "test-cluster"))


def test_production_is_protected_twice_and_development_is_not() -> None:
    assert built("prod").of_type(CLUSTER)["test-cluster"]["deletionProtection"] is True
    assert built().of_type(CLUSTER)["test-cluster"]["deletionProtection"] is False
    kept = {e: {key for key, o in built(e).options.items() if o.protect} for e in ("dev", "prod")}
    assert kept["prod"] - kept["dev"] == {
        (CLUSTER, "test-cluster"),
        (KEY, "test-cluster-secrets"),
        ("aws:ec2/vpc:Vpc", "test-network-vpc"),
    }


def test_a_given_key_replaces_the_own_one() -> None:
    arn = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
    recorder = build({"cluster.secretsKeyArn": arn})
    assert recorder.of_type(KEY) == {}
    assert recorder.of_type(CLUSTER)["test-cluster"]["encryptionConfig"]["provider"]["keyArn"] == arn


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_the_cluster_says_what_it_is_for_whatever_the_stack_files_tags_say(environment: str) -> None:
    recorder = build({"environment": environment, "cluster.tags": {"environment": "playground"}})
    assert recorder.of_type(CLUSTER)["test-cluster"]["tags"] == {"environment": environment}


def test_eks_brings_no_add_ons_of_its_own_and_no_extended_support() -> None:
    cluster = built().of_type(CLUSTER)["test-cluster"]
    assert cluster["bootstrapSelfManagedAddons"] is False
    assert cluster["upgradePolicy"] == {"supportType": "STANDARD"}


def test_each_entry_has_its_policy_where_it_applies() -> None:
    entries = {
        "team": {"roleArn": f"{ROLE}/team", "level": "admin", "namespaces": ["mlrun"], "groups": ["ml-team"]},
        "audit": {"roleArn": f"{ROLE}/audit", "level": "view"},
    }
    recorder = build({"cluster.access.entries": entries})
    scopes = {
        a["principalArn"].rpartition("/")[2]: (
            a["policyArn"].rpartition("/")[2],
            a["accessScope"]["type"],
            a["accessScope"].get("namespaces"),
        )
        for name, a in recorder.of_type(ASSOCIATION).items()
    }
    assert scopes == {
        "deployer": ("AmazonEKSClusterAdminPolicy", "cluster", None),
        "break-glass": ("AmazonEKSClusterAdminPolicy", "cluster", None),
        "team": ("AmazonEKSAdminPolicy", "namespace", ["mlrun"]),
        "audit": ("AmazonEKSViewPolicy", "cluster", None),
    }
    groups = {e["principalArn"].rpartition("/")[2]: e["kubernetesGroups"] for e in recorder.of_type(ENTRY).values()}
    assert groups == {"deployer": [], "break-glass": [], "team": ["ml-team"], "audit": []}


def test_an_entry_of_groups_alone_gets_no_policy_and_exists_before_the_objects_inside() -> None:
    """Its groups then have the rights of the role bindings that name them, and no others."""
    recorder = build({"cluster.access.entries": {"team": {"roleArn": f"{ROLE}/team", "groups": ["ml-team"]}}})
    assert [each["kubernetesGroups"] for each in recorder.of_type(ENTRY).values()][-1] == ["ml-team"]
    assert [name for name in recorder.of_type(ASSOCIATION) if "team" in name] == []
    [name] = [name for name in recorder.of_type(ENTRY) if "team" in name]
    assert (ENTRY, name) in recorder.needs(("kubernetes:core/v1:Namespace", "mlrun"))


def test_an_association_goes_before_another_one_of_its_role_and_policy_comes() -> None:
    found = {name: built().options[ASSOCIATION, name].delete_before_replace for name in built().of_type(ASSOCIATION)}
    assert found == {f"test-cluster-{ACCOUNT}/{role}": True for role in ("deployer", "break-glass")}


def test_clients_of_the_private_endpoint_are_let_in_before_anything_asks_the_api() -> None:
    recorder = build({"cluster.apiClientCidrs": ["10.60.0.0/16", "192.168.7.0/24"]})
    rules = recorder.of_type(INGRESS)
    of_cluster = {name: rule for name, rule in rules.items() if name.startswith("test-cluster-api-")}
    assert {name: rule["cidrIpv4"] for name, rule in of_cluster.items()} == {
        "test-cluster-api-10.60.0.0-16": "10.60.0.0/16",
        "test-cluster-api-192.168.7.0-24": "192.168.7.0/24",
    }
    for name, rule in of_cluster.items():
        assert (rule["ipProtocol"], rule["fromPort"], rule["toPort"]) == ("tcp", 443, 443)
        assert recorder.options[INGRESS, name].made_from["securityGroupId"] == ((CLUSTER, "test-cluster"),)
    inside = [(r.type, r.name) for r in recorder.resources if r.type.startswith(("kubernetes:", KUBERNETES))]
    assert len(inside) > 30
    for each in inside:
        assert recorder.needs(each) >= {(INGRESS, name) for name in of_cluster}, each


def test_without_clients_nothing_but_nodes_reaches_the_private_endpoint() -> None:
    assert [name for name in built().of_type(INGRESS) if name.startswith("test-cluster")] == []
