"""Settings that are allowed, with a warning."""

from typing import Any

import pytest

from infra.config import StackConfig, parse
from infra.config.warnings import warnings_of
from support import aks, eks
from workbench import stacks

NAMESPACES = ["mlrun", "kube-system", "elsewhere"]
ARN = "arn:aws:iam::111122223333:role/viewer"
GROUP = "33333333-3333-3333-3333-333333333333"
ABSENT = "'elsewhere' is not a namespace of this stack; the entry has no effect until it exists"
INTERNET = "is the internet or much of it: the namespace's pods can send data anywhere"
ROUTED = (
    "is a public range: it reaches the API only where peering or a VPN routes it into the VPC; publicAccessCidrs is "
    "for the internet"
)

ON_NODES = "does not reach the data of pool 'data': AWS Backup copies volumes, and not the NVMe disks of nodes"
CERTIFICATE = "arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555"
WAYS_IN = {"domain": "ml.example.com", "clientCidrs": ["10.0.0.0/8"]}
PUBLIC = {"scheme": "internet-facing", "clientCidrs": ["0.0.0.0/0"]}
IN_CLEAR = "has no certificate: clients send passwords and data in plain text"
FOR_EVERYONE = "everyone on the internet can run code in the cluster: MLRun, Nuclio and Jupyter ask for no password"

UNMOUNTED = (
    "lists shared, but not 'shard', which MLRun's autoMount mounts into every function; unless that claim is created "
    "elsewhere, no function starts"
)


def warned(config: StackConfig) -> list[str]:
    return [f"{'.'.join(each.path)}: {each.message}" for each in warnings_of(config)]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        (
            {"cluster.access.entries": {"ops": {"roleArn": ARN, "level": "view", "namespaces": NAMESPACES}}},
            [f"cluster.access.entries.ops.namespaces: {ABSENT}"],
        ),
        (
            {"namespaces": {"jobs": {"egressCidrs": ["0.0.0.0/0", "::/0", "10.0.0.0/8"]}}},
            [f"namespaces.jobs.egressCidrs: {cidr} {INTERNET}" for cidr in ("0.0.0.0/0", "::/0")],
        ),
        ({"policyGuard": "off"}, []),
        (
            {"cluster.apiClientCidrs": ["10.60.0.0/16", "100.64.0.0/16", "198.51.0.0/16"]},
            [f"cluster.apiClientCidrs: 198.51.0.0/16 {ROUTED}"],
        ),
        ({"cluster.backup": {}}, [f"cluster.backup: {ON_NODES}"]),
        ({"cluster.backup": {}, "pools.data": None}, []),
        ({"cluster.ingress": WAYS_IN}, [f"cluster.ingress: {IN_CLEAR}"]),
        ({"cluster.ingress": {**WAYS_IN, "certificateArn": CERTIFICATE}}, []),
        (
            {"cluster.ingress": {**WAYS_IN, **PUBLIC, "certificateArn": CERTIFICATE}},
            [f"cluster.ingress.clientCidrs: {FOR_EVERYONE}"],
        ),
    ],
)
def test_a_setting_that_its_author_may_not_have_meant_is_warned_of(
    changes: dict[str, Any], expected: list[str]
) -> None:
    assert warned(eks.config(changes)) == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("shared", []),
        (
            "shard",
            [f"namespaces.mlrun.volumes: {UNMOUNTED}"],
        ),
    ],
)
def test_a_claim_that_mlrun_mounts_is_compared_with_those_of_its_namespace(claim: str, expected: list[str]) -> None:
    changes = {
        "storage": {"corpus": {"purpose": "dataset", "type": "files"}},
        "namespaces": {"mlrun": {"coreServices": True, "volumes": {"shared": {"storage": "corpus"}}}, "jobs": {}},
        "platform": {"mlrun": {"autoMount": {"type": "pvc", "parameters": {"pvc_name": claim}}}},
    }
    assert warned(eks.config(changes)) == expected


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        ({"from": "02:30", "days": ["sunday"]}, "02:30"),
        ({"from": "02:10", "to": "02:50", "days": ["sunday"]}, "02:10 and 02:50"),
        ({"from": "02:30"}, ""),  # the clocks change on a Sunday
        ({"from": "08:00", "days": ["sunday"]}, ""),
    ],
)
def test_hours_at_times_that_a_change_of_the_clocks_skips_are_warned_of(hours: dict[str, Any], expected: str) -> None:
    given = {"to": "19:00", "timeZone": "Europe/Berlin", **hours}
    text = f"clocks in Europe/Berlin skip or repeat {expected} on one of its days a year: the schedule may not run then"
    assert warned(eks.config({"cluster.officeHours": given, "pools.data": None})) == (
        [f"cluster.officeHours: {text}"] if expected else []
    )


def test_a_local_cluster_plays_hours_in_rehearsals_only() -> None:
    size, hours = {"min": 1, "max": 2}, {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
    work = {"role": "workload", "size": size, "instanceTypes": ["m6i.2xlarge"], "officeHours": hours}
    pools = {"initial": {**work, "role": "initial", "size": {"min": 2, "max": 2}, "officeHours": None}, "work": work}
    choices = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": pools}
    (warning,) = warned(parse(choices))
    assert warning.startswith("pools.work.officeHours: has no effect on a local cluster")


def test_entries_of_aks_are_compared_with_the_namespaces_too() -> None:
    entry = {"objectId": GROUP, "level": "view", "namespaces": NAMESPACES}
    assert warned(aks.config({"cluster.access.entries": {"ops": entry}})) == [
        f"cluster.access.entries.ops.namespaces: {ABSENT}"
    ]


NO_WAY, LOGIN, AZURE = "network.internet is none", "login.microsoftonline.com", "management.azure.com"
CONTAINERS = {"containers": [{"account": "mldata", "resourceGroup": "data", "container": "vision"}]}


@pytest.mark.parametrize(("version", "warns"), [("1.35", True), ("1.36", False)])
def test_pods_on_aks_need_a_label_for_their_identity_that_nothing_sets_before_1_36(
    version: str, *, warns: bool
) -> None:
    config = aks.config({"namespaces": {"vision": {"identity": CONTAINERS}}, "cluster.version": version})
    label = "before Kubernetes 1.36 nothing gives pods the label azure.workload.identity/use=true that they need for it"
    assert warned(config) == [f"namespaces.vision.identity: {label}"] * warns


def test_pods_of_an_isolated_cluster_log_in_nowhere_and_call_no_azure() -> None:
    ways_in = {"domain": "ml.example.com", "className": "traefik", "clusterIssuer": "corp"}
    zone = aks.ZONE_ID.replace("privatelink.westeurope.azmk8s.io", "example.com")
    changes = {
        **aks.NO_INTERNET,
        "namespaces": {"vision": {"identity": CONTAINERS}},
        "cluster.ingress": {**ways_in, "dnsZoneId": zone},
        "cluster.version": "1.36",
    }
    assert warned(aks.config(changes)) == [
        f"namespaces.vision.identity: gives no rights while cluster.{NO_WAY}: pods cannot log in at {LOGIN}",
        f"cluster.ingress.dnsZoneId: external-dns makes no names while {NO_WAY}: it does not reach {AZURE}",
    ]
    proxied = {**changes, "cluster.proxy": {"http": "http://proxy.corp.example:3128"}}
    assert warned(aks.config(proxied)) == []
    assert warned(aks.config({**changes, "cluster.network": {**aks.EXISTING, "internet": "firewall"}})) == []


def test_headroom_of_a_pool_over_zones_may_be_in_the_wrong_one() -> None:
    room = {"pods": 1, "cpu": "1", "memory": "2Gi"}
    said = "is kept in any zone: a pod whose volume is in another one waits for a node all the same"
    assert warned(eks.config({"pools.jupyter.headroom": room})) == [f"pools.jupyter.headroom: {said}"]
    assert warned(eks.config({"pools.workload.headroom": room})) == []


def test_images_are_pulled_early_in_clouds_only() -> None:
    images = ["nvcr.io/nvidia/pytorch:25.06-py3"]
    assert warned(eks.config({"pools.workload.prepullImages": images})) == []
    types = ["m6i.2xlarge"]
    pools = {
        "initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": types},
        "jobs": {"role": "workload", "size": {"min": 0, "max": 2}, "instanceTypes": types, "prepullImages": images},
    }
    choices = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": pools}
    said = "has no effect on a local cluster, whose nodes pull no images"
    assert warned(parse(choices)) == [f"pools.jobs.prepullImages: {said}"]


def test_an_identity_on_a_local_cluster_is_only_accounts() -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    choices = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": pools}
    [warning] = warned(parse({**choices, "namespaces": {"vision": {"identity": CONTAINERS}}}))
    assert warning.startswith("namespaces.vision.identity: gives no rights on a local cluster")


@pytest.mark.parametrize(
    ("environment", "nodes", "warns"), [("dev", 1, True), ("dev", 2, False), ("prod", 2, True), ("prod", 3, False)]
)
def test_fewer_nodes_than_microsoft_wants_of_a_system_pool_are_allowed_and_warned_of(
    environment: str, nodes: int, *, warns: bool
) -> None:
    config = aks.config({"environment": environment, "pools.initial.size": {"min": nodes, "max": nodes}})
    assert ["AKS's only system pool" in text for text in warned(config)] == [True] * warns


def test_a_guard_that_is_off_is_warned_of_in_prod_but_for_a_local_cluster() -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    choices = {"schemaVersion": 1, "environment": "prod", "pools": pools, "policyGuard": "off"}
    assert warned(parse({**choices, "cluster": {"kind": "local"}})) == []
    existing: dict[str, Any] = {
        "kind": "existing",
        "clusterId": "6b0e2a4e-0000-4000-8000-000000000000",
        "context": "mine",
    }
    existing |= {"nodes": {"initial": {"selector": {"rack": "core"}}}}
    machine = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "machine": {"vcpus": 8, "memoryGib": 32}}}
    (warning,) = warned(parse({**choices, "cluster": existing, "pools": machine}))
    assert warning.startswith("policyGuard: is off in prod: protected resources are deleted without an approval")


@pytest.mark.parametrize("name", stacks.stack_files())
def test_a_shipped_stack_file_has_no_notes(name: str) -> None:
    assert stacks.find(name).config.notes == ()


def test_storage_on_a_local_cluster_keeps_nothing() -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    choices = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": pools}
    told = "keeps nothing on a local cluster: claims are bound, and nothing mounts them"
    assert warned(parse({**choices, "storage": {"corpus": {"purpose": "dataset", "type": "files"}}})) == [
        f"storage.corpus: {told}"
    ]


@pytest.mark.parametrize(("network", "count"), [(aks.EXISTING, 1), (aks.CREATED, 0)])
def test_an_existing_subnet_needs_the_endpoint_of_storage(network: dict[str, Any], count: int) -> None:
    config = aks.config({"storage": {"corpus": {"purpose": "dataset", "type": "files"}}, "cluster.network": network})
    assert len([each for each in warned(config) if "must have the service endpoint Microsoft.Storage" in each]) == count


LUSTRE = {"storage": {"fast": {"purpose": "scratch", "type": "lustre", "sizeGib": 1200, "zone": "b"}}}
ELSEWHERE = "storage.fast.zone: no pool for user work has a group in zone b alone"


@pytest.mark.parametrize(
    ("changes", "count"),
    [({}, 1), ({"zone": "a"}, 1), ({"zone": "b"}, 0), ({"zonal": True}, 0)],
)
def test_pods_follow_lustre_where_a_pool_has_a_group_of_its_zone_alone(changes: dict[str, Any], count: int) -> None:
    pools = {f"pools.workload.{key}": value for key, value in changes.items()}
    # The groups of notebooks are of one zone each.
    told = warned(eks.config({**LUSTRE, **pools, "pools.jupyter": None}))
    assert len([each for each in told if each.startswith(ELSEWHERE)]) == count


@pytest.mark.parametrize(("type_", "told"), [("Standard_D8ps_v5", ["pools.workload"]), ("Standard_D8s_v5", [])])
def test_arm_nodes_on_aks_may_not_mount_storage(type_: str, told: list[str]) -> None:
    storage = {"corpus": {"purpose": "dataset", "type": "files"}}
    changes = {"storage": storage, "pools.workload.instanceTypes": [type_]}
    found = [each for each in warned(aks.config(changes)) if "mounts no `storage`" in each]
    assert [each.partition(":")[0] for each in found] == told
    assert not [each for each in warned(aks.config({**changes, "storage": None})) if "`storage`" in each]


def test_backups_of_aks_reach_neither_data_nodes_nor_azure_files_and_need_an_endpoint() -> None:
    changes = {"cluster.backup": {}, "storage": {"corpus": {"purpose": "dataset", "type": "files"}}}
    found = [each for each in warned(aks.config(changes)) if each.startswith("cluster.backup")]
    files = "does not reach the storage 'corpus': Azure Backup skips NFS shares of Azure Files"
    assert found == [f"cluster.backup: {ON_NODES.replace('AWS', 'Azure')}", f"cluster.backup: {files}"]
    existing = warned(aks.config({"cluster.backup": {}, "cluster.network": aks.EXISTING}))
    assert len([each for each in existing if "or Azure refuses the account of `backup`" in each]) == 1
