"""Places that the API server gives to pods whose authors chose none, and what its own rules then say."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.labels import AnnotationKey, LabelKey
from components.contract.placement import WHY_CORE, WHY_USER
from policies.examples import UNKNOWN_TEXT, Given, load
from policies.judge import judge_resource
from policies.registry import RULES
from policies.resource import Resource
from policies.settings import context
from policies.values import Value
from policies.views.pods import PODS
from support.admission import Manifest, account, present
from support.api import Api, path_of
from support.cluster import Cluster, eventually
from support.placement import (
    API_VERSIONS,
    CORE,
    INITIAL,
    JOBS,
    SYSTEM,
    USER,
    made_by,
    owner,
    place_of,
    template_of,
    why_of,
    workload,
)
from workbench.stacks import find

pytestmark = pytest.mark.control_plane

DRY = {"dryRun": "All"}
KINDS = sorted(API_VERSIONS)
SELECTED = [kind for kind in KINDS if kind != "DaemonSet"]
INSTALLER, SCIENTIST = {"as_user": "installer"}, {"as_user": "scientist"}
OPERATOR = {"as_user": "system:serviceaccount:mlrun:operator", "groups": ("system:serviceaccounts",)}


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    """A namespace without core services beside the one with them; an installer, a scientist and an operator."""
    rbac = "rbac.authorization.k8s.io"
    labels = {LabelKey.USER_WORKLOADS.value: "true"}
    plain: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "plain", "labels": labels}}
    users = [{"apiGroup": rbac, "kind": "User", "name": each["as_user"]} for each in (INSTALLER, SCIENTIST, OPERATOR)]

    def bound(kind: str, name: str, role: str, subjects: list[dict[str, str]], **metadata: str) -> Manifest:
        reference = {"apiGroup": rbac, "kind": "ClusterRole", "name": role}
        said = {"metadata": {"name": name, **metadata}, "roleRef": reference, "subjects": subjects}
        return {"apiVersion": f"{rbac}/v1", "kind": kind, **said}

    api = Api(cluster.kubeconfig())
    objects = [
        plain,
        *(bound("RoleBinding", "place", "admin", users, namespace=each) for each in ("mlrun", "plain")),
        bound("ClusterRoleBinding", "place", "igz-clusters:core-services", users[:1]),
    ]
    with present(api, objects):
        eventually(lambda: api.create(workload("Pod", "plain"), **DRY).accepted)
        yield api


@pytest.mark.parametrize("kind", SELECTED)
def test_who_may_install_core_services_gets_the_initial_group_the_mark_and_a_class(api: Api, kind: str) -> None:
    answer = api.create(workload(kind), **INSTALLER, **DRY)
    assert place_of(answer) == (INITIAL, True, SYSTEM)
    assert why_of(answer) == WHY_CORE


@pytest.mark.parametrize("kind", SELECTED)
def test_everybody_else_gets_user_pools(api: Api, kind: str) -> None:
    for user, namespace in ((SCIENTIST, "mlrun"), (SCIENTIST, "plain"), (INSTALLER, "plain"), (OPERATOR, "mlrun")):
        answer = api.create(workload(kind, namespace), **user, **DRY)
        assert place_of(answer) == (JOBS, False, None)
        assert why_of(answer) == WHY_USER


def test_a_daemon_set_gets_no_selector_and_the_mark_only_from_who_may_set_it(api: Api) -> None:
    assert place_of(api.create(workload("DaemonSet"), **INSTALLER, **DRY)) == (None, True, SYSTEM)
    users = api.create(workload("DaemonSet"), **SCIENTIST, **DRY)
    assert place_of(users) == (None, False, None)
    assert why_of(users) is None


@pytest.mark.parametrize("spec", [{}, {"nodeSelector": INITIAL}], ids=["no place", "the initial group"])
def test_an_installer_does_not_vouch_for_a_template_that_a_scientist_wrote(api: Api, spec: dict[str, Any]) -> None:
    theirs = workload("DaemonSet", **spec)
    assert api.create(theirs, **SCIENTIST).accepted
    restarted = {"spec": {"template": {"metadata": {"annotations": {"restarted": "now"}}}}}
    try:
        answer = api.send("PATCH", path_of(theirs), restarted, **INSTALLER, **DRY)
        assert place_of(answer) == (spec.get("nodeSelector"), False, None)
    finally:
        api.delete(theirs)


def affinity(key: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "Exists"}]}, {"matchExpressions": []}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


CHOICES: dict[str, dict[str, Any]] = {
    "a role": {"nodeSelector": {LabelKey.ROLE.value: "jupyter"}},
    "a pool": {"nodeSelector": {LabelKey.POOL.value: "spot", "zone": "a"}},
    "user pools": {"nodeSelector": USER},
    "a host": {"nodeSelector": {"kubernetes.io/hostname": "workload-0"}},
    "an affinity": {"affinity": affinity(LabelKey.ROLE.value)},
    "a node": {"nodeName": "workload-0"},
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("user", [INSTALLER, SCIENTIST], ids=["installer", "scientist"])
def test_who_chose_a_place_keeps_it(api: Api, choice: str, user: dict[str, str]) -> None:
    answer = api.create(workload("Deployment", **CHOICES[choice]), **user, **DRY)
    assert place_of(answer) == (CHOICES[choice].get("nodeSelector"), False, None)
    assert why_of(answer) is None


def test_a_choice_about_other_things_is_kept_beside_the_place(api: Api) -> None:
    spec = {"nodeSelector": {"zone": "a"}, "affinity": affinity("zone"), "priorityClassName": "igz-workload-low"}
    assert place_of(api.create(workload("Pod", **spec), **SCIENTIST, **DRY)) == (
        {"zone": "a", **USER},
        False,
        "igz-workload-low",
    )


def asking(resource: str, field: str = "containers") -> dict[str, Any]:
    amounts = {"cpu": "1", "memory": "1Gi"}
    plain = {"name": "main", "image": "example.invalid/image:1", "resources": {"requests": amounts, "limits": amounts}}
    gpu = {**plain, "name": "gpu", "resources": {"limits": {**amounts, resource: "1"}}}
    return {field: [gpu]} if field == "containers" else {"containers": [plain], field: [gpu]}


NEEDS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "a GPU": (asking("nvidia.com/gpu"), USER),
    "a GPU at the start": (asking("nvidia.com/gpu", "initContainers"), USER),
    "a slice of a GPU": (asking("nvidia.com/mig-1g.10gb"), USER),
    "a device": ({"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}, USER),
    "another label": ({"nodeSelector": {"team": "a"}}, {"team": "a", **USER}),
    "another resource": (asking("example.com/disk"), JOBS),
    "an architecture": ({"nodeSelector": {"kubernetes.io/arch": "arm64"}}, {"kubernetes.io/arch": "arm64", **JOBS}),
}


@pytest.mark.parametrize("need", NEEDS)
def test_only_plain_work_gets_the_role_of_pools_for_jobs(api: Api, need: str) -> None:
    spec, selector = NEEDS[need]
    assert place_of(api.create(workload("Deployment", **spec), **SCIENTIST, **DRY))[0] == selector


def test_who_speaks_of_a_lifecycle_or_declines_the_mark_makes_user_work(api: Api) -> None:
    lifecycle = {LabelKey.LIFECYCLE.value: "non-preemptible"}
    spoken = api.create(workload("Job", nodeSelector=lifecycle), **INSTALLER, **DRY)
    assert place_of(spoken) == ({**lifecycle, **JOBS}, False, None)
    declined = workload("Job", labels={LabelKey.CORE_SERVICE.value: "false"})
    assert place_of(api.create(declined, **INSTALLER, **DRY)) == (JOBS, False, None)


@pytest.mark.parametrize("kind", ["Deployment", "Pod"])
def test_half_a_core_service_is_completed(api: Api, kind: str) -> None:
    assert place_of(api.create(workload(kind, labels=CORE), **INSTALLER, **DRY)) == (INITIAL, True, SYSTEM)
    selects = workload(kind, nodeSelector=INITIAL, priorityClassName="igz-system-high")
    assert place_of(api.create(selects, **INSTALLER, **DRY)) == (INITIAL, True, "igz-system-high")
    elsewhere = workload(kind, labels=CORE, nodeSelector=USER)
    assert place_of(api.create(elsewhere, **INSTALLER, **DRY)) == (USER, True, SYSTEM)


def test_what_the_clusters_own_controllers_make_is_left_as_it_is(api: Api) -> None:
    made = workload("Job", owners=(owner("CronJob"),))
    answer = api.create(made, **made_by("cronjob-controller"), **DRY)
    assert place_of(answer) == (None, False, None)
    made = workload("Pod", owners=(owner("ReplicaSet"),))
    assert "[PL-01]" in api.create(made, **made_by("replicaset-controller"), **DRY).message


@pytest.mark.parametrize(
    "made",
    [
        workload("Pod", owners=(owner("ReplicaSet"),)),
        workload("Pod", annotations={AnnotationKey.PLACED_BY.value: WHY_CORE}),
        workload("ReplicaSet", owners=(owner("Deployment"),)),
        workload("Job", owners=(owner("CronJob"),)),
    ],
    ids=["owned pod", "noted pod", "owned replica set", "owned job"],
)
def test_with_edit_alone_nobody_is_given_the_initial_group(api: Api, made: Manifest) -> None:
    assert place_of(api.create(made, **SCIENTIST, **DRY)) == (JOBS, False, None)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (workload("Pod", labels=CORE), "Ask the platform team"),
        (workload("Deployment", labels=CORE), "Ask the platform team"),
        (workload("Pod", nodeSelector=INITIAL), "[PL-02]"),
        (workload("Pod", nodeSelector={**USER, **INITIAL}), "[PL-02]"),
        (workload("Pod", affinity=affinity(LabelKey.ROLE.value)), "[PL-01]"),
        (workload("Pod", nodeName="initial-0"), "[PL-01]"),
        (workload("Pod", nodeSelector={"kubernetes.io/hostname": "initial-0"}), "[PL-04]"),
    ],
)  # fmt: skip
def test_with_edit_alone_nobody_takes_the_initial_group(api: Api, made: Manifest, said: str) -> None:
    answer = api.create(made, **SCIENTIST, **DRY)
    assert answer.status == 403
    assert said in answer.message


def test_a_core_service_cannot_be_changed_with_edit_alone(api: Api) -> None:
    made = workload("Deployment")
    made["spec"]["replicas"] = 0
    with present(api, [made]):
        assert place_of(api.send("GET", DEPLOYMENT))[:2] == (INITIAL, True)
        assert "Ask the platform team" in api.send("PATCH", DEPLOYMENT, _with_image(made), **SCIENTIST, **DRY).message
        unmarked = {"spec": {"template": {"metadata": {"labels": {LabelKey.CORE_SERVICE.value: None}}}}}
        # The initial group stays chosen, so the rules refuse its pods.
        assert "[PL-02]" in " ".join(api.send("PATCH", DEPLOYMENT, unmarked, **SCIENTIST, **DRY).warnings)
        assert place_of(api.send("PUT", DEPLOYMENT, made, **SCIENTIST, **DRY)) == (JOBS, False, None)


DEPLOYMENT = "/apis/apps/v1/namespaces/mlrun/deployments/app"


def _with_image(made: Manifest) -> Manifest:
    """Return the patch that gives the only container another image."""
    container = {**_container(made), "image": "example.invalid/image:2"}
    return {"spec": {"template": {"spec": {"containers": [container]}}}}


def _container(made: Manifest) -> Manifest:
    found: Manifest = template_of(made)["spec"]["containers"][0]
    return found


def test_who_is_given_a_place_is_told_so_once(api: Api) -> None:
    made = workload("Deployment")
    made["spec"]["replicas"] = 0
    answer = api.create(made, **SCIENTIST)
    try:
        (notice,) = [text for text in answer.warnings if "igz-placement-notice" in text]
        assert "user work, because it chose no place" in notice
        assert "igz-clusters.io/role" in notice
        changes = ({"metadata": {"labels": {"x": "y"}}}, _with_image(made))
        warned = [text for change in changes for text in api.send("PATCH", DEPLOYMENT, change, **SCIENTIST).warnings]
        assert [text for text in warned if "igz-placement-notice" in text] == []
        chosen = api.create(workload("Deployment", nodeSelector=USER), **SCIENTIST, **DRY)
        assert [text for text in chosen.warnings if "igz-placement-notice" in text] == []
    finally:
        api.delete(made)


@pytest.mark.full
@pytest.mark.parametrize("way", [[], ["--server-side"], ["--server-side", "--field-manager=helm"]])
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "CronJob", "Job"])
def test_applying_again_changes_nothing_and_an_upgrade_keeps_the_place(
    cluster: Cluster, api: Api, kind: str, way: list[str]
) -> None:
    made = workload(kind)
    if kind in {"Deployment", "StatefulSet"}:
        made["spec"]["replicas"] = 0
    elif kind == "Job":
        made["spec"]["parallelism"] = 0

    def applied(manifest: Manifest) -> Manifest:
        cluster.kubectl("apply", "-f", "-", *way, "--as=installer", stdin=json.dumps(manifest))
        found: Manifest = cluster.get(kind, "app", "-n", "mlrun")
        return found

    try:
        first, second = applied(made), applied(made)
        assert template_of(first)["spec"]["nodeSelector"] == INITIAL
        assert second["metadata"]["generation"] == first["metadata"]["generation"]
        assert template_of(second) == template_of(first)
        if kind != "Job":  # whose template cannot be changed
            _container(made)["image"] = "example.invalid/image:2"
            upgraded = applied(made)
            assert template_of(upgraded)["spec"]["nodeSelector"] == INITIAL
            assert _container(upgraded)["image"] == "example.invalid/image:2"
            cluster.kubectl("replace", "-f", "-", "--as=installer", stdin=json.dumps(made))
            replaced = cluster.get(kind, "app", "-n", "mlrun")
            assert template_of(replaced)["spec"]["nodeSelector"] == INITIAL
    finally:
        api.delete(made)


@pytest.mark.full
def test_pods_of_a_chart_without_values_run_where_they_belong(cluster: Cluster, api: Api) -> None:
    objects = [workload(kind) for kind in ("StatefulSet", "Job")]
    users = workload("Deployment")
    users["metadata"]["name"] = "users"
    for each, user in ((objects[0], INSTALLER), (objects[1], INSTALLER), (users, SCIENTIST)):
        assert api.create(each, **user).accepted
    try:
        pods = eventually(lambda: _running(cluster, 3))
        initial = set(cluster.nodes(pool="initial"))
        on_initial = {name.partition("-")[0]: node in initial for name, node in pods.items()}
        assert on_initial == {"app": True, "users": False}
    finally:
        for each in (*objects, users):
            api.delete(each, propagationPolicy="Background")


def _running(cluster: Cluster, count: int) -> dict[str, str]:
    items = cluster.get("pods", "-n", "mlrun", "-l", "app=app")["items"]
    found = {each["metadata"]["name"]: each["spec"].get("nodeName", "") for each in items}
    return found if len(found) == count and all(found.values()) else {}


FORESEEN = [rule for rule in RULES if rule.id in ("PL-01", "PL-05", "SP-07")]
"""Rules about what the API server gives a pod or corrects in it."""


def _examples() -> list[tuple[str, Given]]:
    return [
        (f"{example.rule}/{example.name}/{given.name}", given)
        for example in load()
        for given in example.resources
        if PODS.types.fullmatch(given.type)
        and given.type.rpartition(":")[2] in API_VERSIONS
        and UNKNOWN_TEXT not in str(given.props)
        and given.props.get("metadata", {}).get("namespace") == "mlrun"
    ]


@pytest.mark.full
def test_packs_say_of_what_is_declared_what_admission_says_of_what_it_made_of_it(api: Api) -> None:
    """In a preview the rules know the place that the API server will give, and what it will correct."""
    stack = {"environment": "dev", "cluster": {"kind": "local"}, "namespaces": {"plain": {}}}
    pools = {name: pool.model_dump(mode="json", by_alias=True) for name, pool in find("local").config.pools.items()}
    known = context(None, {**stack, "pools": pools}, {})
    text = json.dumps([given.props for _, given in _examples()])
    accounts = sorted(set(re.findall(r'"serviceAccountName": "([a-z0-9.-]+)"', text)) - {"default"})
    differ, compared = {}, 0
    with present(api, [account(each, "plain") for each in accounts]):
        for name, given in _examples():
            props = json.loads(json.dumps(given.props))
            props["metadata"] |= {"name": "example", "namespace": "plain"}
            group, kind = given.type.removeprefix("kubernetes:").split(":")
            manifest = {**props, "apiVersion": group.removeprefix("core/"), "kind": kind}
            answer = api.create(manifest, fieldValidation="Ignore", **DRY)
            said = " ".join([answer.message, *answer.warnings])
            if not answer.accepted and "igz-pods-mandatory" not in said:
                continue
            compared += 1
            declared = Resource(given.type, "example", "", Value(props))
            for rule in FORESEEN:
                if bool(judge_resource(rule, declared, known).findings) is not (f"[{rule.id}]" in said):
                    differ[f"{name} {rule.id}"] = said
    assert differ == {}
    assert compared > 100
