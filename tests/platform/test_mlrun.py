"""MLRun itself reads what we wrote for it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.admission import POD_VARIABLES, spot_checks
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.mlrun import default_node_selector, override_environment
from components.contract.mlrun_choices import STATE_THRESHOLDS
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.policy_choices import PolicyChoices
from components.contract.taints import OWN_SPOT_TAINT
from components.scheduling.admission_rules import admission_rules
from support.admission import Rendered, local_groups, namespace, present, ready
from support.api import Api
from support.cluster import Cluster, pod
from support.mlrun_releases import ENDS, NEWEST, RELEASES, python_of
from support.sampled import sampled

pytestmark = [
    pytest.mark.control_plane,
    pytest.mark.full,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="these releases of MLRun install on Python 3.11"),
]

READ_BACK = """
import json, mlrun
c = mlrun.mlconf
print(json.dumps({
    "version": mlrun.__version__,
    "default_selector": c.get_default_function_node_selector(),
    "preemptible_selector": c.get_preemptible_node_selector(),
    "preemptible_tolerations": c.get_preemptible_tolerations(),
    "valid_classes": c.get_valid_function_priority_class_names(),
    "default_class": c.default_function_priority_class_name,
    "mode": c.function_defaults.preemption_mode,
    "thresholds": c.function.spec.state_thresholds.default.to_dict(),
    "resources": c.get_default_function_pod_resources(),
}, default=lambda o: o.to_dict()))
"""

POD_SPECS = """
import json, mlrun
from mlrun.k8s_utils import enrich_preemption_mode, sanitize_k8s_objects
c = mlrun.mlconf

def pod_spec(mode):
    function = mlrun.new_function("train", kind="job", image="mlrun/mlrun")
    placed = enrich_preemption_mode(
        mode, c.get_default_function_node_selector(), function.spec.tolerations, function.spec.affinity
    )
    selector, tolerations, affinity = (sanitize_k8s_objects(each) for each in placed)
    resources = function.spec.enrich_resources_with_default_pod_resources("resources", None)
    image = mlrun.utils.enrich_image_url(function.spec.image)
    return {
        "containers": [{"name": "base", "image": image, "resources": resources}],
        "restartPolicy": "Never",
        "nodeSelector": selector,
        "tolerations": tolerations,
        "affinity": affinity,
        "priorityClassName": function.get_default_priority_class_name(),
    }

print(json.dumps({mode.value: pod_spec(mode.value) for mode in mlrun.common.schemas.PreemptionModes}))
"""

MERGED = """
import json
from mlrun.runtimes.utils import resolve_node_selectors
own = {
    "nothing": {},
    "role": {"igz-clusters.io/role": "gpu"},
    "lifecycle": {"app.iguazio.com/lifecycle": "preemptible"},
}
print(json.dumps({name: resolve_node_selectors({}, selector) for name, selector in own.items()}))
"""


@pytest.fixture(scope="module")
def override_env(cluster: Cluster) -> dict[str, str]:
    data: dict[str, str] = cluster.get("configmap", "mlrun-override-env", "-n", "mlrun")["data"]
    return data


def said_by_mlrun(release: str, settings: dict[str, str], program: str) -> dict[str, Any]:
    """Return what a program that imports MLRun prints last."""
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    result = subprocess.run(
        [python_of(release), "-c", program],
        env={**clean, **settings},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    said: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return said


@pytest.mark.parametrize("release", sampled(RELEASES, ENDS, others=pytest.mark.proofs))
def test_mlrun_reads_back_exactly_our_selectors_tolerations_classes_and_resources(
    release: str, override_env: dict[str, str]
) -> None:
    seen = said_by_mlrun(release, override_env, READ_BACK)
    resources = DEFAULT_POD_RESOURCES[Environment.DEV]
    assert seen.pop("version") == release
    got = seen.pop("resources")
    for side in ("requests", "limits"):
        assert {k: v for k, v in got[side].items() if v is not None} == getattr(resources, side).model_dump()
    assert seen == {
        "default_selector": default_node_selector(local_groups(), corrects=True),
        "preemptible_selector": {"app.iguazio.com/lifecycle": "preemptible"},
        "preemptible_tolerations": [OWN_SPOT_TAINT.toleration()],
        "valid_classes": ["igz-workload-low", "igz-workload-medium", "igz-workload-high"],
        "default_class": "igz-workload-medium",
        "mode": "prevent",
        "thresholds": dict(STATE_THRESHOLDS),
    }


def groups(*, tainted: bool) -> tuple[NodeGroup, ...]:
    return local_groups(OWN_SPOT_TAINT if tainted else None)


@pytest.fixture(scope="module")
def pod_specs() -> dict[bool, dict[str, Any]]:
    """What MLRun itself makes of a job that says nothing but its preemption mode; its API only adds to it.

    By whether spot nodes have a taint.
    """
    return {tainted: said_by_mlrun(NEWEST, settings(tainted=tainted), POD_SPECS) for tainted in (True, False)}


def settings(*, tainted: bool) -> dict[str, str]:
    taint = OWN_SPOT_TAINT if tainted else None
    return override_environment(groups(tainted=tainted), taint, DEFAULT_POD_RESOURCES[Environment.DEV], corrects=True)


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    """An API server with namespaces for both environments, with and without a taint of spot nodes."""
    api = Api(cluster.kubeconfig())
    with present(api, [each for world in WORLDS for each in objects(*world)]):
        for environment, tainted in WORLDS:
            name = name_of(environment, tainted=tainted)
            ready(api, pod("probe", namespace=name), f"'{name}-pods-mandatory'")
        yield api


WORLDS = [(environment, tainted) for environment in Environment for tainted in (True, False)]


def name_of(environment: Environment, *, tainted: bool) -> str:
    return f"modes-{environment}-{'tainted' if tainted else 'open'}"


def objects(environment: Environment, tainted: bool) -> Iterator[dict[str, Any]]:
    name = name_of(environment, tainted=tainted)
    yield namespace(name, name)
    choices = PolicyChoices.model_validate({"admission": "warn"})
    yield from Rendered(name, admission_rules(), groups(tainted=tainted), choices, environment).objects()
    checks = spot_checks(groups(tainted=tainted))
    if checks:
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        spec = {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": {"matchLabels": {"bound-to": name}}},
            "variables": [{"name": key, "expression": text} for key, text in POD_VARIABLES.items()],
            "validations": [{"expression": check.expression, "message": check.message} for check in checks],
        }
        kind = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": f"{name}-guard"}}
        yield {**kind, "kind": "ValidatingAdmissionPolicy", "spec": spec}
        binding = {"policyName": f"{name}-guard", "validationActions": ["Deny"]}
        yield {**kind, "kind": "ValidatingAdmissionPolicyBinding", "spec": binding}


@pytest.mark.parametrize("mode", ["prevent", "none", "allow", "constrain"])
@pytest.mark.parametrize(("environment", "tainted"), WORLDS)
def test_what_mlrun_makes_is_admitted_in_every_preemption_mode(
    api: Api, pod_specs: dict[bool, dict[str, Any]], environment: Environment, tainted: bool, mode: str
) -> None:
    name = name_of(environment, tainted=tainted)
    metadata = {"name": f"train-{mode}", "namespace": name, "labels": {"mlrun/class": "job"}}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_specs[tainted][mode]}
    answer = api.create(made, dryRun="All")
    assert answer.accepted, answer.message
    found = {
        level: set(re.findall(r"\[(SP-\d\d)\]", " ".join(w for w in answer.warnings if f"'{name}-pods-{level}'" in w)))
        for level in ("mandatory", "advisory")
    }
    # Without a taint MLRun writes nothing in mode allow, which looks the same as mode none.
    is_told = mode == "constrain" or (mode == "allow" and tainted)
    assert found == {"mandatory": set(), "advisory": {"SP-02"} if is_told else set()}


def test_every_preemption_mode_of_mlrun_is_tried(pod_specs: dict[bool, dict[str, Any]]) -> None:
    assert all(set(made) == {"prevent", "none", "allow", "constrain"} for made in pod_specs.values())


@pytest.mark.parametrize("release", sampled(RELEASES, ENDS, others=pytest.mark.proofs))
def test_a_functions_own_role_replaces_the_default_one_and_other_keys_are_merged(release: str) -> None:
    user = {"igz-clusters.io/user-workloads": "true"}
    assert said_by_mlrun(release, settings(tainted=True), MERGED) == {
        "nothing": {**user, "igz-clusters.io/role": "workload"},
        "role": {**user, "igz-clusters.io/role": "gpu"},
        "lifecycle": {**user, "igz-clusters.io/role": "workload", "app.iguazio.com/lifecycle": "preemptible"},
    }
