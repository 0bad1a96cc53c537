from components.addons.images import AUTOSCALER_VERSIONS, autoscaler_image, device_plugin_image
from components.contract.eks.config import VERSIONS
from support.eks import build

MIRRORS = {"registry.k8s.io": "mirror.example.com/k8s", "nvcr.io": "mirror.example.com:5000"}


def test_every_version_has_its_autoscaler() -> None:
    assert set(AUTOSCALER_VERSIONS) == set(VERSIONS)
    assert all(image.startswith(f"v{minor}.") for minor, image in AUTOSCALER_VERSIONS.items())


def test_a_mirror_stands_in_for_its_registry_only() -> None:
    assert autoscaler_image("1.35", {}).startswith("registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.")
    assert autoscaler_image("1.35", MIRRORS).startswith("mirror.example.com/k8s/autoscaling/cluster-autoscaler:v1.35.")
    assert device_plugin_image(MIRRORS).startswith("mirror.example.com:5000/nvidia/k8s-device-plugin:v")
    assert device_plugin_image({"registry.k8s.io": "x"}).startswith("nvcr.io/nvidia/")


def test_mirrors_of_the_stack_file_are_in_every_pod() -> None:
    recorder = build({"cluster.imageRegistries": MIRRORS})
    pods = [*recorder.of_type("kubernetes:apps/v1:Deployment").values()]
    pods += recorder.of_type("kubernetes:apps/v1:DaemonSet").values()
    images = {p["spec"]["template"]["spec"]["containers"][0]["image"] for p in pods}
    assert len(images) == 2
    assert all(image.startswith("mirror.example.com") for image in images)
