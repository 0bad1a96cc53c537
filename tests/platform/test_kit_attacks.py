"""Who may edit the platform's namespace gets neither onto the initial group nor at core services or our objects."""

from collections.abc import Iterator
from functools import reduce
from http import HTTPStatus
from typing import Any

import pytest
import yaml

from components.contract.environments import Environment, PlatformProfile
from components.contract.priorities import SystemPriority
from support.api import Answer
from support.cluster import eventually, pod
from support.kit import FOLDER, PLAIN, Manifest, Setting, as_account, is_refused_for, named_pools
from support.kit_site import RBAC, KitSite, binding, kit_site

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

ATTACKS: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "attacks.yaml").read_text())["attacks"]
APIS = {"ns": "/api/v1", "apps": "/apis/apps/v1", "batch": "/apis/batch/v1", "net": "/apis/networking.k8s.io/v1"}
KINDS = {
    "pods": "v1 Pod",
    "podtemplates": "v1 PodTemplate",
    "deployments": "apps/v1 Deployment",
    "statefulsets": "apps/v1 StatefulSet",
    "daemonsets": "apps/v1 DaemonSet",
    "replicasets": "apps/v1 ReplicaSet",
    "jobs": "batch/v1 Job",
    "cronjobs": "batch/v1 CronJob",
}
SUBRESOURCES = {
    "": ["pods/status", "pods/resize", "pods/ephemeralcontainers"],
    "apps": ["deployments/status", "statefulsets/status", "replicasets/status", "daemonsets/status"],
}
CONTAINER = {"name": "main", "image": "example.invalid/image:1"}
REFUSALS = {HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT}
USER = {"igz-clusters.io/user-workloads": "true"}
MARK = {"igz-clusters.io/core-service": "true"}
SETTINGS = (
    Setting(Environment.DEV, PlatformProfile.MLRUN_CE, "mutation"),
    Setting(Environment.DEV, PlatformProfile.MLRUN_CE, "authors"),
    Setting(Environment.PROD, PlatformProfile.MLRUN_CE, "mutation"),
    Setting(Environment.DEV, PlatformProfile.IGUAZIO, "mutation"),
)


STRICTEST = SETTINGS[2]
"""With the engine `authors`, and the profile of Iguazio's platform; `make proofs` attacks the other."""
KEPT = (SETTINGS[1], STRICTEST, SETTINGS[3])


@pytest.fixture(
    scope="module",
    params=[pytest.param(each, id=str(each), marks=[] if each in KEPT else pytest.mark.proofs) for each in SETTINGS],
)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KitSite]:
    with kit_site(tmp_path_factory.mktemp("attacks"), request.param) as found:
        where = found.setting.namespace
        rules = [{"apiGroups": [group], "resources": names, "verbs": ["get", "update", "patch"]}
                 for group, names in SUBRESOURCES.items()]  # fmt: skip
        role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": "writer"}, "rules": rules}
        people = [binding(f"{who}-edits", "edit", "User", who, where) for who in ("editor", "writer")]
        for each in (role, *people, binding("writer", "writer", "User", "writer", where)):
            assert found.api.create(each).accepted
        if found.setting.profile is PlatformProfile.IGUAZIO:  # its installer makes them
            for tier in SystemPriority:
                assert found.api.create(system_class(tier)).accepted
        present = targets(where)
        for each in present:
            answer = found.api.create(each, as_user="installer")
            assert answer.accepted, answer.message
        probe = present[0] | {"metadata": {"name": "probe", "namespace": where}}
        eventually(lambda: found.api.create(probe, as_user="writer", dryRun="All").accepted)
        yield found


def system_class(tier: SystemPriority) -> Manifest:
    metadata = {"name": tier.value}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": tier.priority}


def targets(where: str) -> list[Manifest]:
    """Return what is there to be attacked; the first is a plain user pod."""
    core = {"metadata": {"labels": {"app": "core-api", **MARK}}, "spec": {"containers": [CONTAINER]}}
    paused = {"spec": {"restartPolicy": "Never", "nodeSelector": USER, "containers": [CONTAINER]}}
    gates = [{"name": "kit.example.invalid/wait"}]
    return [
        pod("plain", namespace=where, nodeSelector=USER),
        pod("core", namespace=where, labels=MARK),
        pod("held-core", namespace=where, labels=MARK, schedulingGates=gates),
        pod("gated", namespace=where, nodeSelector=USER, schedulingGates=gates),
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "core-api", "namespace": where},
            "spec": {"selector": {"matchLabels": {"app": "core-api"}}, "template": core},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "paused", "namespace": where},
            "spec": {"suspend": True, "template": paused},
        },
    ]


def body_of(attack: dict[str, Any], method: str, path: str, where: str) -> Manifest | None:
    """Return the whole object that an attack sends."""
    if method == "DELETE":
        return None
    if method == "PATCH":
        patch: Manifest = attack["body"]
        return patch
    *_, kinds, name = path.split("/")
    api, kind = attack.get("kind", KINDS.get(name) or KINDS.get(kinds, "v1 Pod")).split()
    named = name if method == "APPLY" else attack.get("name", "attack").format(namespace=where)
    made: Manifest = {"apiVersion": api, "kind": kind, **attack.get("body", {})}
    if kind.endswith("Review"):
        return made
    made["metadata"] = {"name": named, **made.get("metadata", {}), **attack.get("metadata", {})}
    if f"/namespaces/{where}/" in path and kind != "Namespace":
        made["metadata"]["namespace"] = where
    if "spec" in attack:
        made["spec"] = {"containers": [CONTAINER], **attack["spec"]}
    return made | ({"spec": workload(kind, attack["template"])} if "template" in attack else {})


def workload(kind: str, template: Manifest) -> Manifest:
    """Return the spec of a controller with a pod template."""
    batch = kind in {"Job", "CronJob"}
    inside = {"containers": [CONTAINER], **({"restartPolicy": "Never"} if batch else {}), **template["spec"]}
    labels = {"app": "attack", **template.get("metadata", {}).get("labels", {})}
    spec: Manifest = {"template": {"metadata": {"labels": labels}, "spec": inside}}
    if kind == "CronJob":
        return {"schedule": "@daily", "jobTemplate": {"spec": spec}}
    service = {"serviceName": "attack"} if kind == "StatefulSet" else {}
    return spec if batch else {**spec, **service, "selector": {"matchLabels": {"app": "attack"}}}


def sent(site: KitSite, attack: dict[str, Any]) -> Answer:
    """Send an attack; nothing is stored."""
    where = site.setting.namespace
    method, _, place = attack["send"].partition(" ")
    path = place.format(namespace=where, **{key: f"{api}/namespaces/{where}" for key, api in APIS.items()})
    who, groups = attack.get("as", "editor"), ()
    if who.startswith("system:serviceaccount:"):
        who, groups = as_account(who.rpartition(":")[2], where)
    apply = {"fieldManager": "attacker", "force": "true"} if method == "APPLY" else {}
    options = {"dryRun": "All", "fieldValidation": "Ignore", **apply}
    if method == "DELETE":
        del options["fieldValidation"]
    return site.api.send(method, path, body_of(attack, method, path, where), as_user=who, groups=groups, **options)


def at(pointer: str, body: Any) -> Any:
    """Return what a JSON pointer leads to, None if it leads nowhere."""
    steps = [step.replace("~1", "/") for step in pointer.split("/")[1:]]
    return reduce(lambda found, step: (found or {}).get(step), steps, body)


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_refused_or_harmless(site: KitSite, name: str) -> None:
    attack = ATTACKS[name]
    answer = sent(site, attack)
    life = site.follow(answer)
    expected = attack.get(site.setting.environment.value, attack)
    if "refused" in expected:
        assert answer.status < HTTPStatus.BAD_REQUEST or answer.status in REFUSALS or "is immutable" in answer.message
        assert is_refused_for(expected["refused"], life.refused)
        return
    pools = expected.get("pools", expected.get("refused-or-on"))
    if "refused-or-on" not in expected:
        assert not life.refused
    if pools and not life.refused:
        assert life.pod
        assert site.pools_of(life.pod) <= named_pools(pools, site.groups)
    for pointer, value in expected.get("keeps", {}).items():
        assert at(pointer, answer.body) == value


def test_every_refusal_names_its_reason() -> None:
    expected = [each.get(environment, each) for each in ATTACKS.values() for environment in Environment]
    assert all(each["refused"] for each in expected if "refused" in each)


def test_a_user_namespace_can_still_be_deleted_with_its_network_policies(site: KitSite) -> None:
    site.cluster.kubectl("delete", "namespace", PLAIN, "--wait", "--timeout=120s")
