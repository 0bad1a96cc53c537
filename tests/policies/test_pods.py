"""Pods of operators' resources read as the pods that the operators make."""

from typing import Any

import pytest

from policies.resource import Resource
from policies.values import UNKNOWN, NotJudgeableError, Value
from policies.views.pods import PODS, PodFacts, pods

NUCLIO = "kubernetes:nuclio.io/v1beta1:NuclioFunction"
SPARK = "kubernetes:sparkoperator.k8s.io/v1beta2:SparkApplication"
MPI = "kubernetes:kubeflow.org/v1:MPIJob"


def found(kind: str, props: Any) -> list[PodFacts]:
    return list(pods(Resource(kind, "thing", "urn", Value(props))))


def requests(pod: PodFacts, side: str = "requests", index: int = 0) -> Value:
    return pod.containers()[index].at("resources", side)


def test_a_nuclio_function_is_one_pod_with_its_sidecars() -> None:
    [pod] = found(
        NUCLIO,
        {
            "metadata": {"name": "f", "namespace": "mlrun", "labels": {"app": "f"}},
            "spec": {
                "image": "registry.example.com/f:1",
                "env": [{"name": "A", "value": "1"}],
                "resources": {"requests": {"cpu": "1"}},
                "nodeSelector": {"igz-clusters.io/pool": "jobs"},
                "tolerations": [{"operator": "Exists"}],
                "priorityClassName": "igz-workload-low",
                "serviceAccount": "job",
                "securityContext": {"runAsUser": 1000},
                "sidecars": [{"name": "proxy", "image": "registry.example.com/proxy:1"}],
                "volumes": [{"volume": {"name": "v", "hostPath": {"path": "/"}}, "volumeMount": {"name": "v"}}],
            },
        },
    )
    assert (pod.namespace, pod.label("app"), str(pod)) == ("mlrun", "f", "NuclioFunction 'thing'")
    assert [c.at("name").text() for c in pod.containers()] == ["nuclio", "proxy"]
    assert requests(pod).at("cpu").text() == "1"
    assert pod.spec.at("nodeSelector", "igz-clusters.io/pool").text() == "jobs"
    assert pod.spec.at("tolerations").elements()[0].at("operator").text() == "Exists"
    assert pod.spec.at("priorityClassName").text() == "igz-workload-low"
    assert pod.spec.at("serviceAccountName").text() == "job"
    assert pod.spec.at("securityContext", "runAsUser").integer() == 1000
    assert pod.spec.at("volumes").elements()[0].at("hostPath", "path").text() == "/"


def test_launcher_and_workers_of_an_mpi_job_are_told_apart_as_the_operators_do() -> None:
    template = {"metadata": {"labels": {"mlrun/class": "mpijob"}}, "spec": {"containers": [{"name": "main"}]}}
    replicas = {"Launcher": {"template": template}, "Worker": {"replicas": 4, "template": template}}
    launcher, worker = found(MPI, {"spec": {"mpiReplicaSpecs": replicas}})
    for pod, role in ((launcher, "launcher"), (worker, "worker")):
        assert pod.label("mpi-job-role") == pod.label("training.kubeflow.org/job-role") == role
        assert pod.label("mlrun/class") == "mpijob"
    assert str(launcher) == "MPIJob 'thing' (spec.mpiReplicaSpecs.Launcher.template.spec)"


def test_only_an_operator_with_words_of_its_own_retells_its_pods() -> None:
    templates = {"Launcher": {"template": {"spec": {}}}}
    [nuclio], [driver, executor] = found(NUCLIO, {"spec": {}}), found(SPARK, {"spec": {}})
    [launcher] = found(MPI, {"spec": {"mpiReplicaSpecs": templates}})
    assert [pod.is_retold for pod in (nuclio, driver, executor, launcher)] == [True, True, True, False]


def test_a_scaled_job_makes_the_pods_of_its_template() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main"}]}}
    [pod] = found("kubernetes:keda.sh/v1alpha1:ScaledJob", {"spec": {"jobTargetRef": {"template": template}}})
    assert pod.label("a") == "b"
    assert len(pod.containers()) == 1


APPLICATION: dict[str, Any] = {
    "type": "Python",
    "image": "registry.example.com/spark:3",
    "nodeSelector": {"igz-clusters.io/user-workloads": "true"},
    "batchSchedulerOptions": {"priorityClassName": "igz-workload-low"},
    "driver": {"cores": 1.0, "coreRequest": "500m", "coreLimit": "1200m", "memory": "512m", "labels": {"a": "b"}},
    "executor": {
        "cores": 2.0,
        "memory": "5g",
        "memoryOverhead": "1g",
        "nodeSelector": {"igz-clusters.io/pool": "spot"},
        "priorityClassName": "igz-workload-high",
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "gpu": {"name": "nvidia.com/gpu", "quantity": 2.0},
        "sidecars": [{"name": "log"}],
    },
}


def test_a_spark_application_is_a_driver_and_executors_in_pod_words() -> None:
    driver, executor = found(SPARK, {"metadata": {"namespace": "mlrun"}, "spec": APPLICATION})
    assert (driver.label("a"), driver.label("spark-role"), executor.label("spark-role")) == ("b", "driver", "executor")
    assert requests(driver).at("cpu").text() == "500m"
    assert requests(driver, "limits").at("cpu").text() == "1200m"
    assert requests(executor).at("cpu").text() == "2"
    assert requests(executor, "limits").at("cpu").is_absent
    assert requests(executor, "limits").at("nvidia.com/gpu").text() == "2"
    assert driver.containers()[0].at("image").text() == "registry.example.com/spark:3"
    assert driver.spec.at("nodeSelector").keys() == ("igz-clusters.io/user-workloads",)
    assert executor.spec.at("nodeSelector").keys() == ("igz-clusters.io/pool",)
    assert driver.spec.at("priorityClassName").text() == "igz-workload-low"
    assert executor.spec.at("priorityClassName").text() == "igz-workload-high"
    assert [c.at("name").text() for c in executor.containers()] == ["spark-kubernetes-executor", "log"]


@pytest.mark.parametrize(
    ("part", "application", "expected"),
    [
        ({"memory": "512m"}, {"type": "Scala"}, "896Mi"),  # the smallest overhead, 384 MiB
        ({"memory": "10G"}, {"type": "Java"}, "11264Mi"),
        ({"memory": "10gb"}, {"type": "Python"}, "14336Mi"),
        ({"memory": "1024"}, {"type": "R", "memoryOverheadFactor": "0.5"}, "1536Mi"),
        ({"memory": "5g", "memoryOverhead": "1g"}, {"type": "Scala"}, "6144Mi"),
        ({"memory": "5g", "memoryOverhead": "512"}, {"type": "Scala"}, "5632Mi"),
        ({}, {"type": "Scala"}, "1408Mi"),
    ],
)
def test_a_spark_pod_asks_for_heap_and_overhead_in_kubernetes_units(part: Any, application: Any, expected: str) -> None:
    driver, _ = found(SPARK, {"spec": {**application, "driver": part}})
    assert requests(driver).at("memory").text() == requests(driver, "limits").at("memory").text() == expected


def test_a_pod_template_shows_where_spark_has_no_words_of_its_own() -> None:
    part = {"template": {"spec": {"nodeName": "n1", "serviceAccountName": "a"}}, "serviceAccount": "b"}
    driver, _ = found(SPARK, {"spec": {"driver": part}})
    assert driver.spec.at("nodeName").text() == "n1"
    assert driver.spec.at("serviceAccountName").text() == "b"


def test_a_scheduled_application_is_read_like_its_template() -> None:
    kind = "kubernetes:sparkoperator.k8s.io/v1beta2:ScheduledSparkApplication"
    [driver, _] = found(kind, {"spec": {"schedule": "@daily", "template": APPLICATION}})
    assert requests(driver).at("cpu").text() == "500m"


@pytest.mark.parametrize("amount", [UNKNOWN, "4 apples", ["4g"]])
def test_memory_that_nobody_can_read_leaves_the_rest_of_the_pod_judgeable(amount: Any) -> None:
    driver, executor = found(SPARK, {"spec": {**APPLICATION, "driver": {**APPLICATION["driver"], "memory": amount}}})
    assert requests(driver).at("cpu").text() == "500m"
    assert requests(executor).at("memory").text() == "6144Mi"
    with pytest.raises(NotJudgeableError, match=r"spec.driver.containers\[0\].resources.requests.memory"):
        requests(driver).at("memory").text()


def test_what_is_unknown_in_a_resource_is_unknown_in_its_pod_and_nowhere_else() -> None:
    spec = {"image": "i", "sidecars": UNKNOWN, "nodeSelector": {"a": "b"}}
    [pod] = found(NUCLIO, {"metadata": {}, "spec": spec})
    assert pod.spec.at("nodeSelector", "a").text() == "b"
    with pytest.raises(NotJudgeableError):
        pod.containers()

    driver, executor = found(SPARK, {"spec": {**APPLICATION, "driver": UNKNOWN}})
    assert requests(executor).at("cpu").text() == "2"
    with pytest.raises(NotJudgeableError):
        driver.containers()


def test_pod_rules_run_for_every_kind_that_makes_pods() -> None:
    kinds = ["kubernetes:core/v1:Pod", "kubernetes:batch/v1:CronJob", NUCLIO, SPARK, MPI]
    assert all(PODS.types.fullmatch(kind) for kind in kinds)
    assert not PODS.types.fullmatch("kubernetes:core/v1:PodTemplate")
