"""The page of edits against the engine; the whole page takes minutes, so a few rows of every kind stand for it."""

import json
from collections.abc import Iterator

import pytest

from components.contract.eks.choices import EksChoices
from components.contract.namespaces import UserNamespace
from components.contract.policy_choices import PolicyChoices
from components.contract.pools import NodePool
from infra.config import StackConfig
from support.edit_matrix import BASE, EDITS, PAGE, Matrix, deployed

SAMPLES = [
    "nothing",
    "cluster.name",
    "cluster.version",
    "pools, another order",
    "pools, one renamed",
    "pools.initial.instanceTypes",
    "pools.data.instanceTypes",
    "pools.workload.instanceTypes, another shape",
    "namespaces, one more",
]


@pytest.fixture(scope="module")
def matrix() -> Iterator[Matrix]:
    with deployed() as found:
        yield found


@pytest.mark.engine
@pytest.mark.parametrize("name", SAMPLES)
def test_a_row_of_the_page_is_what_the_engine_plans(matrix: Matrix, name: str) -> None:
    planned = matrix.row(name)
    written = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {name} | "))
    # What a refusal met first is a matter of chance; that it is one is not.
    verdict = f"| {name} | refused | "
    assert planned == written or (planned.startswith(verdict) and written.startswith(verdict))


@pytest.mark.engine
def test_another_group_is_made_before_the_old_one_goes(matrix: Matrix) -> None:
    result = matrix.preview("pools.initial.instanceTypes", "--show-replacement-steps")
    steps = [s["op"] for s in json.loads(result.stdout)["steps"] if "NodeGroup::matrix-initial" in s["urn"]]
    assert steps.index("create-replacement") < steps.index("delete-replaced")


@pytest.mark.engine
def test_the_initial_group_goes_from_two_to_three_nodes_and_back_in_place(matrix: Matrix) -> None:
    sizes = [EDITS["pools.initial.size"]["pools.initial.size"], BASE["pools"]["initial"]["size"]]
    assert [size["min"] for size in sizes] == [3, 2]
    for name in ("pools.initial.size", "nothing"):
        result = matrix.up(name)
        assert result.returncode == 0, result.stdout + result.stderr
        assert "replaced" not in result.stdout


def test_the_page_has_a_row_for_every_edit() -> None:
    rows = [line.split(" | ")[0].removeprefix("| ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert rows[1:] == list(EDITS)


def test_every_input_is_edited() -> None:
    edited = {path for changes in EDITS.values() for path in changes}
    cluster = {f"cluster.{field.alias or name}" for name, field in EksChoices.model_fields.items() if name != "kind"}
    # On EKS gpuResource has one value only.
    whole = {field.alias or name for name, field in StackConfig.model_fields.items()} - {"schemaVersion"}
    policies = {f"policies.{field.alias or name}" for name, field in PolicyChoices.model_fields.items()}
    namespaces = {field.alias or name for name, field in UserNamespace.model_fields.items()}
    pools = {field.alias or name for name, field in NodePool.model_fields.items()} - {"gpuResource"}
    assert {each for each in cluster if not any(path.startswith(each) for path in edited)} == set()
    assert {each for each in policies if not any(path.startswith(each) for path in edited)} == set()
    assert {each for each in whole if not any(path.startswith(each) for path in edited)} == set()
    assert {each for each in namespaces if not any(f".{each}" in path for path in edited if "namespaces." in path)} == (
        set()
    )
    assert {each for each in pools if not any(f".{each}" in path for path in edited if "pools." in path)} == set()
