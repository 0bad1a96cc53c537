from typing import Any

import pytest

from components.contract.environments import Environment, PlatformProfile
from components.contract.labels import LabelKey
from support.kit import Setting, as_account, shapes
from support.rehearsal_stacks import stack
from workbench.rehearsal.play import authors, labels
from workbench.rehearsal.play.objects import Objects
from workbench.rehearsal.play.units import Request, Unit
from workbench.rehearsal.play.units import volume as bound
from workbench.rehearsal.scenario.work import Work, WorkKind
from workbench.rehearsal.settings import Pace, Scaler

ROLE = LabelKey.ROLE.value
USER = LabelKey.USER_WORKLOADS.value


def work(kind: str, **fields: Any) -> Work:
    return Work.model_validate({"kind": kind, **fields})


def requests(kind: str, *, config: Any = None, **fields: Any) -> tuple[Request, ...]:
    objects = Objects(config or stack(), Pace())
    return objects.arriving(objects.unit("train", work(kind, **fields), 0))


def spec_of(request: Request) -> dict[str, Any]:
    spec = request.manifest["spec"]
    return dict(spec.get("template", {}).get("spec", spec))


def resources(request: Request) -> dict[str, Any]:
    return dict(spec_of(request)["containers"][-1]["resources"])


SHAPES = {
    "mlrun-job": "mlrun-job",
    "nuclio-function": "nuclio-function-by-mlrun",
    "notebook": "jupyterhub-notebook-with-its-values",
    "spark": "spark-driver",
    "dask": "dask-scheduler",
    "mpi": "mpi-worker-v1",
    "pipeline": "kfp-plain-step",
}


@pytest.mark.parametrize(("kind", "name"), SHAPES.items())
def test_an_object_is_what_the_kit_of_real_shapes_has(kind: str, name: str) -> None:
    setting = Setting(Environment.DEV, PlatformProfile.MLRUN_CE, "mutation")
    shape, made = shapes()[name], next(each for each in requests(kind) if each.kind != "MPIJob")
    theirs = shape.manifest(setting, stack().groups)
    assert made.kind == theirs["kind"]
    assert (made.author.user, made.author.groups) == as_account(shape.entry["by"], "mlrun")
    inside = theirs["spec"].get("template", {}).get("spec", theirs["spec"])
    ours = spec_of(made)
    for field in ("nodeSelector", "serviceAccountName", "affinity", "tolerations", "restartPolicy"):
        if field in inside and (name, field) != ("kfp-plain-step", "nodeSelector"):
            assert ours.get(field) == inside[field], field
    assert {each["name"] for each in inside["containers"]} <= {each["name"] for each in ours["containers"]} or (
        kind == "spark"
    )


@pytest.mark.parametrize("kind", [each for each in WorkKind if each is not WorkKind.POD])
def test_every_pod_names_its_work_unit_kind_and_team(kind: WorkKind) -> None:
    for made in requests(kind, team="vision"):
        inside = made.manifest["spec"].get("template", made.manifest)["metadata"]["labels"]
        assert inside[labels.WORK] == "train"
        assert inside[labels.UNIT] == "train-0"
        assert inside[labels.KIND] == kind
        assert inside[labels.TEAM] == "vision"


@pytest.mark.parametrize(
    ("kind", "author", "target"),
    [("nuclio-function", "system:serviceaccount:mlrun:nuclio", 75), ("service", authors.INSTALLER, 80)],
)
def test_work_that_scales_has_an_autoscaler_of_the_same_author(kind: str, author: str, target: int) -> None:
    deployment, scaler = requests(kind, scales={"min": 2, "max": 10})
    assert deployment.manifest["spec"]["replicas"] == 2
    assert (deployment.author.user, scaler.author.user) == (author, author)
    spec = scaler.manifest["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"], "behavior" in spec) == (2, 10, False)
    assert spec["scaleTargetRef"]["name"] == deployment.name
    assert spec["metrics"][0]["resource"]["target"] == {"type": "Utilization", "averageUtilization": target}
    (_, own) = requests(kind, scales={"max": 4, "cpuUtilization": 60})
    assert own.manifest["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 60


def test_an_authors_selector_wins_over_mlruns_default_and_adds_to_it() -> None:
    spec = spec_of(requests("mlrun-job", role="gpu", nodeSelector={"team": "a"})[0])
    assert spec["nodeSelector"] == {USER: "true", ROLE: "gpu", "team": "a"}


def test_a_mode_of_the_work_wins_over_the_stacks() -> None:
    config = stack(platform={"mlrun": {"preemptionMode": "allow"}})
    assert spec_of(requests("mlrun-job", config=config)[0])["tolerations"]
    assert "tolerations" not in spec_of(requests("mlrun-job", config=config, mode="prevent")[0])


def test_steps_of_pipelines_have_no_mode() -> None:
    config = stack(platform={"mlrun": {"preemptionMode": "constrain"}})
    constrained = spec_of(requests("mlrun-job", config=config)[0])
    assert {"affinity", "tolerations"} <= constrained.keys()
    step = spec_of(requests("pipeline", config=config, workers=2)[0])
    assert not {"affinity", "tolerations"} & step.keys()
    assert step["nodeSelector"] == constrained["nodeSelector"]


def test_jobs_of_mlrun_get_the_stacks_default_resources() -> None:
    (made,) = requests("mlrun-job")
    assert resources(made) == stack().pod_resources.model_dump()


def test_a_limit_is_the_request_unless_the_work_says_another() -> None:
    (made,) = requests("mlrun-job", cpu="3", memory="2Gi", memoryLimit="5Gi", gpus=1)
    assert resources(made) == {
        "requests": {"cpu": "3", "memory": "2Gi", "nvidia.com/gpu": "1"},
        "limits": {"cpu": "3", "memory": "5Gi", "nvidia.com/gpu": "1"},
    }


def test_a_launcher_of_mpi_has_default_resources_and_no_gpu() -> None:
    job, *workers, launcher = requests("mpi", gpus=2, cpu="4", workers=3)
    assert [resources(each)["limits"]["nvidia.com/gpu"] for each in workers] == ["2", "2", "2"]
    assert resources(launcher) == stack().pod_resources.model_dump()
    # Admission reads the same from the job, which MLRun creates.
    assert (job.kind, job.author) == ("MPIJob", authors.account(authors.MLRUN, "mlrun"))
    parts = job.manifest["spec"]["mpiReplicaSpecs"]
    assert parts["Worker"] == {"replicas": 3, "template": {"spec": workers[0].manifest["spec"]}}
    assert parts["Launcher"] == {"template": {"spec": launcher.manifest["spec"]}}


def test_notebooks_request_a_gpu_on_the_pools_for_gpus() -> None:
    assert spec_of(requests("notebook")[0])["nodeSelector"] == {ROLE: "jupyter"}
    assert spec_of(requests("notebook", gpus=1)[0])["nodeSelector"] == {ROLE: "gpu"}


def test_core_services_get_a_place_from_the_chart_only_where_admission_gives_none() -> None:
    (made,) = requests("core-service")
    assert "nodeSelector" not in spec_of(made)
    assert made.author.user == authors.INSTALLER


def test_a_pod_is_sent_exactly_as_written() -> None:
    spec = {"containers": [{"name": "own", "image": "own:1"}], "nodeName": "work-0"}
    (made,) = requests("pod", pod=spec)
    assert made.manifest["spec"] == spec
    assert made.author.user == authors.SCIENTIST


def test_pods_run_for_the_works_time_in_real_seconds() -> None:
    (made,) = requests("mlrun-job", runsFor="10m")
    assert made.manifest["metadata"]["annotations"] == {labels.RUN_FOR: "10000ms"}
    (endless,) = requests("mlrun-job")
    assert "annotations" not in endless.manifest["metadata"]
    (batch,) = requests("batch-job")
    assert batch.manifest["spec"]["template"]["metadata"]["annotations"] == {labels.RUN_FOR: labels.ENDLESS}


def test_a_unit_with_a_volume_gets_a_claim_that_is_bound_to_it_in_its_zone() -> None:
    fields = {"size": "10Gi", "zone": "a"}
    (made,) = requests("notebook", volume=fields)
    volume, claim = bound(Objects(stack(), Pace()).unit("train", work("notebook", volume=fields), 0))
    assert volume.manifest["spec"]["nodeAffinity"]["required"]
    assert claim.manifest["spec"]["volumeName"] == volume.name
    assert volume.manifest["spec"]["claimRef"]["name"] == claim.name
    assert spec_of(made)["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim.name


def test_a_drivers_executor_belongs_to_it_and_is_made_by_its_account() -> None:
    objects = Objects(stack(), Pace())
    unit: Unit = objects.unit("etl", work("spark", workers=2), 1)
    made = objects.spark_executor(unit, 7, {"metadata": {"name": "etl-1-driver", "uid": "u"}})
    (owner,) = made.manifest["metadata"]["ownerReferences"]
    assert owner["uid"] == "u"
    assert made.name == "etl-1-exec-7"
    assert made.author == authors.account(authors.SPARK_DRIVER, "mlrun")


def test_every_account_that_makes_pods_exists_with_rights() -> None:
    made = list(authors.accounts(["mlrun"]))
    accounts = {each["metadata"]["name"] for each in made if each["kind"] == "ServiceAccount"}
    for kind in SHAPES:
        for request in requests(kind):
            assert request.author.user.rpartition(":")[2] in accounts
            assert spec_of(request).get("serviceAccountName", authors.MLRUN) in accounts
    assert {each["roleRef"]["name"] for each in made if "roleRef" in each} == {
        "edit",
        "admin",
        "igz-clusters:core-services",
        "igz-clusters-rehearsal-mpi-jobs",
    }


def test_a_notebook_keeps_its_node_from_the_autoscaler_and_in_a_duel_from_karpenter() -> None:
    unit = Objects(stack(), Pace()).unit("book", work("notebook"), 0)
    (usual,), (duel,) = (
        Objects(stack(), Pace(), each).arriving(unit) for each in (Scaler.CLUSTER_AUTOSCALER, Scaler.KARPENTER)
    )
    kept = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    assert usual.manifest["metadata"]["annotations"] == kept
    assert duel.manifest["metadata"]["annotations"] == {**kept, "karpenter.sh/do-not-disrupt": "true"}
