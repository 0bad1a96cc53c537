from components.contract.autoscaler import label_tag, resource_tag


def test_the_autoscaler_reads_a_label_from_this_tag() -> None:
    assert label_tag("app.iguazio.com/lifecycle", "preemptible") == (
        "k8s.io/cluster-autoscaler/node-template/label/app.iguazio.com/lifecycle",
        "preemptible",
    )


def test_the_autoscaler_reads_a_resource_from_this_tag() -> None:
    assert resource_tag("nvidia.com/gpu", "4") == (
        "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu",
        "4",
    )
