from components.addons.images import autoscaler_image, device_plugin_image, efa_plugin_image
from components.contract.gpu_choices import GpuChoices
from support.eks import build
from support.minors import CHOSEN

MIRRORS = {"registry.k8s.io": "mirror.example.com/k8s", "nvcr.io": "mirror.example.com:5000"}


def test_a_mirror_stands_in_for_its_registry_only() -> None:
    image = f"autoscaling/cluster-autoscaler:v{CHOSEN}."
    assert autoscaler_image(CHOSEN, {}).startswith(f"registry.k8s.io/{image}")
    assert autoscaler_image(CHOSEN, MIRRORS).startswith(f"mirror.example.com/k8s/{image}")
    assert device_plugin_image(GpuChoices(), MIRRORS).startswith("mirror.example.com:5000/nvidia/k8s-device-plugin:v")
    assert device_plugin_image(GpuChoices(), {"registry.k8s.io": "x"}).startswith("nvcr.io/nvidia/")


def test_eks_keeps_its_own_images_in_each_region() -> None:
    image = "eks/aws-efa-k8s-device-plugin:v0.5"
    assert efa_plugin_image("eu-west-1").startswith(f"602401143452.dkr.ecr.eu-west-1.amazonaws.com/{image}")
    assert efa_plugin_image("eu-south-2").startswith(f"455263428931.dkr.ecr.eu-south-2.amazonaws.com/{image}")


def test_mirrors_of_the_stack_file_are_in_every_pod() -> None:
    recorder = build({"cluster.imageRegistries": MIRRORS})
    pods = [*recorder.of_type("kubernetes:apps/v1:Deployment").values()]
    pods += recorder.of_type("kubernetes:apps/v1:DaemonSet").values()
    images = {p["spec"]["template"]["spec"]["containers"][0]["image"] for p in pods}
    assert len(images) == 2
    assert all(image.startswith("mirror.example.com") for image in images)
