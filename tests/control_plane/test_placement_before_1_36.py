"""Placement on an API server that cannot mutate: authors are judged when they create a controller."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.environments import Environment, PlatformProfile
from components.contract.labels import LabelKey
from components.contract.placement import Placement, PlacementEngine
from components.contract.policy_choices import PolicyChoices
from components.scheduling.admission import AdmissionGuard, AdmissionGuardArgs
from components.scheduling.admission_rules import AdmissionRules, AdmissionRulesArgs
from components.scheduling.placement import PodPlacement, PodPlacementArgs
from components.scheduling.priority_classes import PriorityClasses, PriorityClassesArgs
from support.admission import Manifest, account, local_groups
from support.api import Api
from support.cluster import Cluster, eventually
from support.older import OLDER, create_all, objects_of, start_bare
from support.placement import API_VERSIONS, INITIAL, USER, made_by, owner, place_of, workload

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

DRY = {"dryRun": "All"}
INSTALLER, SCIENTIST = {"as_user": "installer"}, {"as_user": "scientist"}
OPERATOR = {"as_user": "system:serviceaccount:mlrun:operator", "groups": ("system:serviceaccounts",)}
CONTROLLERS = sorted(set(API_VERSIONS) - {"Pod"})
MAKERS = {
    "ReplicaSet": "replicaset-controller",
    "StatefulSet": "statefulset-controller",
    "Job": "job-controller",
    "DaemonSet": "daemon-set-controller",
}


def declared() -> list[Manifest]:
    """Return what a stack declares on such a cluster, in an order in which it can be created."""
    placement = Placement(engine=PlacementEngine.AUTHORS, core_namespaces=("mlrun",))
    rules = AdmissionRulesArgs(
        environment=Environment.DEV,
        groups=local_groups(),
        choices=PolicyChoices.model_validate({}),
        placement=placement,
    )

    def program() -> None:
        PriorityClasses("priorities", PriorityClassesArgs(profile=PlatformProfile.MLRUN_CE))
        AdmissionGuard("admission", AdmissionGuardArgs(groups=local_groups()))
        AdmissionRules("rules", rules)
        PodPlacement("placement", PodPlacementArgs(placement=placement))

    return objects_of(program)


def people() -> Iterator[Manifest]:
    rbac = "rbac.authorization.k8s.io"

    def bound(kind: str, name: str, role: str, *users: str, **metadata: str) -> Manifest:
        return {
            "apiVersion": f"{rbac}/v1",
            "kind": kind,
            "metadata": {"name": name, **metadata},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": each} for each in users],
        }

    everybody = [each["as_user"] for each in (INSTALLER, SCIENTIST, OPERATOR)]
    for name in ("mlrun", "plain"):
        labels = {LabelKey.USER_WORKLOADS.value: "true"}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        yield account("default", name)
        yield bound("RoleBinding", "place", "admin", *map(str, everybody), namespace=name)
    yield bound("ClusterRoleBinding", "place", "igz-clusters:core-services", "installer")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    data = tmp_path_factory.mktemp("data")
    try:
        api = start_bare(data, "older", OLDER)
        create_all(api, [*declared(), *people()])
        eventually(lambda: "[PL-01]" in api.create(workload("Pod"), **SCIENTIST, **DRY).message)
        eventually(lambda: "[PL-01]" in api.create(workload("Deployment"), **SCIENTIST, **DRY).message)
        yield api
    finally:
        Cluster(data).command("local", "stop", "--all")


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_a_controller_without_a_place_is_refused_unless_its_author_may_install_core_services(
    api: Api, kind: str
) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        (SCIENTIST, "mlrun"),
        (OPERATOR, "mlrun"),
        (SCIENTIST, "plain"),
        (INSTALLER, "plain"),
    ]
    for user, namespace in refused:
        answer = api.create(workload(kind, namespace), **user, **DRY)
        assert (answer.status, "[PL-01]" in answer.message) == (403, True)
    assert place_of(api.create(workload(kind), **INSTALLER, **DRY)) == (None, False, None)
    assert place_of(api.create(workload(kind, nodeSelector=INITIAL), **INSTALLER, **DRY)) == (INITIAL, False, None)
    assert place_of(api.create(workload(kind, nodeSelector=USER), **SCIENTIST, **DRY)) == (USER, False, None)
    assert "[PL-02]" in api.create(workload(kind, nodeSelector=INITIAL), **SCIENTIST, **DRY).message


@pytest.mark.parametrize("kind", MAKERS)
def test_pods_of_a_judged_controller_are_not_judged_by_their_place_again(api: Api, kind: str) -> None:
    made = workload("Pod", owners=(owner(kind),))
    assert api.create(made, **made_by(MAKERS[kind]), **DRY).accepted
    for user in (SCIENTIST, OPERATOR):  # any user can write any owner
        assert "[PL-01]" in api.create(made, **user, **DRY).message
    assert "[PL-01]" in api.create(workload("Pod"), **made_by(MAKERS[kind]), **DRY).message
    elsewhere = workload("Pod", "plain", owners=(owner(kind),))
    assert "[PL-01]" in api.create(elsewhere, **made_by(MAKERS[kind]), **DRY).message


KEY = [{"name": "AWS_SECRET_ACCESS_KEY", "value": "x"}]
AMOUNTS = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("spec", "rule"),
    [
        ({"hostNetwork": True}, "HK-02"),
        ({"priorityClassName": "igz-system-high"}, "PR-05"),
        ({"nodeName": "initial-0"}, "PL-04"),
        (
            {"containers": [{"name": "main", "image": "example/i:1", "env": KEY, "resources": {"limits": AMOUNTS}}]},
            "VO-02",
        ),
    ],
)  # fmt: skip
def test_they_are_excused_from_nothing_else(api: Api, spec: dict[str, Any], rule: str) -> None:
    answer = api.create(
        workload("Pod", owners=(owner("ReplicaSet"),), **spec), **made_by("replicaset-controller"), **DRY
    )
    assert f"[{rule}]" in answer.message
    assert "[PL-01]" not in answer.message


def test_what_the_clusters_own_controllers_make_and_scale_is_not_refused(api: Api) -> None:
    made = workload("ReplicaSet", "plain")  # without an owner, whose absence would end it
    made["spec"]["replicas"] = 0
    assert api.create(made, **made_by("deployment-controller")).accepted
    try:
        path = "/apis/apps/v1/namespaces/plain/replicasets/app"
        scaled = {"spec": {"replicas": 1}}
        assert api.send("PATCH", path, scaled, **made_by("deployment-controller"), **DRY).accepted
        assert api.send("PATCH", path, scaled, **SCIENTIST, **DRY).accepted  # the template stays as it is
    finally:
        api.delete(made)
