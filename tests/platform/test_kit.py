"""MLRun CE, Iguazio's services and what they run, on clusters of every setting: the reviewed table holds."""

from collections.abc import Iterator

import pytest

from components.contract.environments import Environment, PlatformProfile
from support.kit import Setting, Shape, fate, named_pools, shapes, table
from support.kit_site import KitSite, kit_site

SHAPES, TABLE = shapes(), table()
SETTINGS = tuple(
    Setting(environment, profile, engine)
    for profile in PlatformProfile
    for environment in Environment
    for engine in ("mutation", "authors")
)


def test_every_shape_names_its_source_and_has_a_fate() -> None:
    assert set(TABLE) == set(SHAPES)
    by_hand = {name for name, shape in SHAPES.items() if shape.source is None}
    assert {SHAPES[name].entry["by"] for name in by_hand} == {"scientist"}


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KitSite]:
    with kit_site(tmp_path_factory.mktemp(str(request.param)), request.param) as found:
        yield found


@pytest.mark.full
@pytest.mark.control_plane
@pytest.mark.parametrize("name", SHAPES)
def test_the_table_holds(site: KitSite, name: str) -> None:
    shape: Shape = SHAPES[name]
    if not shape.is_of(site.setting):
        pytest.skip("no such object in this setting")
    expected, life = fate(TABLE[name], site.setting), site.live(shape)
    if "refused" in expected:
        assert life.refused
        assert life.ids >= set(expected["refused"])
        return
    assert not life.refused
    if expected:
        assert life.pod
        where = site.pools_of(life.pod)
        assert where if expected["pools"] == "some" else where == named_pools(expected["pools"], site.groups)
        assert life.pod["spec"].get("priorityClassName", "") == expected["class"]


PLACED = ("ml-pipeline-viewer-crd", "mpi-operator", "mlrun-ui", "node-exporter", "shell", "mlrun-job", "dask-worker",
          "nuclio-function-by-its-dashboard", "kfp-plain-step", "plain-pod-without-a-place")  # fmt: skip
"""Shapes without volumes of their own, so that nodes without storage hold them."""


@pytest.mark.full
@pytest.mark.control_plane
@pytest.mark.parametrize("name", PLACED)
def test_the_scheduler_puts_pods_where_the_table_says(site: KitSite, name: str) -> None:
    shape: Shape = SHAPES[name]
    if not shape.is_of(site.setting):
        pytest.skip("no such object in this setting")
    expected = fate(TABLE[name], site.setting)
    if "refused" in expected:
        pytest.skip("refused in this setting")
    assert not site.live(shape).refused
    user, groups = shape.author(site.setting)
    made = shape.manifest(site.setting)
    answer = site.api.create(made, as_user=user, groups=groups)
    assert answer.accepted, answer.message
    try:
        assert site.placed(made) <= named_pools(expected["pools"], site.groups)
    finally:
        site.api.delete(made, propagationPolicy="Background")
