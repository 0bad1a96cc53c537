"""Three lines of MLRun place the kit's pods by their own code: they are admitted, and real operators run their jobs."""

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
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from support.admission import Manifest, present
from support.api import path_of
from support.cluster import eventually
from support.kit import Setting, shapes
from support.kit_site import KitSite, binding, kit_site
from support.mlrun_releases import ENDS, NEWEST, RELEASES, python_of
from support.operators import Operator, install, manifests, running
from support.sampled import sampled
from workbench.system import locks

pytestmark = [
    pytest.mark.control_plane,
    pytest.mark.full,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="these releases of MLRun install on Python 3.11"),
]

SHAPES = {
    "mlrun-job": "job",
    "mlrun-kaniko-build": "job",
    "kfp-plain-step": "kfp",
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
    pytest.param(setting, id=str(setting), marks=[] if is_kept else pytest.mark.proofs)
    for profile in PlatformProfile  # spot nodes have a taint with mlrun-ce, and none with iguazio
    for environment in Environment
    for engine in ("mutation", "authors")
    for setting in [Setting(environment, profile, engine)]
    # Each environment with one profile. What sets them apart, test_kit.py shows of every setting by pods of the kit.
    for is_kept in [(environment is Environment.PROD) == (profile is PlatformProfile.MLRUN_CE)]
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


@pytest.fixture(scope="module", params=SETTINGS)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KitSite]:
    with kit_site(tmp_path_factory.mktemp(str(request.param)), request.param) as found:
        yield found


@cache
def placed(release: str, settings: str) -> dict[str, Any]:
    """Return what a release says, given the settings that we write."""
    result = subprocess.run(
        [python_of(release), Path(__file__).with_name("placed_by_mlrun.py")],
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
@pytest.mark.parametrize("release", sampled(RELEASES, ENDS, others=pytest.mark.proofs))
def test_what_mlrun_places_is_admitted(site: KitSite, release: str, name: str, mode: str) -> None:
    settings = site.cluster.get("configmap", "mlrun-override-env", "-n", site.setting.namespace)["data"]
    shape = shapes()[name]
    made = shape.manifest(site.setting, site.groups)
    inside = made["spec"].get("template", made)
    inside["spec"].pop("nodeSelector", None)
    inside["spec"].pop("affinity", None)
    fields = dict(placed(release, json.dumps(settings, sort_keys=True))[SHAPES[name]][mode])
    inside["metadata"]["labels"] |= fields.pop("labels", {})
    containers = {each["name"]: each for each in [*inside["spec"]["containers"], *fields.pop("containers", [])]}
    inside["spec"] |= {**fields, "containers": list(containers.values())}
    user, groups = shape.author(site.setting)
    life = site.follow(site.api.create(made, as_user=user, groups=groups, dryRun="All"))
    assert not life.refused
    assert life.pod
    assert site.pools_of(life.pod) == pools_of(site.setting, release, name, mode)


@pytest.fixture
def own_rights(site: KitSite) -> Iterator[None]:
    """Leave accounts of the namespace only the rights that they get by name, as where MLRun CE is installed."""
    if site.setting.profile is not PlatformProfile.MLRUN_CE:
        pytest.skip("these are the releases and rights of MLRun CE")
    if site.setting.engine == "authors" and site.setting.environment is Environment.DEV:
        pytest.skip("production, which is stricter, shows what real operators meet before 1.36")
    where = site.setting.namespace
    edit = binding("accounts", "edit", "Group", f"system:serviceaccounts:{where}", where)
    assert site.api.delete(edit).accepted
    yield
    assert site.api.create(edit).accepted


MPI_JOBS = {"allow": ("allow", 0), "none": ("none", 0), "gpu": ("none", 1)}
"""Mode of each job, and GPUs of a worker."""


def mpi_job(site: KitSite, name: str, fields: dict[str, Any], gpus: int) -> Manifest:
    """Return an MPIJob as MLRun's ``runtime_handlers/mpijob/v1.py`` builds it; workers alone get what users request."""
    templates = {}
    for role in ("launcher", "worker"):
        made = shapes()[f"mpi-{role}-v1"].manifest(site.setting, site.groups)
        spec = {**made["spec"], **fields}
        del spec["restartPolicy"]
        labels = {"mlrun/class": "mpijob", "mlrun/project": "kit", "mlrun/job": name}
        templates[role] = {"metadata": {"labels": labels}, "spec": spec}
    worker = {**templates["worker"]["spec"]["containers"][0], "command": []}
    if gpus:
        amounts = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": str(gpus)}
        worker["resources"] = {"requests": amounts, "limits": amounts}
    templates["worker"]["spec"]["containers"] = [worker]
    replicas = {
        "Launcher": {"template": templates["launcher"]},
        "Worker": {"replicas": 2, "template": templates["worker"]},
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "MPIJob",
        "metadata": {"name": name, "namespace": site.setting.namespace},
        "spec": {"slotsPerWorker": 1, "cleanPodPolicy": "All", "mpiReplicaSpecs": replicas},
    }


def mpi_operator_objects(where: str) -> list[Manifest]:
    """Return the operator's account and rights in one namespace, and MPIJob in the one version of MLRun CE's chart."""
    objects = manifests("mpi-operator", "deploy/v1/mpi-operator.yaml", "manifests/base/crd.yaml", namespace=where)
    definition = objects[-1]
    (version,) = [each for each in definition["spec"]["versions"] if each["name"] == "v1"]
    definition["spec"]["versions"] = [{**version, "storage": True}]
    bound = binding("mpi-operator", "mpi-operator", "ServiceAccount", "mpi-operator", where)
    bound["subjects"] = [{"kind": "ServiceAccount", "name": "mpi-operator", "namespace": where}]
    return [definition, bound, *(each for each in objects if each["kind"] in {"ServiceAccount", "ClusterRole"})]


def pools_in_use(site: KitSite, pods: list[Manifest]) -> set[str]:
    """Return the pools in which pods run."""
    pools = {name: each["metadata"]["labels"][LabelKey.POOL] for name, each in site.cluster.nodes().items()}
    return {pools[each["spec"]["nodeName"]] for each in pods}


def finished(site: KitSite, made: Manifest, operator: Operator) -> Manifest:
    """Return the status of an object once its operator says that it ended."""

    def look() -> Manifest:
        operator.assert_runs()
        found: Manifest = site.api.send("GET", path_of(made)).body.get("status", {})
        return found if found.get("completionTime") or found.get("finishedAt") else {}

    return eventually(look)


def test_the_mpi_operator_runs_jobs_of_mlrun_to_the_end(
    site: KitSite, own_rights: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The operator, API server, scheduler and autoscaler are real; nodes are simulated, and so is what containers do.

    When all pods of a job run, the test writes into the launcher's status what a kubelet writes when it ended well.
    """
    where = site.setting.namespace
    settings = site.cluster.get("configmap", "mlrun-override-env", "-n", where)["data"]
    modes = placed(NEWEST, json.dumps(settings, sort_keys=True))["mpijob"]
    install(site.api, mpi_operator_objects(where))
    jobs = {}
    for name, (mode, gpus) in MPI_JOBS.items():
        fields = modes[mode]
        if gpus and site.setting.engine == "mutation":  # before 1.36 nothing leads the launcher away from GPU nodes
            fields = {**fields, "nodeSelector": {**fields["nodeSelector"], LabelKey.ROLE.value: PoolRole.GPU.value}}
        jobs[name] = mpi_job(site, f"mpi-{name}", fields, gpus)
    arguments = ("-alsologtostderr", "--kubectl-delivery-image", "mpioperator/kubectl-delivery:v0.3.0",
                 "--namespace", where, "--lock-namespace", where)  # fmt: skip
    # It always serves its health on port 8080, so that tests in other processes wait.
    lock = locks.wait_for(tmp_path_factory.getbasetemp().parent / "mpi-operator.lock")
    try:
        with (
            running(site.cluster, "mpi-operator", "mpi-operator", where, *arguments) as operator,
            present(site.api, jobs.values()),
        ):
            for name, job in jobs.items():
                pods = operator.run(where, f"mpi-job-name=mpi-{name}", 3)
                (launcher,) = [each for each in pods if each["metadata"]["labels"]["mpi-job-role"] == "launcher"]
                workers = [each for each in pods if each is not launcher]
                assert {str(c["securityContext"]) for each in pods for c in each["spec"]["containers"]} == {
                    "{'capabilities': {'add': ['IPC_LOCK']}}"
                }
                assert {each["spec"]["priorityClassName"] for each in pods} == {"igz-workload-medium"}
                mode, gpus = MPI_JOBS[name]
                expected = pools_of(site.setting, NEWEST, "mpi-worker-v1", mode)
                assert pools_in_use(site, workers) <= ({"gpu"} if gpus else expected)
                assert pools_in_use(site, [launcher]) <= expected
                operator.end(launcher)
                status = finished(site, job, operator)
                assert [each["type"] for each in status["conditions"] if each["status"] == "True"][-1] == "Succeeded"
                assert status["replicaStatuses"]["Launcher"] == {"succeeded": 1}
    finally:
        os.close(lock)


def workflow(site: KitSite) -> Manifest:
    """Return two steps of a pipeline as ML Pipelines compiles them: a driver, then the user's step placed by MLRun.

    Drivers hand the patch of a step's pod to the controller as a parameter, which needs a running container; here the
    template contains it.
    """
    where = site.setting.namespace
    settings = site.cluster.get("configmap", "mlrun-override-env", "-n", where)["data"]
    fields = placed(NEWEST, json.dumps(settings, sort_keys=True))["job"]["prevent"]
    driver, step = (
        shapes()[f"kfp2-{name}"].manifest(site.setting, site.groups)["spec"]
        for name in ("container-driver", "impl-step")
    )
    main, launcher = step["containers"][1], step["initContainers"][1]
    templates: list[Manifest] = [
        {"name": "system-container-driver", "container": {**driver["containers"][1], "command": ["driver"]}},
        {"name": "system-container-impl", "container": {**main, "command": ["/kfp-launcher/launch"]},
         "initContainers": [{**launcher, "command": ["launcher-v2"]}], "volumes": step["volumes"],
         "podSpecPatch": json.dumps(fields)},
    ]  # fmt: skip
    tasks = [
        {"name": "driver", "template": "system-container-driver"},
        {"name": "train", "template": "system-container-impl", "depends": "driver.Succeeded"},
    ]
    metadata = {"labels": {"pipeline/runid": "kit"}}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "pipeline", "namespace": where},
        "spec": {
            "entrypoint": "root",
            "serviceAccountName": "pipeline-runner",
            "podMetadata": metadata,
            "templates": [{"name": "root", "dag": {"tasks": tasks}}, *templates],
        },
    }


RUNNING = "workflows.argoproj.io/workflow=pipeline,workflows.argoproj.io/completed=false"


def test_argo_runs_a_pipeline_to_the_end(site: KitSite, own_rights: None) -> None:
    """The controller, API server and scheduler are real; nodes are simulated, and so is what containers do.

    That includes the executor in each pod: it reports no outputs, so that a step ends as its pod does. When a step
    runs, the test writes into its pod's status what a kubelet writes when all containers ended well.
    """
    where = site.setting.namespace
    settings = "{metricsConfig: {enabled: false}, telemetryConfig: {enabled: false}}"
    configured = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"config": settings},
                  "metadata": {"name": "workflow-controller-configmap", "namespace": where}}  # fmt: skip
    published = manifests(
        "workflow-controller", "manifests/base/crds/minimal/*.yaml",
        "manifests/base/workflow-controller/workflow-controller-sa.yaml",
        "manifests/namespace-install/workflow-controller-rbac/*.yaml", namespace=where,
    )  # fmt: skip
    install(site.api, [*published, configured])
    image = "gcr.io/iguazio/argoexec:v3.4.17-license-compliance"
    made = workflow(site)
    with (
        running(site.cluster, "workflow-controller", "argo", where, "--namespaced", "--executor-image", image,
                LEADER_ELECTION_IDENTITY="kit") as operator,
        present(site.api, [made]),
    ):  # fmt: skip
        if site.setting.engine == "authors":  # drivers choose no place, and nothing gives them one
            status = finished(site, made, operator)
            assert "[PL-01]" in json.dumps(status["nodes"])
            return
        for name in ("driver", "impl"):
            (pod,) = operator.run(where, RUNNING, 1)
            assert name in pod["metadata"]["name"]
            assert pools_in_use(site, [pod]) == {"workload"}
            operator.end(pod)
        status = finished(site, made, operator)
        assert status["phase"] == "Succeeded"
