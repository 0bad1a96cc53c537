"""Rules at admission: what they refuse and whom they spare."""

import re
from collections.abc import Iterator

import pytest

from components.contract.admission import WAIVER_PREFIX
from components.contract.labels import LabelKey
from policies.examples import BASES, load_file
from support.admission import Manifest, account, present, types_checked
from support.api import Answer, Api, path_of
from support.cluster import Cluster, eventually
from support.scratch_admission import (
    BAD,
    DRY,
    GOOD,
    LENIENT,
    STRICT,
    VAP,
    deployment,
    scratch_rules_bound,
    simple,
    template,
)
from support.scratch_rules import IMAGE, LABEL, TOO_HIGH, VALUE

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    with scratch_rules_bound(cluster) as bound:
        yield bound


def ids(answer: Answer) -> set[str]:
    return set(re.findall(r"\[(ZZ-\d\d)\]", " ".join([answer.message, *answer.warnings])))


def test_a_pod_that_violates_several_rules_reads_all_of_them_at_once(api: Api) -> None:
    answer = api.create(simple(BAD, hostNetwork=True), **DRY)
    assert answer.status == 403
    assert re.findall(r"\[(ZZ-\d\d)\]", answer.message) == ["ZZ-01", "ZZ-04"]
    assert f"{IMAGE.title}: container main (image {BAD}). Fix: {IMAGE.fix} [ZZ-01]" in answer.message


def test_a_message_names_as_many_containers_as_fit_and_stays_a_message(api: Api) -> None:
    made = simple(BAD)
    made["spec"]["containers"] = [{**made["spec"]["containers"][0], "name": f"c{n}"} for n in range(50)]
    message = api.create(made, **DRY).message
    assert f"{IMAGE.title}: container c0 (image {BAD}); container c1 (image {BAD}); " in message
    assert f"…. Fix: {IMAGE.fix} [ZZ-01]" in message


def test_an_advisory_rule_warns_and_lets_pass(api: Api) -> None:
    answer = api.create(simple(GOOD), **DRY)
    assert answer.accepted
    assert ids(answer) == {LABEL.id}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController",
                                  "Job", "CronJob"])  # fmt: skip
def test_who_makes_a_controller_is_warned_of_what_its_pods_will_meet(api: Api, kind: str) -> None:
    spec: Manifest = {"template": template(BAD), "selector": {"matchLabels": {"app": "x"}}, "serviceName": "x"}
    if kind in {"Job", "CronJob"}:
        spec["template"]["spec"]["restartPolicy"] = "Never"
        spec = {"template": spec["template"]}
    if kind == "CronJob":
        spec = {"schedule": "@daily", "jobTemplate": {"spec": spec}}
    if kind == "ReplicationController":
        spec["selector"] = {"app": "x"}
    group = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    made = {"apiVersion": group, "kind": kind, "metadata": {"name": "x", "namespace": STRICT}, "spec": spec}
    answer = api.create(made, fieldValidation="Ignore", **DRY)
    assert answer.accepted, answer.message
    assert IMAGE.id in ids(answer)


def test_with_admission_warn_a_violation_of_a_mandatory_rule_is_only_a_warning(api: Api) -> None:
    answer = api.create(simple(BAD, LENIENT), **DRY)
    assert answer.accepted
    assert IMAGE.id in ids(answer)


def test_a_core_service_is_spared_except_by_rules_that_spare_nobody(api: Api) -> None:
    core = simple(BAD, hostNetwork=True)
    core["metadata"]["labels"] = {LabelKey.CORE_SERVICE.value: "true"}
    assert ids(api.create(core, **DRY)) == {"ZZ-04"}


@pytest.mark.parametrize(
    ("until", "waived"),
    [("2999-12-31", True), ("2020-01-01", False), ("forever", False), ("9999", False), ("", False)],
)
def test_a_waiver_holds_until_its_date(api: Api, until: str, waived: bool) -> None:
    path = f"/api/v1/namespaces/{STRICT}"
    key = f"{WAIVER_PREFIX}zz-01"
    api.send("PATCH", path, {"metadata": {"annotations": {key: until}}})
    try:
        eventually(lambda: (IMAGE.id not in ids(api.create(simple(BAD), **DRY))) is waived)
        assert "ZZ-04" in ids(api.create(simple(BAD, hostNetwork=True), **DRY))
    finally:
        api.send("PATCH", path, {"metadata": {"annotations": {key: None}}})
    eventually(lambda: IMAGE.id in ids(api.create(simple(BAD), **DRY)))


@pytest.fixture
def placed(api: Api) -> Iterator[Manifest]:
    """A pod that keeps all rules and runs."""
    made = simple(GOOD, name="placed", nodeSelector={LabelKey.POOL.value: "initial"})
    with present(api, [made]):
        yield eventually(lambda: next(
            (body for body in [api.send("GET", path_of(made)).body] if body["spec"].get("nodeName")), None
        ))  # fmt: skip


def debugger(image: str) -> Manifest:
    container = {"name": "debug", "image": image, "targetContainerName": "main"}
    return {"spec": {"ephemeralContainers": [container]}}


def test_what_runs_may_not_be_made_worse(api: Api, placed: Manifest) -> None:
    path = path_of(placed)
    image = {"spec": {"containers": [{**placed["spec"]["containers"][0], "image": BAD}]}}
    assert ids(api.send("PATCH", path, image, **DRY)) >= {IMAGE.id}
    debug = api.send("PATCH", f"{path}/ephemeralcontainers", debugger(BAD), **DRY)
    assert (debug.status, ids(debug) >= {IMAGE.id}) == (403, True)


def test_what_runs_can_be_debugged_and_changed_within_the_rules(api: Api, placed: Manifest) -> None:
    assert api.send("PATCH", f"{path_of(placed)}/ephemeralcontainers", debugger(GOOD), **DRY).accepted
    image = {"spec": {"containers": [{**placed["spec"]["containers"][0], "image": f"{GOOD}:2"}]}}
    assert api.send("PATCH", path_of(placed), image, **DRY).accepted


def test_a_pod_that_keeps_the_clusters_own_rules_is_made_placed_and_debugged(api: Api) -> None:
    """No rule may take for the author's choice what the scheduler wrote."""
    example = next(each for each in load_file(BASES / "kubernetes.yaml") if each.name == "pod")
    metadata = {"name": "exemplary", "namespace": "mlrun", "labels": {"app": "train"}}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": example.resources[0].props["spec"]}
    with present(api, [account(made["spec"]["serviceAccountName"], "mlrun"), made]):
        eventually(lambda: api.send("GET", path_of(made)).body["spec"].get("nodeName"))
        debug = {**made["spec"]["containers"][0], "name": "debug"}
        for probe in ("livenessProbe", "readinessProbe", "resources"):
            debug.pop(probe, None)
        wanted = {"spec": {"ephemeralContainers": [debug]}}
        answer = api.send("PATCH", f"{path_of(made)}/ephemeralcontainers", wanted, **DRY)
        assert answer.accepted, answer.message


def test_who_touches_only_the_metadata_of_an_old_pod_is_left_alone(api: Api) -> None:
    old = simple(BAD, LENIENT, name="old")  # as if it was there before the rules
    with present(api, [old]):
        live = {"metadata": {"labels": {"bound-to": STRICT}}}
        assert api.send("PATCH", f"/api/v1/namespaces/{LENIENT}", live).accepted
        try:
            eventually(lambda: not api.create(simple(BAD, LENIENT), **DRY).accepted)
            assert api.send("PATCH", path_of(old), {"metadata": {"labels": {"team": "a"}}}, **DRY).accepted
        finally:
            live["metadata"]["labels"]["bound-to"] = LENIENT
            api.send("PATCH", f"/api/v1/namespaces/{LENIENT}", live)


def test_a_priority_class_is_judged_cluster_wide(api: Api) -> None:
    refused = api.create(TOO_HIGH, **DRY)
    assert (refused.status, ids(refused)) == (403, {VALUE.id})
    assert api.create({**TOO_HIGH, "value": 5}, **DRY).accepted


def test_the_systems_own_pods_and_daemon_sets_meet_no_rule(api: Api) -> None:
    """The worst pod there is, where the system's own live: log collectors, network and storage plug-ins."""
    everywhere = [{"operator": "Exists"}]
    worst = simple(
        BAD, "kube-system", hostNetwork=True, tolerations=everywhere, priorityClassName="system-node-critical"
    )
    assert (api.create(worst, **DRY).accepted, ids(api.create(worst, **DRY))) == (True, set())
    daemon = {**deployment(BAD, "kube-system"), "kind": "DaemonSet"}
    daemon["spec"]["template"]["spec"] = {**worst["spec"], "restartPolicy": "Always"}
    answer = api.create(daemon, **DRY)
    assert (answer.accepted, answer.warnings) == (True, ())
    as_controller = {"as_user": "system:serviceaccount:kube-system:daemon-set-controller"}
    assert api.create(worst, **as_controller, **DRY).accepted


def test_kubernetes_finds_nothing_wrong_with_the_types_of_any_expression(api: Api, cluster: Cluster) -> None:
    def checked() -> dict[str, Manifest]:
        policies = api.send("GET", f"{VAP}/validatingadmissionpolicies").body["items"]
        found = {policy["metadata"]["name"]: policy.get("status", {}).get("typeChecking") for policy in policies}
        return {} if None in found.values() else found

    with types_checked(cluster):
        found = eventually(checked)
    assert {name: check for name, check in found.items() if check.get("expressionWarnings")} == {}
    assert len(found) >= 8
