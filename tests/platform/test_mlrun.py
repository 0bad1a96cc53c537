"""MLRun itself reads what we wrote for it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from components.contract.environments import Environment
from components.contract.mlrun import DEFAULT_NODE_SELECTOR, STATE_THRESHOLDS
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.taints import OWN_SPOT_TAINT
from support.api import Api
from support.cluster import Cluster
from workbench.system.virtual_environments import interpreter

pytestmark = [
    pytest.mark.control_plane,
    pytest.mark.full,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="MLRun 1.12.1 installs on Python 3.11 only"),
]

REQUIREMENTS = Path(__file__).with_name("mlrun-requirements.txt")
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


@pytest.fixture(scope="session")
def mlrun_python() -> Path:
    return interpreter(REQUIREMENTS)


@pytest.fixture(scope="module")
def override_env(cluster: Cluster) -> dict[str, str]:
    data: dict[str, str] = cluster.get("configmap", "mlrun-override-env", "-n", "mlrun")["data"]
    return data


def said_by_mlrun(python: Path, settings: dict[str, str], program: str) -> dict[str, Any]:
    """Return what a program that imports MLRun prints last."""
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    result = subprocess.run(
        [python, "-c", program],
        env={**clean, **settings},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    said: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return said


def test_mlrun_reads_back_exactly_our_selectors_tolerations_classes_and_resources(
    mlrun_python: Path, override_env: dict[str, str]
) -> None:
    seen = said_by_mlrun(mlrun_python, override_env, READ_BACK)
    resources = DEFAULT_POD_RESOURCES[Environment.DEV]
    assert seen.pop("version") == "1.12.1"
    got = seen.pop("resources")
    for side in ("requests", "limits"):
        assert {k: v for k, v in got[side].items() if v is not None} == getattr(resources, side).model_dump()
    assert seen == {
        "default_selector": dict(DEFAULT_NODE_SELECTOR),
        "preemptible_selector": {"app.iguazio.com/lifecycle": "preemptible"},
        "preemptible_tolerations": [OWN_SPOT_TAINT.toleration()],
        "valid_classes": ["igz-workload-low", "igz-workload-medium", "igz-workload-high"],
        "default_class": "igz-workload-medium",
        "mode": "prevent",
        "thresholds": dict(STATE_THRESHOLDS),
    }


@pytest.fixture(scope="module")
def pod_specs(mlrun_python: Path, override_env: dict[str, str]) -> dict[str, Any]:
    """What MLRun itself makes of a job that says nothing but its preemption mode; its API only adds to it."""
    return said_by_mlrun(mlrun_python, override_env, POD_SPECS)


@pytest.mark.parametrize(
    ("mode", "advice"),
    # Where spot nodes are open to a job, its author is advised against them, and of the plan that MLRun does not write.
    [("prevent", set()), ("none", set()), ("allow", {"SP-01", "SP-02"}), ("constrain", {"SP-01", "SP-02"})],
)
def test_what_mlrun_makes_is_admitted_in_every_preemption_mode(
    cluster: Cluster, pod_specs: dict[str, Any], mode: str, advice: set[str]
) -> None:
    metadata = {"name": f"train-{mode}", "namespace": "mlrun", "labels": {"mlrun/class": "job"}}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_specs[mode]}
    answer = Api(cluster.kubeconfig()).create(made, dryRun="All")
    assert answer.accepted, answer.message
    assert set(re.findall(r"\[([A-Z]{2}-\d\d)\]", " ".join(answer.warnings))) == advice


def test_every_preemption_mode_of_mlrun_is_tried(pod_specs: dict[str, Any]) -> None:
    assert set(pod_specs) == {"prevent", "none", "allow", "constrain"}
