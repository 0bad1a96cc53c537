"""Every AWS resource that our stacks declare, judged by the offline provider without the engine."""

import pytest

from components.contract.aws import LAUNCH_TEMPLATE_NAME_MAX, NODE_GROUP_NAME_MAX
from components.contract.names import AUTOMATIC_END
from infra.program import run
from support.aws_cloud_resources import BACKUP, NEAR
from support.eks import LAUNCH_TEMPLATE, NODE_GROUP, build, config
from support.recorder import Recorded, Recorder, record
from workbench.offline.aws.provider import OfflineAws
from workbench.stacks import find, stack_files

CLOUD_STACKS = sorted(name for name in stack_files() if find(name).config.cluster.kind == "eks")


def problems(recorder: Recorder) -> list[str]:
    aws = OfflineAws()

    def of(resource: Recorded) -> list[str]:
        checked = aws.check(resource.type, resource.name, resource.inputs, seed=b"", kept={})
        # The recorder gives no outputs, so what comes from another resource is missing here; a render finds these.
        wrong = [problem for problem in checked.problems if not problem.reason.endswith("not given")]
        return [f"{resource.type} {resource.name} {problem.path}: {problem.reason}" for problem in wrong]

    return [line for resource in recorder.resources if resource.type.startswith("aws:") for line in of(resource)]


@pytest.mark.parametrize("name", CLOUD_STACKS)
def test_no_model_objects_to_what_a_stack_declares(name: str) -> None:
    found = find(name).config
    assert problems(record(lambda: run(found))) == []


@pytest.mark.parametrize("length", [40, 100])
def test_a_long_name_of_the_stack_makes_no_name_that_aws_refuses(length: int) -> None:
    identity = {"buckets": [{"bucket": "ml-data"}]}
    long = config({**BACKUP, **NEAR, "namespaces": {"n" * 40: {"identity": identity}}})
    recorder = record(lambda: run(long), stack="s" * length)
    assert problems(recorder) == []
    names = {type_: recorder.of_type(type_).keys() for type_ in (NODE_GROUP, LAUNCH_TEMPLATE)}
    # The models of EKS and EC2 say nothing of these.
    assert all(len(name) + AUTOMATIC_END <= NODE_GROUP_NAME_MAX for name in names[NODE_GROUP])
    assert all(len(name) + AUTOMATIC_END <= LAUNCH_TEMPLATE_NAME_MAX for name in names[LAUNCH_TEMPLATE])
    assert len(names[NODE_GROUP]) == len(long.groups)


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_no_model_objects_to_a_stack_with_a_pool_of_every_role(environment: str) -> None:
    recorder = build({"environment": environment})
    assert sum(resource.type.startswith("aws:") for resource in recorder.resources) > 100
    assert problems(recorder) == []
