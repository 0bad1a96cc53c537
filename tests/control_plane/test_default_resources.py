"""Requests and limits that a real API server completes, as the components declare them for each environment."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.environments import Environment
from components.contract.groups import resolve_groups
from components.contract.labels import AnnotationKey
from components.contract.namespaces import UserNamespace
from components.contract.placement import Placement
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.pools import NodePool
from components.scheduling.default_resources import DefaultResources, DefaultResourcesArgs
from components.scheduling.namespaces import UserNamespaceArgs, UserNamespaceObjects
from support.admission import Manifest, account, namespace, present
from support.api import DRY_RUN, Api
from support.cluster import Cluster, eventually, pod
from support.placement import CORE, template_of, workload
from support.recorder import record

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

DEV, PROD = (f"defaults-{each}" for each in Environment)


def objects(environment: Environment) -> Iterator[Manifest]:
    """Return a namespace with its LimitRange, and the mutation under a name of its own, bound to it only."""
    name, resources = f"defaults-{environment}", DEFAULT_POD_RESOURCES[environment]

    def declare() -> None:
        UserNamespaceObjects(name, UserNamespaceArgs(choices=UserNamespace(), groups=(), pod_resources=resources))
        DefaultResources(
            "x", DefaultResourcesArgs(pod_resources=resources, placement=Placement(core_namespaces=(name,)))
        )

    made = [each.inputs for each in record(declare).resources if each.type.startswith("kubernetes:")]
    found: list[Manifest] = json.loads(json.dumps(made, default=str).replace("igz-default-resources", name))
    yield namespace(name, name)
    for manifest in found:
        if manifest["kind"] in {"LimitRange", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}:
            place = {key: value for key, value in manifest["metadata"].items() if key in {"name", "namespace"}}
            if "matchConstraints" in manifest["spec"]:
                manifest["spec"]["matchConstraints"]["namespaceSelector"] = {"matchLabels": {"bound-to": name}}
            yield {**manifest, "metadata": place}


def admin(where: str) -> Manifest:
    """Return the rights of a user who may not install core services."""
    rbac = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{rbac}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "scientist", "namespace": where},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"apiGroup": rbac, "kind": "User", "name": "scientist"}],
    }


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    made = Api(cluster.kubeconfig())
    spaces = [each for environment in Environment for each in objects(environment)]
    with present(made, [*spaces, *(admin(each) for each in (DEV, PROD))]):
        for name in (DEV, PROD):
            made.create(account("default", name))
            eventually(lambda name=name: completed(made, of(name, requests={"cpu": "1"}))[1].get("cpu"))
        yield made


def of(where: str, **resources: Any) -> Manifest:
    """Return a pod whose only container has these resources."""
    return with_containers(where, {"resources": resources})


def with_containers(where: str, *containers: Manifest, **spec: Any) -> Manifest:
    named = [{"name": f"c{i}", "image": "example.invalid/image:1", **each} for i, each in enumerate(containers)]
    return pod("x", namespace=where, containers=named, **spec)


def completed(api: Api, manifest: Manifest, **options: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return requests and limits of the first container of an accepted object."""
    answer = api.create(manifest, **DRY_RUN, **options)
    assert answer.accepted, answer.message
    found = template_of(answer.body)["spec"]["containers"][0]["resources"]
    return found.get("requests") or {}, found.get("limits") or {}


def amounts(cpu: str, memory: str) -> dict[str, str]:
    return {"cpu": cpu, "memory": memory}


def sides(requests: tuple[str, str], limits: tuple[str, str]) -> Manifest:
    return {"requests": amounts(*requests), "limits": amounts(*limits)}


LARGE = amounts("8", "64Gi")


@pytest.mark.parametrize(
    ("where", "resources", "requests", "limits"),
    [
        (DEV, {}, amounts("500m", "1Gi"), amounts("2", "4Gi")),
        (PROD, {}, amounts("1", "2Gi"), amounts("1", "2Gi")),
        (DEV, {"requests": amounts("100m", "128Mi")}, amounts("100m", "128Mi"), amounts("400m", "512Mi")),
        (PROD, {"requests": amounts("100m", "128Mi")}, amounts("100m", "128Mi"), amounts("100m", "128Mi")),
        (DEV, {"requests": {"memory": "8Gi"}}, amounts("500m", "8Gi"), amounts("2", "32Gi")),
        (PROD, {"requests": LARGE}, LARGE, LARGE),
        (DEV, {"limits": {"memory": "512M"}}, amounts("500m", "512M"), amounts("2", "512M")),
        (PROD, {"limits": {"memory": "512M"}}, amounts("1", "512M"), amounts("1", "512M")),
        (PROD, {"limits": LARGE}, LARGE, LARGE),
        (DEV, {"requests": {"memory": "0"}}, amounts("500m", "0"), amounts("2", "4Gi")),
        # Kubernetes rounds up less than a byte or a thousandth of a CPU.
        (DEV, {"requests": amounts("100u", "100m")}, amounts("1m", "100m"), amounts("4m", "1")),
        (DEV, {"requests": amounts("1", "1Gi"), "limits": LARGE}, amounts("1", "1Gi"), LARGE),
        (PROD, {"requests": amounts("1", "1Gi"), "limits": LARGE}, amounts("1", "1Gi"), LARGE),
        # MLRun fills in the other side from its own defaults, which are the same.
        (DEV, sides(("500m", "8Gi"), ("2", "4Gi")), amounts("500m", "8Gi"), amounts("2", "32Gi")),
        (PROD, sides(("1", "8Gi"), ("1", "2Gi")), amounts("1", "8Gi"), amounts("1", "8Gi")),
        (DEV, sides(("500m", "1Gi"), ("2", "512M")), amounts("500m", "512M"), amounts("2", "512M")),
        (DEV, sides(("4", "1Gi"), ("2", "1Gi")), amounts("4", "1Gi"), amounts("16", "1Gi")),
    ],
)  # fmt: skip
def test_what_an_author_left_out_fits_what_the_author_set(
    api: Api, where: str, resources: Manifest, requests: dict[str, str], limits: dict[str, str]
) -> None:
    assert completed(api, of(where, **resources), as_user="scientist") == (requests, limits)


def test_who_contradicts_oneself_is_refused(api: Api) -> None:
    answer = api.create(of(PROD, requests={"memory": "8Gi"}, limits={"memory": "3Gi"}), **DRY_RUN)
    assert "must be less than or equal to memory limit" in answer.message


def test_each_container_is_completed_and_the_pod_says_so(api: Api) -> None:
    own = {"resources": {"requests": amounts("1", "1Gi"), "limits": amounts("1", "1Gi")}}
    sidecar = {"name": "side", "image": "example.invalid/side:1", "restartPolicy": "Always"}
    answer = api.create(with_containers(PROD, own, {}, initContainers=[sidecar]), **DRY_RUN)
    assert answer.accepted, answer.message
    assert answer.body["status"].get("qosClass", "Guaranteed") == "Guaranteed"
    note = answer.body["metadata"]["annotations"][AnnotationKey.COMPLETED.value]
    assert note == "c1 limits.cpu, c1 limits.memory, side limits.cpu, side limits.memory"


def test_a_template_that_contradicts_our_defaults_is_corrected_and_nothing_else_in_it(api: Api) -> None:
    resources = {"requests": amounts("1", "8Gi"), "limits": {"memory": "2Gi"}}
    made = workload(
        "Deployment", PROD, containers=[{"name": "main", "image": "example.invalid/i:1", "resources": resources}]
    )
    assert completed(api, made) == (resources["requests"], {"memory": "8Gi"})


def test_core_services_get_at_least_the_default_limit(api: Api) -> None:
    charts = of(PROD, requests=amounts("10m", "64Mi"))
    charts["metadata"]["labels"] = CORE
    assert completed(api, charts) == (amounts("10m", "64Mi"), amounts("1", "2Gi"))
    charts["spec"]["containers"][0]["resources"] = {"requests": LARGE}
    assert completed(api, charts) == (LARGE, LARGE)


@pytest.mark.parametrize("where", [DEV, PROD])
def test_image_builds_get_no_limit(api: Api, where: str) -> None:
    built = of(where, requests=amounts("25m", "1Mi"))
    built["metadata"]["labels"] = {"mlrun/class": "build"}
    assert completed(api, built) == (amounts("25m", "1Mi"), {})
    nuclios = with_containers(where, {"name": "kaniko-executor"})
    assert completed(api, nuclios)[1] == {}


@pytest.mark.parametrize("where", [DEV, PROD])
def test_pod_level_resources_are_left_to_themselves(api: Api, where: str) -> None:
    small = amounts("100m", "128Mi")
    answer = api.create(with_containers(where, {}, {}, resources={"requests": small, "limits": small}), **DRY_RUN)
    assert answer.accepted, answer.message
    assert answer.body["spec"]["resources"] == {"requests": small, "limits": small}
    for container in answer.body["spec"]["containers"]:
        assert container["resources"] == {"requests": amounts("0", "0")}


def test_pod_level_resources_of_one_kind_leave_the_other_to_containers(api: Api) -> None:
    whole = {"limits": {"memory": "256Mi"}}
    requests, limits = completed(api, with_containers(PROD, {}, resources=whole))
    assert (requests, limits) == (amounts("1", "0"), {"cpu": "1"})


def test_a_quota_counts_the_gpus_of_resource_claims(api: Api) -> None:
    pool = {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["g5.2xlarge"]}
    choices = UserNamespace.model_validate({"quota": {"cpu": "64", "memory": "256Gi", "gpus": 1}})
    args = UserNamespaceArgs(
        choices=choices,
        groups=resolve_groups({"gpu": NodePool.model_validate(pool)}, None),
        pod_resources=DEFAULT_POD_RESOURCES[Environment.DEV],
    )
    recorder = record(lambda: UserNamespaceObjects(DEV, args) and None)
    spec = recorder.of_type("kubernetes:core/v1:ResourceQuota")[f"{DEV}-requests"]["spec"]
    where = {"name": "gpus", "namespace": DEV}

    def claims(count: int) -> str:
        devices = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": count}}]}
        claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": where}
        return api.create({**claim, "spec": {"devices": devices}}, **DRY_RUN).message

    with present(api, [{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": where, "spec": dict(spec)}]):
        # The API server learns of a new quota after a moment, and knows nothing of it before.
        assert eventually(lambda: "exceeded quota" in claims(8))
        assert eventually(lambda: not claims(1))
