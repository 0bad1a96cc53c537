"""The Ingress of MLRun CE, the values of its load balancer's controller, and the addresses that MLRun gives out."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.ingress import ENDPOINTS, OwnIngress
from components.contract.systems import ingress, mlrun_ce
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices
from components.contract.systems.ways_in_charts import EXTERNAL_DNS, LOAD_BALANCER_CONTROLLER
from infra.config import parse
from infra.config.platform_cluster import platform_cluster as read
from policies.registry import RULES
from policies.resource import Resource
from policies.rule import Context
from policies.values import Value
from support import aks, eks
from support.platform_cluster import platform_cluster, with_names, with_ways_in

HERE = SystemChoices(namespace="mlrun")
CLIENTS = {"domain": "ml.example.com", "clientCidrs": ["10.0.0.0/8"]}
OTHER = "11111111-1111-1111-1111-111111111111"
HOSTS = [f"{name}.ml.example.com" for name in ("mlrun", "mlrun-api", "nuclio", "jupyter", "grafana")]


def own(**changes: Any) -> PlatformCluster:
    choices = OwnIngress.model_validate({"domain": "ml.example.com", "className": "traefik", **changes})
    return replace(platform_cluster(), ways_in=choices.ways_in)


def routes(cluster: PlatformCluster) -> dict[str, Any]:
    return ingress.values(cluster, HERE).content


def spec(cluster: PlatformCluster) -> dict[str, Any]:
    found: dict[str, Any] = LOAD_BALANCER_CONTROLLER.values(cluster, HERE).content["ingressClassParams"]["spec"]
    return found


def test_each_service_has_a_name_below_the_domain() -> None:
    found = routes(with_ways_in(platform_cluster()))
    assert [rule["host"] for rule in found["spec"]["rules"]] == HOSTS
    backends = [rule["http"]["paths"][0]["backend"]["service"] for rule in found["spec"]["rules"]]
    assert backends == [{"name": each.service, "port": {"number": each.port}} for each in ENDPOINTS]


def test_a_load_balancer_of_aws_ends_tls_itself() -> None:
    found = routes(with_ways_in(platform_cluster()))
    assert found["spec"]["ingressClassName"] == "alb"
    assert "tls" not in found["spec"]
    ports = "alb.ingress.kubernetes.io/listen-ports"
    assert found["metadata"]["annotations"][ports] == '[{"HTTP": 80}, {"HTTPS": 443}]'
    assert ports not in routes(with_ways_in(platform_cluster(), certificateArn=None))["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("changes", "secret", "issuer"),
    [
        ({}, None, None),
        ({"tlsSecret": "ml-tls"}, "ml-tls", None),
        ({"clusterIssuer": "letsencrypt"}, "ingress-tls", "letsencrypt"),
        ({"clusterIssuer": "letsencrypt", "tlsSecret": "ml-tls"}, "ml-tls", "letsencrypt"),
    ],
)
def test_a_controller_of_ones_own_gets_the_certificate_from_a_secret(
    changes: dict[str, str], secret: str | None, issuer: str | None
) -> None:
    found = routes(own(**changes))
    assert found["spec"]["ingressClassName"] == "traefik"
    assert found["spec"].get("tls") == ([{"hosts": HOSTS, "secretName": secret}] if secret else None)
    annotations = found["metadata"].get("annotations", {})
    assert annotations.get("cert-manager.io/cluster-issuer") == issuer


def test_it_says_that_nothing_asks_for_a_password_and_that_http_is_in_clear() -> None:
    password, clear = ingress.values(own(), HERE).notes
    assert "no password" in password
    assert "without encryption" in clear
    assert len(ingress.values(with_ways_in(platform_cluster()), HERE).notes) == 1


def test_all_ingresses_of_the_class_share_one_load_balancer_that_only_the_stack_file_opens() -> None:
    found = spec(with_ways_in(platform_cluster()))
    assert found["group"] == {"name": "research"}
    assert (found["scheme"], found["inboundCIDRs"]) == ("internal", ["10.0.0.0/8"])
    assert found["sslRedirectPort"] == "443"
    assert "certificateArn" not in spec(with_ways_in(platform_cluster(), certificateArn=None))


@pytest.mark.parametrize("changes", [{}, {"scheme": "internet-facing", "clientCidrs": ["203.0.113.0/24"]}])
def test_what_is_printed_passes_the_rule_about_public_load_balancers(changes: dict[str, Any]) -> None:
    cluster = with_ways_in(platform_cluster(), **changes)
    [rule] = [each for each in RULES if each.id == "HW-01"]
    objects = {
        "kubernetes:elbv2.k8s.aws/v1beta1:IngressClassParams": {"spec": spec(cluster)},
        "kubernetes:networking.k8s.io/v1:Ingress": routes(cluster),
    }
    context = object.__new__(Context)  # the rule reads none
    for type_, content in objects.items():
        resource = Resource(urn=f"urn::{type_}::alb", type=type_, name="alb", props=Value(content))
        assert list(rule.check(resource, context)) == []


def test_the_controller_finds_its_network_without_the_metadata_service() -> None:
    values = {
        kind: LOAD_BALANCER_CONTROLLER.values(read(eks.config({"cluster.ingress": CLIENTS, **network})), HERE).content
        for kind, network in {"created": {}, "existing": {"cluster.network": eks.EXISTING}}.items()
    }
    assert values["created"]["vpcTags"] == {"igz-clusters.io/cluster": "research"}
    assert values["existing"]["vpcId"] == "vpc-0123456789abcdef0"
    assert "vpcTags" not in values["existing"]


def test_only_ingresses_of_the_class_get_a_load_balancer() -> None:
    found = LOAD_BALANCER_CONTROLLER.values(with_ways_in(platform_cluster()), HERE).content
    assert found["disableIngressClassAnnotation"] is True
    assert set(found["controllerConfig"]["featureGates"].values()) == {False}
    assert "EnableServiceController" in found["controllerConfig"]["featureGates"]


@pytest.mark.parametrize(("value", "is_passed"), [("ml", True), ("a:b", True), ("owner: ml", False), ("ml:", False)])
def test_tags_that_the_chart_would_read_as_yaml_are_left_out(value: str, is_passed: bool) -> None:
    config = eks.config({"cluster.ingress": CLIENTS, "cluster.tags": {"note": value}})
    found = LOAD_BALANCER_CONTROLLER.values(read(config), HERE).content
    assert ("defaultTags" in found) is is_passed


@pytest.mark.parametrize("system", [ingress, LOAD_BALANCER_CONTROLLER, EXTERNAL_DNS])
def test_without_ways_in_there_is_nothing_to_print(system: Any) -> None:
    assert "needs cluster.ingress" in system.lack(platform_cluster())
    with pytest.raises(ValueError, match=r"needs cluster\.ingress"):
        system.values(platform_cluster(), HERE)


def test_other_kinds_have_a_controller_of_their_own() -> None:
    assert ingress.lack(own()) is None
    assert "EKS" in str(LOAD_BALANCER_CONTROLLER.lack(own()))


@pytest.mark.parametrize(
    ("zone", "provider", "name"),
    [("dnszones/example.com", "azure", "example.com"), ("privateDnsZones/ml.example.com", "azure-private-dns", None)],
)
def test_external_dns_finds_the_zone_even_above_the_domain(zone: str, provider: str, name: str | None) -> None:
    found = EXTERNAL_DNS.values(with_names(platform_cluster(), zone), HERE).content
    assert found["provider"]["name"] == provider
    assert found["domainFilters"] == ["ml.example.com"]
    assert found["extraArgs"] == [f"--zone-name-filter={name or 'ml.example.com'}"]


def test_external_dns_gets_its_token_and_the_file_that_the_stack_makes() -> None:
    found = EXTERNAL_DNS.values(with_names(platform_cluster()), HERE).content
    assert found["podLabels"] == {"azure.workload.identity/use": "true"}
    assert found["serviceAccount"] == {"name": "external-dns"}
    [volume], [mount] = found["extraVolumes"], found["extraVolumeMounts"]
    assert (volume["configMap"]["name"], mount["mountPath"]) == ("external-dns-azure", "/etc/kubernetes")
    assert volume["name"] == mount["name"]


def test_clusters_of_one_zone_are_different_owners_of_names() -> None:
    zone = f"/subscriptions/{aks.SUBSCRIPTION}/resourceGroups/dns/providers/Microsoft.Network/dnszones/example.com"
    given = {"domain": "ml.example.com", "className": "traefik", "dnsZoneId": zone}
    owners = {
        EXTERNAL_DNS.values(read(aks.config({"cluster.ingress": given, **more})), HERE).content["txtOwnerId"]
        for more in ({}, {"cluster.subscriptionId": OTHER}, {"cluster.name": "other"})
    }
    assert owners == {f"research-{aks.SUBSCRIPTION}", f"research-{OTHER}", f"other-{aks.SUBSCRIPTION}"}


def test_mlrun_gives_out_the_addresses_of_the_ingress_and_closes_the_ports_of_nodes() -> None:
    found = mlrun_ce.values(with_ways_in(platform_cluster()), HERE).content
    assert found["global"]["externalHostAddress"] == "ml.example.com"
    assert found["mlrun"]["nuclio"]["uiURL"] == "https://nuclio.ml.example.com"
    assert found["jupyterNotebook"]["mlrunUIURL"] == "https://mlrun.ml.example.com/mlrun"
    assert found["mlrun"]["api"]["extraEnvKeyValue"]["MLRUN_GRAFANA_URL"] == "https://grafana.ml.example.com"
    for service in (found["mlrun"]["api"], found["mlrun"]["ui"], found["jupyterNotebook"]):
        assert service["service"]["type"] == "ClusterIP"
    clear = mlrun_ce.values(own(), HERE).content
    assert clear["mlrun"]["nuclio"]["uiURL"] == "http://nuclio.ml.example.com"


def test_a_second_platform_has_names_of_its_own_within_the_same_certificate() -> None:
    document = eks.document(
        {
            "cluster.ingress": {"domain": "ml.example.com", "clientCidrs": ["10.0.0.0/8"]},
            "namespaces": {"mlrun": {"coreServices": True}, "jobs": {}, "team": {"coreServices": True}},
        }
    )
    config = parse(document)
    hosts = {
        name: [rule["host"] for rule in routes(read(config, namespace=name))["spec"]["rules"]]
        for name in ("mlrun", "team")
    }
    assert hosts["mlrun"] == HOSTS
    assert hosts["team"] == [host.replace(".ml.", "-team.ml.") for host in HOSTS]
