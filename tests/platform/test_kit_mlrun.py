"""Three lines of MLRun place the kit's pods by their own code: the API server admits them in every preemption mode."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.contract.environments import Environment, PlatformProfile
from components.contract.labels import AnnotationKey
from support.kit import Setting, shapes
from support.kit_site import KitSite, kit_site
from workbench.system.virtual_environments import interpreter

pytestmark = [
    pytest.mark.control_plane,
    pytest.mark.full,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="these releases of MLRun install on Python 3.11"),
]

FOLDER = Path(__file__).parent
RELEASES = {"1.12.1": "mlrun", "1.10.4": "mlrun-1.10", "1.8.0": "mlrun-1.8"}
"""Names of the requirement files."""

SHAPES = {
    "mlrun-job": "job",
    "mlrun-kaniko-build": "job",
    "kfp2-impl-step-by-mlrun": "job",
    "nuclio-function-by-mlrun": "nuclio",
    "dask-scheduler": "dask",
    "dask-worker": "dask",
    "mpi-launcher-v1": "mpijob",
    "mpi-worker-v1": "mpijob",
    "spark-driver": "spark",
    "spark-executor": "spark",
}
MODES = ("prevent", "none", "allow", "constrain")
WITHOUT_AN_ANSWER = ("mlrun-kaniko-build", "kfp2-impl-step-by-mlrun")
"""Shapes that MLRun gives no mode: nothing in them is no answer about spot nodes."""

SETTINGS = tuple(
    Setting(environment, profile, engine)
    for profile in PlatformProfile  # spot nodes have a taint with mlrun-ce, and none with iguazio
    for environment in Environment
    for engine in ("mutation", "authors")
)


def pools_of(setting: Setting, release: str, name: str, mode: str) -> set[str]:
    """Return the pools on which the pods of a shape may run in a mode."""
    if mode == "constrain":
        return {"spot"}
    # Before 1.36 MLRun's default selector names no role where there are GPU pools.
    names_role = setting.engine == "mutation" or setting.environment is Environment.PROD
    jobs = {"workload"} if names_role else {"workload", "jupyter"}
    if setting.profile is PlatformProfile.MLRUN_CE:
        return jobs | ({"spot"} if mode == "allow" else set())
    # Before 1.10 the mode none leaves what the default mode wrote into a new function.
    is_prevented = mode == "prevent" or (mode == "none" and release == "1.8.0")
    is_kept_off = is_prevented or (setting.engine == "mutation" and name in WITHOUT_AN_ANSWER)
    return jobs if is_kept_off else {*jobs, "spot"}


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KitSite]:
    with kit_site(tmp_path_factory.mktemp(str(request.param)), request.param) as found:
        yield found


@cache
def placed(release: str, settings: str) -> dict[str, Any]:
    """Return what a release says, given the settings that we write."""
    python = interpreter(FOLDER / f"{RELEASES[release]}-requirements.txt")
    result = subprocess.run(
        [python, FOLDER / "placed_by_mlrun.py"],
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **json.loads(settings)},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    said = json.loads(result.stdout.splitlines()[-1])
    assert said["version"] == release
    found: dict[str, Any] = said["placed"]
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("release", RELEASES)
def test_what_mlrun_places_is_admitted(site: KitSite, release: str, name: str, mode: str) -> None:
    settings = site.cluster.get("configmap", "mlrun-override-env", "-n", site.setting.namespace)["data"]
    shape = shapes()[name]
    made = shape.manifest(site.setting, site.groups)
    inside = made["spec"].get("template", made)
    inside["spec"].pop("nodeSelector")
    inside["spec"].pop("affinity", None)
    inside["spec"] |= placed(release, json.dumps(settings, sort_keys=True))[SHAPES[name]][mode]
    # Work that keeps a state, or whose parts wait for each other, may be interrupted if it says how it starts again.
    inside["metadata"].setdefault("annotations", {})[AnnotationKey.RESTART_PLAN.value] = "retry"
    user, groups = shape.author(site.setting)
    life = site.follow(site.api.create(made, as_user=user, groups=groups, dryRun="All"))
    assert not life.refused
    assert life.pod
    assert site.pools_of(life.pod) == pools_of(site.setting, release, name, mode)
