"""What users made in a cluster, from what its API server lists."""

from typing import Any

from workbench.engine.in_cluster import inside

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
    found = inside(
        [
            item("Service", "front", spec={"type": "LoadBalancer"}, **balanced),
            item("Service", "inner", spec={"type": "ClusterIP"}),
            item("Service", "ports", spec={"type": "NodePort"}),
            item("Ingress", "web"),
        ]
    )
    assert list(map(str, found.entrances)) == [
        "service mlrun/front (load balancer a.elb.example)",
        "ingress mlrun/web (no address)",
    ]
    assert found.claims == found.kept == ()


def test_a_claim_loses_its_data_unless_its_volume_is_kept() -> None:
    found = inside(
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
    assert found.kept == ("vol-1 of claim mlrun/kept",)


def test_what_the_stack_made_is_the_engines() -> None:
    mine = {("service", "mlrun", "front"), ("persistentvolumeclaim", "mlrun", "models")}
    found = inside([item("Service", "front", spec={"type": "LoadBalancer"}), claim("models")], mine)
    assert found.entrances == found.claims == ()
