from typing import Any

import yaml

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


SHARED = {"mode": "time-slicing", "replicas": 4}
SLICED = {"instanceTypes": ["p5.48xlarge"], "sharing": {"mode": "mig", "profile": "1g.10gb"}}
SLICED_POOL = {**DOCUMENT["pools"]["gpu"], **SLICED}


def plugins(**pools: dict[str, Any]) -> dict[str, dict[str, Any]]:
    made = build({f"pools.{name}": {**DOCUMENT["pools"]["gpu"], **pool} for name, pool in pools.items()})
    found = made.of_type(DAEMON_SET)
    return {name: dict(found[name]["spec"]["template"]["spec"]) for name in found if "device-plugin" in name}


def test_nodes_with_shared_gpus_have_a_plug_in_of_their_own() -> None:
    found = plugins(shared={"sharing": SHARED})
    plain, shared = found["test-own-device-plugin"], found["test-own-device-plugin-time-slicing-4"]
    (term,) = plain["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": "igz-clusters.io/gpu-sharing", "operator": "DoesNotExist"}]}
    assert shared["nodeSelector"] == {"igz-clusters.io/role": "gpu", "igz-clusters.io/gpu-sharing": "time-slicing-4"}
    assert [each["key"] for each in shared["tolerations"]] == ["nvidia.com/gpu.shared"]
    assert [each["key"] for each in plain["tolerations"]] == ["nvidia.com/gpu"]


def test_pods_take_turns_by_settings_that_the_plug_in_reads_at_its_start() -> None:
    made = build({"pools.gpu": {**DOCUMENT["pools"]["gpu"], "sharing": SHARED}})
    settings = made.of_type("kubernetes:core/v1:ConfigMap")["test-own-device-plugin-time-slicing-4-settings"]
    turns = yaml.safe_load(settings["data"]["config.yaml"])["sharing"]["timeSlicing"]
    assert turns["resources"] == [{"name": "nvidia.com/gpu", "replicas": 4}]
    assert turns["renameByDefault"]
    assert turns["failRequestsGreaterThanOne"]
    spec = made.of_type(DAEMON_SET)["test-own-device-plugin-time-slicing-4"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert {"name": "CONFIG_FILE", "value": "/config/config.yaml"} in container["env"]
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert mounts["settings"] == "/config"
    (volume,) = (each for each in spec["volumes"] if each["name"] == "settings")
    assert volume["configMap"]["name"] == settings["metadata"]["name"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_on_eks_gpus_are_divided_before_the_plug_in_counts_them() -> None:
    made = build({"pools.gpu": SLICED_POOL})
    name = "test-own-device-plugin-mig-1g.10gb-7"
    spec = made.of_type(DAEMON_SET)[name]["spec"]["template"]["spec"]
    settings = yaml.safe_load(made.of_type("kubernetes:core/v1:ConfigMap")[f"{name}-settings"]["data"]["config.yaml"])
    ((label, (slices,)),) = settings["mig-configs"].items()
    assert slices == {"devices": "all", "mig-enabled": True, "mig-devices": {"1g.10gb": 7}}
    (divide,) = spec["initContainers"]
    assert divide["command"] == ["nvidia-mig-parted", "apply", "-f", "/config/config.yaml", "-c", label]
    (container,) = spec["containers"]
    assert {"name": "MIG_STRATEGY", "value": "mixed"} in container["env"]
    assert not any(each["name"] == "CONFIG_FILE" for each in container["env"])


def test_each_way_of_sharing_has_its_own_objects() -> None:
    made = build({"pools.sharedb": {**DOCUMENT["pools"]["gpu"], "sharing": SHARED}, "pools.sliced": SLICED_POOL})
    names = [each["metadata"]["name"] for each in made.of_type(DAEMON_SET).values()]
    selectors = [str(each["spec"]["selector"]) for each in made.of_type(DAEMON_SET).values()]
    assert len(set(names)) == len(names) == len(set(selectors)) == 3
