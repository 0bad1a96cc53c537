"""What users made in a cluster, from what its API server lists."""

from typing import Any

import pytest

from workbench.engine.in_cluster import ClusterContents, contents_of

RECLAIMED = {"persistentVolumeReclaimPolicy": "Delete", "csi": {"volumeHandle": "vol-1"}}


def item(kind: str, name: str, *, spec: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "namespace": "mlrun"}, "spec": spec or {}, **more}


def volume(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def claim(name: str, volume_name: str = "") -> dict[str, Any]:
    return item(
        "PersistentVolumeClaim", name, spec={"volumeName": volume_name, "resources": {"requests": {"storage": "20Gi"}}}
    )


def test_only_what_has_another_half_in_aws_is_an_entrance() -> None:
    balanced = {"status": {"loadBalancer": {"ingress": [{"hostname": "a.elb.example"}]}}}
    found = contents_of(
        [
            item("Service", "front", spec={"type": "LoadBalancer"}, **balanced),
            item("Service", "inner", spec={"type": "ClusterIP"}),
            item("Service", "ports", spec={"type": "NodePort"}),
            item("Ingress", "web"),
        ]
    )
    assert list(map(str, found.load_balancers)) == [
        "service mlrun/front (load balancer a.elb.example)",
        "ingress mlrun/web (no address)",
    ]
    assert found.claims == found.retained == ()


def test_a_claim_loses_its_data_unless_its_volume_is_kept() -> None:
    found = contents_of(
        [
            claim("models", "pv-1"),
            claim("kept", "pv-2"),
            claim("waits"),
            volume("pv-1", RECLAIMED),
            volume(
                "pv-2",
                RECLAIMED
                | {"persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "mlrun", "name": "kept"}},
            ),
        ]
    )
    assert list(map(str, found.claims)) == [
        "persistentvolumeclaim mlrun/models (20Gi, volume vol-1)",
        "persistentvolumeclaim mlrun/waits (20Gi, volume none yet)",
    ]
    assert found.retained == ("vol-1 of claim mlrun/kept",)


def test_what_the_stack_made_is_the_engines() -> None:
    mine = {("service", "mlrun", "front"), ("persistentvolumeclaim", "mlrun", "models")}
    found = contents_of([item("Service", "front", spec={"type": "LoadBalancer"}), claim("models")], mine)
    assert found.load_balancers == found.claims == ()


def bound(name: str, claim_name: str, policy: str = "Delete") -> dict[str, Any]:
    claim_of = {"claimRef": {"namespace": "mlrun", "name": claim_name}}
    return volume(name, RECLAIMED | claim_of | {"persistentVolumeReclaimPolicy": policy})


@pytest.mark.parametrize("claims", [[claim("models", "pv-1")], []])
def test_a_volume_goes_after_its_claim(claims: list[dict[str, Any]]) -> None:
    never_claimed = volume("spare", RECLAIMED)
    found = contents_of([*claims, bound("pv-1", "models"), bound("pv-2", "kept", "Retain"), never_claimed])
    assert list(map(str, found.volumes)) == ["persistentvolume pv-1 (vol-1)"]
    assert found.to_delete == (*found.claims, *found.volumes)


def test_the_volume_of_the_stacks_own_claim_is_the_engines() -> None:
    mine = {("persistentvolumeclaim", "mlrun", "models")}
    assert contents_of([claim("models", "pv-1"), bound("pv-1", "models")], mine) == ClusterContents()


def test_a_volume_that_the_stack_declared_is_not_called_kept() -> None:
    mine = {("persistentvolumeclaim", "mlrun", "models"), ("persistentvolume", "default", "pv-1")}
    found = contents_of([claim("models", "pv-1"), bound("pv-1", "models", "Retain")], mine)
    assert found == ClusterContents()


def test_what_loses_its_address_before_it_goes_is_still_the_same() -> None:
    status = {"status": {"loadBalancer": {"ingress": [{"hostname": "a.elb.example"}]}}}
    before = contents_of([item("Service", "front", spec={"type": "LoadBalancer"}, **status)])
    after = contents_of([item("Service", "front", spec={"type": "LoadBalancer"})])
    assert before.to_delete == after.to_delete
    assert str(before.to_delete[0]) != str(after.to_delete[0])
