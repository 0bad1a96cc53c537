import base64
import json
from typing import Any

import pytest
from pydantic import ValidationError

from components.contract.environments import Environment
from components.contract.groups import resolve_groups
from components.contract.mlrun import default_node_selector, override_environment
from components.contract.mlrun_choices import MlrunChoices
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.pools import NodePool
from components.contract.taints import OWN_SPOT_TAINT

SPOT = {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 9}, "instanceTypes": ["m6i.2xlarge"]}
RESOURCES = DEFAULT_POD_RESOURCES[Environment.DEV]
spot_groups = resolve_groups({"spot": NodePool.model_validate(SPOT)}, OWN_SPOT_TAINT)


def decoded(environment: dict[str, str], name: str) -> object:
    return json.loads(base64.b64decode(environment[name]))


def test_selector_and_toleration_are_those_of_the_spot_nodes() -> None:
    environment = override_environment(spot_groups, OWN_SPOT_TAINT, RESOURCES)
    selector = decoded(environment, "MLRUN_PREEMPTIBLE_NODES__NODE_SELECTOR")
    assert selector == {"app.iguazio.com/lifecycle": "preemptible"}
    assert selector.items() <= dict(spot_groups[0].labels).items()
    (toleration,) = decoded(environment, "MLRUN_PREEMPTIBLE_NODES__TOLERATIONS")
    assert toleration == spot_groups[0].taints[0].toleration()


def test_a_cluster_without_spot_says_nothing_of_preemptible_nodes() -> None:
    environment = override_environment((), OWN_SPOT_TAINT, RESOURCES)
    assert [name for name in environment if "PREEMPTIBLE" in name] == []


def test_untainted_spot_nodes_give_a_selector_and_no_toleration() -> None:
    environment = override_environment(spot_groups, None, RESOURCES)
    assert "MLRUN_PREEMPTIBLE_NODES__NODE_SELECTOR" in environment
    assert "MLRUN_PREEMPTIBLE_NODES__TOLERATIONS" not in environment


def test_the_class_list_has_no_blanks_because_mlrun_does_not_strip_them() -> None:
    environment = override_environment((), None, RESOURCES)
    names = environment["MLRUN_VALID_FUNCTION_PRIORITY_CLASS_NAMES"]
    assert names == "igz-workload-low,igz-workload-medium,igz-workload-high"


def test_values_are_the_published_encodings() -> None:
    environment = override_environment(spot_groups, OWN_SPOT_TAINT, RESOURCES)
    assert environment["MLRUN_PREEMPTIBLE_NODES__NODE_SELECTOR"] == (
        "eyJhcHAuaWd1YXppby5jb20vbGlmZWN5Y2xlIjoicHJlZW1wdGlibGUifQ=="
    )
    assert environment["MLRUN_DEFAULT_FUNCTION_POD_RESOURCES__LIMITS__MEMORY"] == "4Gi"


JOBS = {"role": "workload", "size": {"min": 0, "max": 9}, "instanceTypes": ["m6i.2xlarge"]}
GPU = {"role": "gpu", "size": {"min": 0, "max": 9}, "instanceTypes": ["g5.4xlarge"]}
NOTEBOOKS = {**JOBS, "role": "jupyter"}
USER = {"igz-clusters.io/user-workloads": "true"}
JOB_ROLE = {**USER, "igz-clusters.io/role": "workload"}


@pytest.mark.parametrize(
    ("pools", "corrects", "expected"),
    [
        ({"jobs": JOBS, "notebooks": NOTEBOOKS}, False, JOB_ROLE),
        ({"jobs": JOBS, "gpu": GPU}, True, JOB_ROLE),
        # Without the correction a function that only requests a GPU would wait forever.
        ({"jobs": JOBS, "gpu": GPU}, False, USER),
        ({"notebooks": NOTEBOOKS}, True, USER),
    ],
)
def test_jobs_stay_off_the_pools_of_notebooks_unless_that_would_strand_gpu_functions(
    pools: dict[str, Any], corrects: bool, expected: dict[str, str]
) -> None:
    groups = resolve_groups({name: NodePool.model_validate(pool) for name, pool in pools.items()})
    assert default_node_selector(groups, corrects=corrects) == expected
    environment = override_environment(groups, None, RESOURCES, corrects=corrects)
    assert decoded(environment, "MLRUN_DEFAULT_FUNCTION_NODE_SELECTOR") == expected


def test_mode_and_wait_are_the_stack_files_choice_and_no_limit_stays_text() -> None:
    choices = MlrunChoices.model_validate({"preemptionMode": "allow", "pendingNotScheduled": "-1"})
    environment = override_environment((), None, RESOURCES, choices)
    assert environment["MLRUN_FUNCTION_DEFAULTS__PREEMPTION_MODE"] == "allow"
    assert environment["MLRUN_FUNCTION__SPEC__STATE_THRESHOLDS__DEFAULT__PENDING_NOT_SCHEDULED"] == '"-1"'


def test_mlrun_is_told_how_long_a_run_may_be_stuck_in_each_of_its_states() -> None:
    environment = override_environment((), None, RESOURCES)
    told = {name: value for name, value in environment.items() if "STATE_THRESHOLDS" in name}
    prefix = "MLRUN_FUNCTION__SPEC__STATE_THRESHOLDS__DEFAULT__"
    assert told == {
        f"{prefix}PENDING_SCHEDULED": "1h",
        f"{prefix}PENDING_NOT_SCHEDULED": "24h",
        f"{prefix}IMAGE_PULL_BACKOFF": "1h",
        f"{prefix}EXECUTING": "24h",
    }


def test_every_threshold_is_the_stack_files_choice() -> None:
    chosen = {"pendingScheduled": "2h", "imagePullBackoff": "10m", "executing": "-1"}
    environment = override_environment((), None, RESOURCES, MlrunChoices.model_validate(chosen))
    prefix = "MLRUN_FUNCTION__SPEC__STATE_THRESHOLDS__DEFAULT__"
    assert {
        name: environment[f"{prefix}{name}"] for name in ("PENDING_SCHEDULED", "IMAGE_PULL_BACKOFF", "EXECUTING")
    } == {
        "PENDING_SCHEDULED": "2h",
        "IMAGE_PULL_BACKOFF": "10m",
        "EXECUTING": '"-1"',
    }


def test_what_functions_mount_is_the_stack_files_choice() -> None:
    assert not any("AUTO_MOUNT" in name for name in override_environment((), None, RESOURCES, MlrunChoices()))
    parameters = {"pvc_name": "shared", "volume_mount_path": "/data"}
    chosen = MlrunChoices.model_validate({"autoMount": {"type": "pvc", "parameters": parameters}})
    environment = override_environment((), None, RESOURCES, chosen)
    assert environment["MLRUN_STORAGE__AUTO_MOUNT_TYPE"] == "pvc"
    assert json.loads(base64.b64decode(environment["MLRUN_STORAGE__AUTO_MOUNT_PARAMS"])) == parameters


def test_where_images_are_pushed_is_the_stack_files_choice() -> None:
    url, secret = "registry.example.com:5000/ml", "registry-credentials"
    chosen = MlrunChoices.model_validate({"registry": {"url": url, "secret": secret}})
    environment = override_environment((), None, RESOURCES, chosen)
    assert environment["MLRUN_HTTPDB__BUILDER__DOCKER_REGISTRY"] == url
    assert environment["MLRUN_HTTPDB__BUILDER__DOCKER_REGISTRY_SECRET"] == secret
    assert not any("REGISTRY" in name for name in override_environment((), None, RESOURCES, MlrunChoices()))


@pytest.mark.parametrize("url", ["https://registry.example.com", "registry.example.com/", "", "Registry.example.com"])
def test_an_address_with_more_than_host_port_and_path_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="without https://"):
        MlrunChoices.model_validate({"registry": {"url": url}})


def test_a_namespace_replaces_the_settings_that_it_names() -> None:
    stack = MlrunChoices.model_validate({"preemptionMode": "allow", "executing": "2d"})
    own = MlrunChoices.model_validate({"executing": "7d"})
    assert stack.with_own(own) == MlrunChoices.model_validate({"preemptionMode": "allow", "executing": "7d"})
    assert stack.with_own(None) == stack
