"""What the offline Kubernetes provider says of a change."""

from typing import Any

import pytest

from workbench.offline.kubernetes.provider import OfflineKubernetes
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import Changed

NAMED = {"metadata": {"name": "n", "namespace": "jobs"}}


def compared(kind: str, old: dict[str, Any], new: dict[str, Any], **config: str) -> Changed:
    provider = OfflineKubernetes()
    provider.configure(dict(config))
    return provider.compare(f"kubernetes:{kind}", {**NAMED, **old}, {**NAMED, **new}, filled=frozenset())


@pytest.mark.parametrize(
    ("kind", "old", "new", "replaces"),
    [
        ("core/v1:Namespace", {}, {"metadata": {"name": "m", "namespace": "jobs"}}, ["metadata.name"]),
        ("core/v1:Service", {}, {"metadata": {"name": "n", "namespace": "b"}}, ["metadata.namespace"]),
        ("core/v1:Service", {"spec": {"clusterIP": "1.1.1.1"}}, {"spec": {"clusterIP": UNKNOWN}}, ["spec.clusterIP"]),
        ("apps/v1:Deployment", {"spec": {"replicas": 1}}, {"spec": {"replicas": 2}}, []),
        (
            "apps/v1:Deployment",
            {"spec": {"selector": {"matchLabels": {"app": "a"}}}},
            {"spec": {"selector": {"matchLabels": {"app": "b"}}}},
            ["spec.selector.matchLabels.app"],
        ),
        ("apps/v1:Deployment", {}, {"spec": {"selector": {"matchLabels": {}}}}, ["spec"]),
        ("apps/v1:Deployment", {}, {"spec": {"replicas": 1}}, []),
        (
            "core/v1:Pod",
            {"spec": {"containers": [{"image": "a"}]}},
            {"spec": {"containers": [{"image": "a"}, {"image": "b"}]}},
            ["spec.containers[1]"],
        ),
        ("core/v1:ConfigMap", {"data": {"a": "1"}}, {"data": {"a": "2"}}, ["data.a"]),
    ],
)
def test_what_cannot_change_in_place_replaces(
    kind: str, old: dict[str, Any], new: dict[str, Any], replaces: list[str]
) -> None:
    assert compared(kind, old, new).replaces == replaces


def test_content_changes_in_place_where_the_provider_is_told_so() -> None:
    changed = compared("core/v1:ConfigMap", {"data": {"a": "1"}}, {"data": {}}, enableConfigMapMutable="true")
    assert list(changed.kinds) == ["data.a"]
    assert changed.replaces == []


def test_an_object_under_its_old_name_must_go_first() -> None:
    old, new = ({"type": kind} for kind in ("Opaque", "tls"))
    assert compared("core/v1:Secret", old, new).delete_first
    assert not compared("core/v1:Secret", old, {**new, "metadata": {"name": "m", "namespace": "jobs"}}).delete_first


def test_no_namespace_is_the_default_one() -> None:
    provider = OfflineKubernetes()
    bare, spelled = {"metadata": {"name": "n"}}, {"metadata": {"name": "n", "namespace": "default"}}
    assert provider.compare("kubernetes:core/v1:Service", bare, spelled, filled=frozenset()).kinds == {}


def test_only_another_cluster_replaces_everything() -> None:
    moved = OfflineKubernetes().moved
    assert moved({"clusterIdentifier": "a"}, {"clusterIdentifier": "b"}) == ["clusterIdentifier"]
    assert moved({}, {"clusterIdentifier": "b"}) == []
    assert moved({"clusterIdentifier": "a", "kubeconfig": "1"}, {"clusterIdentifier": "a", "kubeconfig": "2"}) == []


def test_an_object_without_a_name_is_refused() -> None:
    checked = OfflineKubernetes().check("kubernetes:core/v1:Service", "s", {"metadata": {}}, seed=b"", kept={})
    assert [problem.path for problem in checked.problems] == ["metadata.name"]
