from typing import Any

from support.eks import DOCUMENT, build

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"


def pod(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    daemon_set = build(changes).of_type(DAEMON_SET)["test-own-device-plugin"]
    return dict(daemon_set["spec"]["template"]["spec"])


def test_it_runs_on_gpu_nodes_and_tolerates_their_taints_only() -> None:
    spec = pod()
    assert spec["nodeSelector"] == {"igz-clusters.io/role": "gpu"}
    assert [(t["key"], t["operator"], t["value"], t["effect"]) for t in spec["tolerations"]] == [
        ("nvidia.com/gpu", "Equal", "present", "NoSchedule")
    ]


def test_it_reaches_spot_gpu_nodes_too() -> None:
    types = ["g5.12xlarge", "g6.12xlarge", "g4dn.12xlarge"]
    spot = {**DOCUMENT["pools"]["gpu"], "lifecycle": "spot", "instanceTypes": types}
    tolerated = [t["key"] for t in pod({"pools.gpuspot": spot})["tolerations"]]
    assert tolerated == ["nvidia.com/gpu", "app.iguazio.com/lifecycle"]


def test_root_is_all_that_it_has() -> None:
    spec = pod()
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["automountServiceAccountToken"] is False
    assert [v["hostPath"]["path"] for v in spec["volumes"]] == ["/var/lib/kubelet/device-plugins"]
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
