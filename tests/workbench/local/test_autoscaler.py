import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from components.clusters.local.node_groups import autoscaler_config, autoscaler_templates
from components.contract.groups import by_zone, resolve_groups
from components.contract.pools import NodePool
from support.cluster import eventually, holds_for
from workbench.local import ComponentStatus, Instance

pytestmark = pytest.mark.control_plane

RESOURCES = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "80Gi"}
SIMULATED = {"kwok.x-k8s.io/node": "fake", "igz-clusters.io/capacity": json.dumps(RESOURCES)}
POOL = "igz-clusters.io/pool"
CONFIG = {
    "apiVersion": "v1alpha1",
    "readNodesFrom": "configmap",
    "nodegroups": {"fromNodeLabelKey": POOL},
    "nodes": {"skipTaint": True},
    "configmap": {"name": "kwok-provider-templates"},
}


def config_map(name: str, key: str, content: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {key: json.dumps(content)}}


def pools(*groups: str) -> dict[str, Any]:
    templates = {"apiVersion": "v1", "kind": "List", "items": [pool(group) for group in groups]}
    return config_map("kwok-provider-templates", "templates", templates)


def pool(group: str) -> dict[str, Any]:
    sizes = {"min-count": "0", "max-count": "3", "desired-count": "0"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": group,
            "labels": {POOL: group, "kubernetes.io/hostname": group},
            "annotations": SIMULATED | {f"cluster-autoscaler.kwok.nodegroup/{key}": sizes[key] for key in sizes},
        },
        "status": {"capacity": RESOURCES, "allocatable": RESOURCES},
    }


def pod(name: str, group: str, cpu: str = "6") -> dict[str, Any]:
    container = {"name": "main", "image": "example.invalid/image", "resources": {"requests": {"cpu": cpu}}}
    spec = {"nodeSelector": {POOL: group}, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def autoscaler(instance: Instance) -> ComponentStatus:
    return next(each for each in instance.status().components if each.name == "cluster-autoscaler")


def test_the_autoscaler_follows_its_node_groups_and_spares_static_nodes(
    own: Instance, kubectl: Callable[..., str], apply: Callable[..., None], get: Callable[..., Any]
) -> None:
    # One story: each step needs the nodes of the step before, and scaling up takes its time.
    def nodes() -> dict[str, Any]:
        return {each["metadata"]["name"]: each["metadata"] for each in get(own, "nodes")["items"]}

    def run(*names: str) -> bool:
        return all(get(own, "pod", name)["status"]["phase"] == "Running" for name in names)

    static = {"name": "static", "annotations": SIMULATED}
    apply(own, {"apiVersion": "v1", "kind": "Node", "metadata": static}, pools("first"))
    eventually(lambda: "ready" in kubectl(own, "get", "node", "static").lower().split())
    assert autoscaler(own).state == "waiting"  # one of two ConfigMaps is not enough

    apply(own, config_map("kwok-provider-config", "config", CONFIG))
    eventually(lambda: autoscaler(own).state == "ready")
    assert set(nodes()) == {"static"}

    apply(own, pod("one", "first"), pod("two", "first"))
    eventually(lambda: run("one", "two"))
    elastic = nodes().keys() - {"static"}
    assert len(elastic) == 2
    assert all(nodes()[name]["labels"]["kubernetes.io/hostname"] == name for name in elastic)

    before = autoscaler(own)
    apply(own, pools("first", "second"))
    eventually(lambda: autoscaler(own).pid not in {None, before.pid})
    apply(own, pod("three", "second"))
    eventually(lambda: run("three"))
    assert elastic < nodes().keys()
    assert run("one", "two")
    assert autoscaler(own).restarts == 0  # it was replaced, it did not crash

    # Pulumi replaces a changed ConfigMap: a moment without it must not cost a node.
    kubectl(own, "delete", "configmap", "kwok-provider-templates", "-n=kube-system")
    holds_for(lambda: elastic < nodes().keys(), seconds=4)

    apply(own, pools("second"))  # the first group is gone, and so are its nodes
    eventually(lambda: not elastic & nodes().keys())
    assert len(nodes()) == 2

    kubectl(own, "delete", "configmap", "kwok-provider-config", "-n=kube-system")
    eventually(lambda: autoscaler(own).state == "waiting")
    eventually(lambda: set(nodes()) == {"static"})


def test_every_shape_of_a_pool_grows_for_the_pods_that_fit_it_best(
    own: Instance, apply: Callable[..., None], get: Callable[..., Any]
) -> None:
    choices = {"role": "workload", "size": {"min": 0, "max": 3}, "instanceTypes": ["m6i.2xlarge", "m6i.4xlarge"]}
    groups = resolve_groups({"mixed": NodePool.model_validate(choices)}, None)
    rendered = {
        "kwok-provider-templates": ("templates", yaml.safe_load(autoscaler_templates(groups))),
        "kwok-provider-config": ("config", yaml.safe_load(autoscaler_config(groups))),
    }
    apply(own, *(config_map(name, key, content) for name, (key, content) in rendered.items()))
    apply(own, pod("modest", "mixed", cpu="6"), pod("large", "mixed", cpu="12"))

    def machine(name: str) -> str | None:
        node = get(own, "pod", name)["spec"].get("nodeName")
        labels = get(own, "node", node)["metadata"]["labels"] if node else {}
        return labels.get("node.kubernetes.io/instance-type")

    eventually(lambda: (machine("modest"), machine("large")) == ("m6i.2xlarge", "m6i.4xlarge"))
    assert len(get(own, "nodes", "-l", f"{POOL}=mixed")["items"]) == 2


def test_groups_of_one_pool_in_several_zones_grow_alike_although_a_cloud_labels_their_nodes_differently(
    own: Instance, apply: Callable[..., None], get: Callable[..., Any]
) -> None:
    choices = {"role": "jupyter", "size": {"min": 3, "max": 18}, "instanceTypes": ["m6i.2xlarge"]}
    (pool_group,) = resolve_groups({"zonal": NodePool.model_validate(choices)}, None)
    template = "eks.amazonaws.com/sourceLaunchTemplateId"
    groups = [replace(each, labels={**each.labels, template: each.name}) for each in by_zone(pool_group, "abc")]
    rendered = {
        "kwok-provider-templates": ("templates", yaml.safe_load(autoscaler_templates(groups))),
        "kwok-provider-config": ("config", yaml.safe_load(autoscaler_config(groups))),
    }

    def sizes() -> list[int]:
        nodes = get(own, "nodes", "-l", f"{POOL}=zonal")["items"]
        return sorted(Counter(each["metadata"]["labels"][template] for each in nodes).values())

    apply(own, *(config_map(name, key, content) for name, (key, content) in rendered.items()))
    eventually(lambda: sizes() == [1, 1, 1])
    apply(own, *(pod(f"zonal-{index}", "zonal") for index in range(9)))
    eventually(lambda: sum(sizes()) == 9)
    assert sizes() == [3, 3, 3]


@pytest.mark.full
def test_nodes_of_an_idle_group_are_removed_down_to_none(
    own: Instance, kubectl: Callable[..., str], apply: Callable[..., None], get: Callable[..., Any]
) -> None:
    def elastic() -> int:
        return len(get(own, "nodes", "-l", POOL)["items"])

    apply(own, pools("idle"), config_map("kwok-provider-config", "config", CONFIG), pod("short", "idle"))
    eventually(lambda: elastic() == 1)
    kubectl(own, "delete", "pod", "short")
    eventually(lambda: elastic() == 0)
