"""MLRun CE, Iguazio's services and what they run, on clusters of every setting: the reviewed table holds."""

import json
from collections.abc import Iterator

import pytest

from components.contract.environments import Environment, PlatformProfile
from components.contract.labels import LabelKey
from support.kit import Setting, Shape, fate, is_refused_for, named_pools, shapes, table
from support.kit_site import KitSite, kit_site
from workbench.system.paths import PROJECT_ROOT

SHAPES, TABLE = shapes(), table()
SETTINGS = tuple(
    Setting(environment, profile, engine)
    for profile in PlatformProfile
    for environment in Environment
    for engine in ("mutation", "authors")
)


def test_every_shape_names_its_source_and_has_a_fate() -> None:
    assert set(TABLE) == set(SHAPES)
    assert all(row.get("refused", True) for rows in TABLE.values() for row in rows)
    by_hand = {name for name, shape in SHAPES.items() if shape.source is None}
    assert {SHAPES[name].entry["by"] for name in by_hand} == {"scientist"}


OWN_CHOICES = {"jupyter-on-its-pool": "jupyterNotebook.nodeSelector"}
"""Shapes of MLRun CE's chart with other than its default values, and the documented value."""


@pytest.mark.parametrize("environment", Environment)
def test_the_charts_default_values_put_its_core_services_on_the_initial_group(environment: Environment) -> None:
    """No core service needs a post-renderer: what the table says of them, the API server says in the tests below."""
    setting = Setting(environment, PlatformProfile.MLRUN_CE, "mutation")
    services = [
        name
        for name, shape in SHAPES.items()
        if shape.file == "chart" and "pod" in shape.entry and shape.entry["kind"] != "DaemonSet"
    ]
    fates = {name: fate(TABLE[name], setting) for name in services}
    assert len(fates) > 25
    assert {name for name in services if fates[name]["pools"] != ["initial"]} == set(OWN_CHOICES)
    text = json.dumps([SHAPES[name].entry for name in services if name not in OWN_CHOICES])
    assert LabelKey.ROLE.value not in text
    assert LabelKey.CORE_SERVICE.value not in text
    page = (PROJECT_ROOT / "docs/mlrun-ce.md").read_text()
    assert [value for value in OWN_CHOICES.values() if value not in page] == []


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
        assert [each for each in expected["refused"] if not is_refused_for(each, life.refused)] == []
        return
    assert not life.refused
    if expected:
        assert life.pod
        where = site.pools_of(life.pod)
        assert where == named_pools(expected["pools"], site.groups)
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
    made = shape.manifest(site.setting, site.groups)
    answer = site.api.create(made, as_user=user, groups=groups)
    assert answer.accepted, answer.message
    try:
        assert site.placed(made) <= named_pools(expected["pools"], site.groups)
    finally:
        site.api.delete(made, propagationPolicy="Background")
