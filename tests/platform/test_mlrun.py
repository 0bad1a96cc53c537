"""MLRun itself reads what we wrote for it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.contract.environments import Environment
from components.contract.mlrun import DEFAULT_NODE_SELECTOR, STATE_THRESHOLDS
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.taints import OWN_SPOT_TAINT
from support.cluster import Cluster
from workbench.virtual_environments import interpreter

pytestmark = [
    pytest.mark.control_plane,
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


@pytest.fixture(scope="session")
def mlrun_python() -> Path:
    return interpreter(REQUIREMENTS)


@pytest.fixture(scope="module")
def override_env(cluster: Cluster) -> dict[str, str]:
    data: dict[str, str] = cluster.get("configmap", "mlrun-override-env", "-n", "mlrun")["data"]
    return data


def test_mlrun_reads_back_exactly_our_selectors_tolerations_classes_and_resources(
    mlrun_python: Path, override_env: dict[str, str]
) -> None:
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    result = subprocess.run(
        [mlrun_python, "-c", READ_BACK],
        env={**clean, **override_env},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    seen = json.loads(result.stdout.splitlines()[-1])
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
