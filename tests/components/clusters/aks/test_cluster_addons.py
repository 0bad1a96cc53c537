from support.aks import DISK_SET_ID, DOCUMENT, build, built

STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"


def test_volumes_are_premium_disks_under_the_companys_key_where_there_is_one() -> None:
    (own,) = built().of_type(STORAGE_CLASS).values()
    assert own["provisioner"] == "disk.csi.azure.com"
    assert own["parameters"] == {"skuName": "Premium_LRS", "diskEncryptionSetID": DISK_SET_ID}
    assert own["volumeBindingMode"] == "WaitForFirstConsumer"
    (without,) = build({"cluster.diskEncryptionSetId": None}).of_type(STORAGE_CLASS).values()
    assert without["parameters"] == {"skuName": "Premium_LRS"}


def test_no_class_has_a_name_that_aks_gives_one_of_its_own() -> None:
    taken = {
        "default",
        *(f"managed{s}" for s in ("", "-csi", "-csi-premium", "-premium")),
        "azurefile",
        "azureblob-nfs",
    }
    assert not {c["metadata"]["name"] for c in built().of_type(STORAGE_CLASS).values()} & taken


def test_the_gpu_plug_in_runs_where_there_are_gpus_and_answers_their_taint() -> None:
    (plugin,) = built().of_type(DAEMON_SET).values()
    pod = plugin["spec"]["template"]["spec"]
    assert pod["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
    ]
    without = build({"pools": {"initial": DOCUMENT["pools"]["initial"], "workload": DOCUMENT["pools"]["workload"]}})
    assert without.of_type(DAEMON_SET) == {}


def test_aks_has_an_autoscaler_so_none_is_made() -> None:
    assert not [r.name for r in built().resources if "autoscaler" in r.name]
