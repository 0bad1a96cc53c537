"""The pages of edits against the engine; a whole page takes minutes, so a few rows of every kind stand for it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from components.contract.aks.config import AksConfig
from components.contract.choices import ContractModel
from components.contract.eks.config import EksConfig
from components.contract.namespaces import UserNamespace
from components.contract.policy_choices import PolicyChoices
from components.contract.pools import NodePool
from infra.config import StackConfig
from support.edit_matrix import PAGES, Matrix, Page, deployed

SAMPLES = {
    "eks": [
        "nothing",
        "cluster.name",
        "pools, one renamed",
        "pools.initial.instanceTypes",
        "pools.data.instanceTypes",
        "cluster.version",
        "cluster.publicAccessCidrs, none: private",
        "cluster.apiClientCidrs, another",
        "pools, another order",
        "pools.workload.instanceTypes, another shape",
        "namespaces, one more",
        "namespaces.jobs.identity",
    ],
    "aks": [
        "nothing",
        "cluster.version",
        "pools.initial.size",
        "pools.data.instanceTypes",
        "pools.workload.instanceTypes, another",
        "cluster.upgradeChannel, with a data pool",
        "namespaces.jobs.identity",
        "storage, the first, with a volume",
    ],
}


def group(kind: str) -> pytest.MarkDecorator:
    """Let the tests of a page run in one process, for they share its stack, and those of another page beside them."""
    return pytest.mark.xdist_group(f"matrix of {kind}")


KEPT = 1
"""Rows of each page, the first of its samples, that `make test` compares."""
COMPARED = 7
"""Those that `make test-all` compares; `make proofs` compares all samples."""


def marks(kind: str, rank: int) -> list[pytest.MarkDecorator]:
    longer = [] if rank < KEPT else [pytest.mark.full if rank < COMPARED else pytest.mark.proofs]
    return [group(kind), *longer]


ROWS = [
    pytest.param(kind, name, marks=marks(kind, rank))
    for kind, names in SAMPLES.items()
    for rank, name in enumerate(names)
]
CHOICES: dict[str, type[ContractModel]] = {"eks": EksConfig, "aks": AksConfig}


@pytest.fixture(scope="module")
def matrix_of() -> Iterator[Callable[[str], Matrix]]:
    """Give the first stack of a kind's page, brought up once."""
    with ExitStack() as stacks:
        yield cache(lambda kind: stacks.enter_context(deployed(PAGES[kind].stacks[0])))


@pytest.mark.engine
@pytest.mark.parametrize(("kind", "name"), ROWS)
def test_a_row_of_the_page_is_what_the_engine_plans(matrix_of: Callable[[str], Matrix], kind: str, name: str) -> None:
    planned = matrix_of(kind).row(name)
    written = next(line for line in PAGES[kind].file.read_text().splitlines() if line.startswith(f"| {name} | "))
    # What a refusal met first is a matter of chance; that it is one is not.
    verdict = f"| {name} | refused | "
    assert planned == written or (planned.startswith(verdict) and written.startswith(verdict))


@pytest.mark.engine
@pytest.mark.parametrize(
    ("kind", "name", "resource"),
    [
        pytest.param("eks", "pools.initial.instanceTypes", "NodeGroup::matrix-initial", marks=group("eks")),
        pytest.param(
            "aks", "pools.workload.instanceTypes, another", "AgentPool::matrix-pools-workload", marks=group("aks")
        ),
    ],
)
@pytest.mark.full
def test_another_group_is_made_before_the_old_one_goes(
    matrix_of: Callable[[str], Matrix], kind: str, name: str, resource: str
) -> None:
    result = matrix_of(kind).preview(name, "--show-replacement-steps")
    steps = [s["op"] for s in json.loads(result.stdout)["steps"] if resource in s["urn"]]
    assert steps.index("create-replacement") < steps.index("delete-replaced")


@pytest.mark.engine
@pytest.mark.full
@group("eks")
def test_the_initial_group_goes_from_two_to_three_nodes_and_back_in_place(
    matrix_of: Callable[[str], Matrix],
) -> None:
    matrix = matrix_of("eks")
    sizes = [
        matrix.stack.choices(name)["pools"]["initial"]["size"]["min"] for name in ("pools.initial.size", "nothing")
    ]
    assert sizes == [3, 2]
    for name in ("pools.initial.size", "nothing"):
        result = matrix.up(name)
        assert result.returncode == 0, result.stdout + result.stderr
        assert "replaced" not in result.stdout


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_the_page_has_its_head_and_a_row_for_every_edit(page: Page) -> None:
    text = page.file.read_text()
    assert text.startswith(page.head)
    assert [line.split(" | ")[0] for line in text.removeprefix(page.head).splitlines()] == [
        f"| {name}" for name in page.names
    ]


@pytest.mark.parametrize("kind", PAGES)
def test_every_input_is_edited(kind: str) -> None:
    edited = {path for stack in PAGES[kind].stacks for changes in stack.edits.values() for path in changes}
    # In a cloud gpuResource has one value only, and machines are known by their types.
    inputs = {
        "cluster.": keys(CHOICES[kind]) - {"kind"},
        "policies.": keys(PolicyChoices),
        "": keys(StackConfig) - {"schemaVersion"},
    }
    missing = [
        f"{prefix}{key}"
        for prefix, found in inputs.items()
        for key in found
        if not any(path.startswith(f"{prefix}{key}") for path in edited)
    ]
    inner = {"namespaces.": keys(UserNamespace), "pools.": keys(NodePool) - {"gpuResource", "machine"}}
    missing += [
        f"{prefix}*.{key}"
        for prefix, found in inner.items()
        for key in found
        if not any(path.startswith(prefix) and f".{key}" in path for path in edited)
    ]
    assert missing == []


def keys(model: type[ContractModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}
