"""Which nodes a pod may go to, and what it asks of one."""

from decimal import Decimal
from typing import Any

import pytest

from components.contract.environments import Environment
from policies.resource import Resource
from policies.settings import context
from policies.values import UNKNOWN, NotJudgeableError, Value
from policies.views.node_choice import Demand, always, may_run_on
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.pods import PodFacts, pods
from policies.views.volume_claims import pod_request


def pod(spec: Any) -> PodFacts:
    [found] = pods(Resource("kubernetes:core/v1:Pod", "p", "urn", Value({"spec": spec})))
    return found


def group(labels: Any) -> NodeGroupFacts:
    [found] = node_groups(Resource("aws:eks/nodeGroup:NodeGroup", "g", "urn", Value({"labels": labels})))
    return found


def affinity(*terms: Any) -> Any:
    required = {"nodeSelectorTerms": [{"matchExpressions": list(term)} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def demand(key: Any, operator: Any, *values: Any) -> Any:
    return {"key": key, "operator": operator, "values": list(values)}


JOBS, GPUS, ANY = demand("pool", "In", "jobs"), demand("pool", "In", "gpus"), demand("zone", "Exists")


def is_about_pool(found: Demand) -> bool:
    return bool(found.wants("pool"))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, False),
        ({"nodeSelector": {"pool": "jobs"}}, True),
        ({"nodeSelector": {"zone": "a"}}, False),
        ({"affinity": affinity([JOBS], [GPUS])}, True),
        ({"affinity": affinity([JOBS], [ANY])}, False),
        ({"affinity": affinity()}, False),
        ({"affinity": affinity([demand("pool", "NotIn", "core")])}, False),
        ({"nodeSelector": {"pool": "jobs"}, "affinity": UNKNOWN}, True),
        ({"nodeSelector": UNKNOWN, "affinity": affinity([JOBS])}, True),
        ({"affinity": affinity([demand(UNKNOWN, "In", "x"), JOBS])}, True),
        ({"affinity": affinity([demand(UNKNOWN, "In", "x")], [ANY])}, False),
    ],
)
def test_a_pod_always_fulfils_what_its_selector_or_each_of_its_terms_demands(spec: Any, expected: bool) -> None:
    assert always(pod(spec), is_about_pool) is expected


@pytest.mark.parametrize("spec", [{"nodeSelector": UNKNOWN}, {"affinity": affinity([JOBS], [demand(UNKNOWN, "In")])}])
def test_what_decides_must_be_known(spec: Any) -> None:
    with pytest.raises(NotJudgeableError):
        always(pod(spec), is_about_pool)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, True),
        ({"nodeSelector": {"pool": "jobs"}}, True),
        ({"nodeSelector": {"pool": "gpus"}}, False),
        ({"nodeSelector": {"pool": "jobs", "team": "vision"}}, False),
        ({"nodeSelector": {"kubernetes.io/arch": "arm64"}}, True),
        ({"nodeSelector": {"igz-clusters.io/role": "gpu"}}, False),
        ({"affinity": affinity([GPUS], [JOBS])}, True),
        ({"affinity": affinity([GPUS])}, False),
        ({"affinity": affinity([demand("pool", "NotIn", "jobs")])}, False),
        ({"affinity": affinity([demand("team", "DoesNotExist"), demand("pool", "Exists")])}, True),
        ({"affinity": affinity([demand("team", "Exists")])}, False),
        ({"nodeSelector": {"pool": "gpus"}, "affinity": UNKNOWN}, False),
    ],
)
def test_a_group_is_open_to_a_pod_if_its_labels_meet_all_demands_of_one_alternative(spec: Any, expected: bool) -> None:
    assert may_run_on(pod(spec), group({"pool": "jobs"})) is expected


@pytest.mark.parametrize(
    ("labels", "spec"),
    [
        ({"pool": UNKNOWN}, {"nodeSelector": {"pool": "jobs"}}),
        ({"size": "3"}, {"affinity": affinity([demand("size", "Gt", "2")])}),
    ],
)
def test_a_label_that_nobody_knows_or_an_operator_that_nobody_uses_is_not_judged(labels: Any, spec: Any) -> None:
    with pytest.raises(NotJudgeableError):
        may_run_on(pod(spec), group(labels))


def container(cpu: str, **more: Any) -> Any:
    return {"resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [container("1"), container("500m")]}, "1.5"),
        ({"containers": [container("1")], "initContainers": [container("3"), container("2")]}, "3"),
        ({"containers": [container("1")], "initContainers": [container("1", restartPolicy="Always")]}, "2"),
        ({"containers": [{"resources": {"limits": {"cpu": "2"}}}]}, "2"),
        ({"containers": [{}]}, "0"),
        ({"containers": [{}], "resources": {"requests": {"cpu": "4"}}}, "4"),
    ],
)
def test_a_node_must_have_room_for_what_runs_side_by_side(spec: Any, expected: str) -> None:
    assert pod_request(pod(spec), "cpu") == Decimal(expected)


def test_rules_learn_from_the_stack_file_which_pools_hold_user_work() -> None:
    pools = {
        "core": {"role": "initial"},
        "jobs": {"role": "workload"},
        "vision": {"role": "gpu", "gpuResource": "example.com/gpu"},
    }
    known = context({}, {"environment": "dev", "pools": pools}, {})
    assert (known.environment, known.user_pools) == (Environment.DEV, {"jobs", "vision"})
    assert known.gpu_resources == ("example.com/gpu",)


@pytest.mark.parametrize("pools", [None, [], "pools", {"jobs": None}])
def test_without_pools_nobody_says_which_hold_user_work(pools: Any) -> None:
    assert context({}, {"pools": pools}, {}).user_pools is None
