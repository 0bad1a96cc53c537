"""Who may edit the platform's namespace gets neither onto the initial group nor at core services or our objects."""

from collections.abc import Iterator
from functools import reduce
from http import HTTPStatus
from typing import Any

import pytest
import yaml

from components.contract.environments import Environment, PlatformProfile
from support.api import Answer
from support.cluster import eventually, pod
from support.kit import FOLDER, PLAIN, Manifest, Setting, as_account, named_pools
from support.kit_site import RBAC, KitSite, binding, kit_site

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

ATTACKS: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "attacks.yaml").read_text())["attacks"]
NAMESPACE = "mlrun"
PATHS = {
    "ns": f"/api/v1/namespaces/{NAMESPACE}",
    "apps": f"/apis/apps/v1/namespaces/{NAMESPACE}",
    "batch": f"/apis/batch/v1/namespaces/{NAMESPACE}",
    "net": f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}",
}
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


@pytest.fixture(scope="module", params=("mutation", "authors"))
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KitSite]:
    setting = Setting(Environment.DEV, PlatformProfile.MLRUN_CE, request.param)
    with kit_site(tmp_path_factory.mktemp("attacks"), setting) as found:
        rules = [{"apiGroups": [group], "resources": names, "verbs": ["get", "update", "patch"]}
                 for group, names in SUBRESOURCES.items()]  # fmt: skip
        role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": "writer"}, "rules": rules}
        people = [binding(f"{who}-edits", "edit", "User", who, NAMESPACE) for who in ("editor", "writer")]
        for each in (role, *people, binding("writer", "writer", "User", "writer", NAMESPACE)):
            assert found.api.create(each).accepted
        for each in targets():
            answer = found.api.create(each, as_user="installer")
            assert answer.accepted, answer.message
        probe = targets()[0] | {"metadata": {"name": "probe", "namespace": NAMESPACE}}
        eventually(lambda: found.api.create(probe, as_user="writer", dryRun="All").accepted)
        yield found


def targets() -> list[Manifest]:
    """Return what is there to be attacked; the first is a plain user pod."""
    core = {"metadata": {"labels": {"app": "core-api", **MARK}}, "spec": {"containers": [CONTAINER]}}
    paused = {"spec": {"restartPolicy": "Never", "nodeSelector": USER, "containers": [CONTAINER]}}
    gates = [{"name": "kit.example.invalid/wait"}]
    return [
        pod("plain", nodeSelector=USER),
        pod("core", labels=MARK),
        pod("held-core", labels=MARK, schedulingGates=gates),
        pod("gated", nodeSelector=USER, schedulingGates=gates),
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "core-api", "namespace": NAMESPACE},
            "spec": {"selector": {"matchLabels": {"app": "core-api"}}, "template": core},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "paused", "namespace": NAMESPACE},
            "spec": {"suspend": True, "template": paused},
        },
    ]


def body_of(attack: dict[str, Any], method: str, path: str) -> Manifest | None:
    """Return the whole object that an attack sends."""
    if method == "DELETE":
        return None
    if method == "PATCH":
        patch: Manifest = attack["body"]
        return patch
    *_, kinds, name = path.split("/")
    api, kind = attack.get("kind", KINDS.get(name) or KINDS.get(kinds, "v1 Pod")).split()
    named = name if method == "APPLY" else attack.get("name", "attack")
    made: Manifest = {"apiVersion": api, "kind": kind, **attack.get("body", {})}
    if kind.endswith("Review"):
        return made
    made["metadata"] = {"name": named, **made.get("metadata", {}), **attack.get("metadata", {})}
    if path.startswith(tuple(PATHS.values())):
        made["metadata"]["namespace"] = NAMESPACE
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
    method, _, place = attack["send"].partition(" ")
    path = place.format(**PATHS)
    who, groups = attack.get("as", "editor"), ()
    if who.startswith("system:serviceaccount:"):
        who, groups = as_account(who.rpartition(":")[2], NAMESPACE)
    apply = {"fieldManager": "attacker", "force": "true"} if method == "APPLY" else {}
    options = {"dryRun": "All", "fieldValidation": "Ignore", **apply}
    if method == "DELETE":
        del options["fieldValidation"]
    return site.api.send(method, path, body_of(attack, method, path), as_user=who, groups=groups, **options)


def at(pointer: str, body: Any) -> Any:
    """Return what a JSON pointer leads to, None if it leads nowhere."""
    steps = [step.replace("~1", "/") for step in pointer.split("/")[1:]]
    return reduce(lambda found, step: (found or {}).get(step), steps, body)


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_refused_or_harmless(site: KitSite, name: str) -> None:
    attack = ATTACKS[name]
    answer = sent(site, attack)
    life = site.follow(answer)
    if "refused" in attack:
        assert life.refused
        assert answer.status < HTTPStatus.BAD_REQUEST or answer.status in REFUSALS or "is immutable" in answer.message
        assert attack["refused"] in life.refused
        return
    pools = attack.get("pools", attack.get("refused-or-on"))
    if "refused-or-on" not in attack:
        assert not life.refused
    if pools and not life.refused:
        assert life.pod
        assert site.pools_of(life.pod) <= named_pools(pools, site.groups)
    for pointer, value in attack.get("keeps", {}).items():
        assert at(pointer, answer.body) == value


def test_a_user_namespace_can_still_be_deleted_with_its_network_policies(site: KitSite) -> None:
    site.cluster.kubectl("delete", "namespace", PLAIN, "--wait", "--timeout=120s")
