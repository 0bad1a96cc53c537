"""MLRun CE, Iguazio's services and what they run, on clusters of every setting: the reviewed table holds."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from components.contract.environments import ClusterKind, Environment, PlatformProfile
from components.contract.labels import LabelKey
from components.contract.mlrun import PREEMPTIBLE_NODE_SELECTOR
from components.contract.taints import OWN_SPOT_TAINT
from support.cluster import eventually
from support.kit import Manifest, Setting, Shape, fate, is_refused_for, named_pools, shapes, table
from support.kit_site import KitSite, kit_site
from workbench.system.paths import PROJECT_ROOT

SHAPES, TABLE = shapes(), table()
SETTINGS = tuple(
    Setting(environment, profile, engine)
    for profile in PlatformProfile
    for environment in Environment
    for engine in ("mutation", "authors")
)
OTHER_KINDS = tuple(
    Setting(environment, profile, "mutation", kind)
    for kind in (ClusterKind.EKS, ClusterKind.AKS, ClusterKind.EXISTING)
    for environment, profile in (
        (Environment.DEV, PlatformProfile.MLRUN_CE),
        (Environment.PROD, PlatformProfile.MLRUN_CE),
        (Environment.DEV, PlatformProfile.IGUAZIO),
    )
)
"""The stacks of clouds and of clusters that exist: what they declare in a cluster is created in a local one."""


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


STRICTEST = (Environment.PROD, PlatformProfile.MLRUN_CE)
"""What `make test-all` takes of each other kind; what sets environments and profiles apart, local clusters show."""


def other(setting: Setting) -> Any:
    is_kept = (setting.environment, setting.profile) == STRICTEST
    return pytest.param(setting, id=str(setting), marks=[] if is_kept else pytest.mark.proofs)


LOCAL = [pytest.param(setting, id=str(setting)) for setting in SETTINGS]


@pytest.fixture(scope="module", params=[*LOCAL, *map(other, OTHER_KINDS)])
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


CPU = "3"
"""Two such pods fill a node of 8 CPUs, one a node of the pool `jupyter`."""

ON_SPOT = [{"key": key, "operator": "In", "values": [value]} for key, value in PREEMPTIBLE_NODE_SELECTOR.items()]
TERMS = {"nodeSelectorTerms": [{"matchExpressions": ON_SPOT}]}
CONSTRAIN = {
    "tolerations": [OWN_SPOT_TAINT.toleration()],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": TERMS}},
}
"""What MLRun 1.12.1 adds in its mode `constrain`; ``test_kit_mlrun.py`` asks MLRun itself."""

WAITING = {
    "plain-job": ("plain-job-without-a-place", {}),
    "gpu-job": ("mlrun-job-with-gpu", {}),
    "spot-job": ("mlrun-job", CONSTRAIN),
    "notebook": ("jupyter-on-its-pool", {}),
    "mpi-launcher": ("mpi-launcher-v1", {}),
    "mpi-worker-0": ("mpi-worker-v1", {}),
    "mpi-worker-1": ("mpi-worker-v1", {}),
}
"""Shape of each object, and the fields of its pods that it changes."""


def large(site: KitSite, name: str, shape: Shape, fields: Manifest) -> Manifest:
    """Return an object of a shape, whose pods request so much that the nodes at minimum do not hold all."""
    made = shape.manifest(site.setting, site.groups)
    made["metadata"]["name"] = f"grow-{name}"
    inside = made["spec"].get("template", made)
    spec = {key: value for key, value in inside["spec"].items() if key != "volumes"}
    (container, *_) = spec["containers"]
    amounts = {**container.get("resources", {}).get("limits", {}), "cpu": CPU, "memory": "1Gi"}
    kept = {key: value for key, value in container.items() if key != "volumeMounts"}
    spec |= {**fields, "containers": [{**kept, "resources": {"requests": amounts, "limits": amounts}}]}
    inside["spec"] = spec
    return made


def sizes(site: KitSite) -> dict[str, int]:
    """Return how many nodes each pool has."""
    return dict(Counter(each["metadata"]["labels"][LabelKey.POOL] for each in site.cluster.nodes().values()))


def said_of(site: KitSite, reason: str, name: str) -> bool:
    """Return whether the autoscaler gave a reason for pods of an object."""
    items = site.api.send("GET", "/api/v1/events", fieldSelector=f"reason={reason}").body["items"]
    return any(each["involvedObject"]["name"].startswith(f"grow-{name}") for each in items)


@pytest.mark.full
@pytest.mark.control_plane
def test_the_autoscaler_grows_the_pool_of_each_shape_from_its_minimum(site: KitSite) -> None:
    if site.setting.engine != "mutation" or site.setting.profile is not PlatformProfile.MLRUN_CE:
        pytest.skip("one profile on the version of today shows it")
    if site.setting.kind is not ClusterKind.LOCAL:
        pytest.skip("only the autoscaler's provider of local clusters makes nodes here")
    minimum = {each.pool: each.size.min for each in site.groups if each.size.min}
    eventually(lambda: sizes(site) == minimum)
    before = site.cluster.nodes()
    with ExitStack() as stack:

        def create(name: str, shape: Shape, fields: Manifest, **spec: int) -> Manifest:
            manifest = large(site, name, shape, fields)
            manifest["spec"] |= spec
            user, groups = shape.author(site.setting)
            answer = site.api.create(manifest, as_user=user, groups=groups)
            assert answer.accepted, (name, answer.message)
            stack.callback(site.api.delete, manifest, propagationPolicy="Background")
            return manifest

        create("core", SHAPES["mlrun-ui"], {}, replicas=2 * minimum["initial"] + 1)  # one more than the group holds
        eventually(lambda: said_of(site, "NotTriggerScaleUp", "core"))
        assert sizes(site) == minimum
        deployment = create("deployment", SHAPES["deployment-without-a-place"], {}, replicas=5)
        eventually(lambda: said_of(site, "TriggeredScaleUp", "deployment"))
        shown = {name: SHAPES[shape] for name, (shape, _) in WAITING.items() if SHAPES[shape].is_of(site.setting)}
        made = {name: create(name, shape, WAITING[name][1]) for name, shape in shown.items()}
        held = {name: site.nodes_of(each) for name, each in {**made, "deployment": deployment}.items()}
        pool_of = {name: each["metadata"]["labels"][LabelKey.POOL] for name, each in site.cluster.nodes().items()}
        pools = {name: {pool_of[node] for node in each} for name, each in held.items()}
        expected = {name: set(fate(TABLE[shape.name], site.setting)["pools"]) for name, shape in shown.items()}
        assert pools == {**expected, "spot-job": {"spot"}, "deployment": {"workload"}}
        new = pool_of.keys() - before.keys()
        assert {pool_of[each] for each in new} == set().union(*pools.values())
        from_zero = {name for name, each in pools.items() if not each & minimum.keys()}
        assert from_zero >= {"gpu-job", "spot-job"}
        for name in from_zero:
            assert held[name] <= new
            assert said_of(site, "TriggeredScaleUp", name)
        assert not said_of(site, "TriggeredScaleUp", "core")
    eventually(lambda: sizes(site) == minimum)
