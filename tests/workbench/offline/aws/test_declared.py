"""Every AWS resource that our stacks declare, judged by the offline provider without the engine."""

import pytest

from infra.program import run
from support.eks import build
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
    config = find(name).config
    assert problems(record(lambda: run(config))) == []


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_no_model_objects_to_a_stack_with_a_pool_of_every_role(environment: str) -> None:
    recorder = build({"environment": environment})
    assert sum(resource.type.startswith("aws:") for resource in recorder.resources) > 100
    assert problems(recorder) == []
