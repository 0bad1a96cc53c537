"""The objects of a unit of work, as the real systems create them.

``tests/kit/shapes`` has the same objects with a link to the source of each; a test compares them.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from components.contract.labels import TRUE, AnnotationKey, LabelKey
from components.contract.pools import PoolRole
from components.contract.priorities import DEFAULT_USER_PRIORITY, SystemPriority
from infra.config import StackConfig
from workbench.rehearsal.play import authors, labels, mpi_jobs
from workbench.rehearsal.play.authors import Author, account, person
from workbench.rehearsal.play.defaults import PlatformDefaults, placed
from workbench.rehearsal.play.units import Manifest, Request, Unit, deployment, horizontal_pod_autoscaler, job, pod
from workbench.rehearsal.scenario.work import Work, WorkKind
from workbench.rehearsal.settings import Pace, Scaler, default_namespace

_MLRUN_IMAGE: Final = "mlrun/mlrun:1.12.1"
_ARGO_IMAGE: Final = "gcr.io/iguazio/argoexec:v3.4.17-license-compliance"
_NOTEBOOK_IMAGE: Final = "quay.io/jupyterhub/k8s-singleuser-sample:4.4.0"
_PLATFORM_IMAGE: Final = "registry.example.invalid/platform/service:1.0"

_DEDICATED: Final = {"key": "hub.jupyter.org/dedicated", "operator": "Equal", "value": "user", "effect": "NoSchedule"}
"""Toleration of all notebooks (zero-to-jupyterhub-k8s 4.4.0, ``jupyterhub/values.yaml``)."""


class Objects:
    """Creates the objects of units for one stack.

    Parameters
    ----------
    config
        The stack's settings.
    pace
        How fast scenario time passes.
    scaler
        What adds and removes nodes. Default: the autoscaler, which the real systems expect.
    """

    def __init__(self, config: StackConfig, pace: Pace, scaler: Scaler = Scaler.CLUSTER_AUTOSCALER) -> None:
        self.defaults = PlatformDefaults(config)
        self._pace = pace
        kept = {AnnotationKey.SAFE_TO_EVICT.value: "false"}
        # Karpenter ignores the first one: a migration to Karpenter requires the second.
        self._kept = {**kept, labels.DO_NOT_DISRUPT: TRUE} if scaler.is_karpenter else kept
        self._makers: dict[WorkKind, Callable[[Unit], tuple[Request, ...]]] = {
            WorkKind.MLRUN_JOB: self._mlrun_job,
            WorkKind.NUCLIO_FUNCTION: self._nuclio_function,
            WorkKind.NOTEBOOK: self._notebook,
            WorkKind.SPARK: lambda unit: (self.spark_driver(unit),),
            WorkKind.DASK: self._dask,
            WorkKind.MPI: self._mpi,
            WorkKind.PIPELINE: lambda unit: (self.step(unit, 0),),
            WorkKind.SERVICE: self._service,
            WorkKind.CORE_SERVICE: self._core_service,
            WorkKind.BATCH_JOB: self._batch_job,
            WorkKind.POD: self._pod,
        }

    def unit(self, name: str, work: Work, index: int) -> Unit:
        """Return a unit of a work, in its namespace."""
        return Unit(name, work, index, work.namespace or default_namespace(self.defaults.config))

    def arriving(self, unit: Unit) -> tuple[Request, ...]:
        """Return what is created when a unit arrives, except its volume; operators may add more later."""
        return self._makers[unit.work.kind](unit)

    def annotations(self, unit: Unit, **others: str) -> dict[str, str]:
        """Return the annotations of pods that end by themselves after the work's time."""
        seconds = unit.work.runs_for
        return {labels.RUN_FOR: self._pace.real_text(seconds), **others} if seconds else others

    def spark_driver(self, unit: Unit) -> Request:
        """Return the driver of a Spark application, as the operator submits it.

        kubeflow/spark-operator v2.5.2, ``internal/controller/sparkapplication/submission.go``. It runs until
        ``operators`` ends it: its work begins with its first executor.
        """
        spec = {
            **self.defaults.by_mlrun(unit.work, unit.namespace),
            "serviceAccountName": authors.SPARK_DRIVER,
            "containers": [self._main("spark-kubernetes-driver", unit, gpus=False)],
        }
        made = pod(unit, f"{unit.object_name}-driver", spec, labels=_spark(unit, "driver"))
        return Request(made, account(authors.SPARK_OPERATOR, unit.namespace))

    def spark_executor(self, unit: Unit, number: int, driver: Mapping[str, Any]) -> Request:
        """Return an executor, which the driver creates and owns.

        apache/spark v3.5, ``resource-managers/kubernetes/core``: ``ExecutorPodsAllocator`` and
        ``BasicExecutorFeatureStep``. Numbers keep counting up, also for replacements.
        """
        metadata = driver["metadata"]
        owner = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": metadata["name"],
            "uid": metadata["uid"],
            "controller": True,
        }
        spec = {
            **self.defaults.by_mlrun(unit.work, unit.namespace),
            "serviceAccountName": authors.SPARK_DRIVER,
            "containers": [self._main("spark-kubernetes-executor", unit)],
        }
        made = pod(unit, f"{unit.object_name}-exec-{number}", spec, labels=_spark(unit, "executor"), owners=[owner])
        return Request(made, account(authors.SPARK_DRIVER, unit.namespace))

    def mpi_launcher(self, unit: Unit) -> Request:
        """Return the launcher of an MPI job: MLRun gives it its default resources, and no GPU.

        mlrun/mlrun c43870ff, ``server/api/runtime_handlers/mpijob/v1.py``; kubeflow/mpi-operator db6930dc,
        ``pkg/controllers/v1/mpi_job_controller.go``.
        """
        main = {"name": "base", "image": _MLRUN_IMAGE, "resources": self.defaults.default_resources}
        return self._of_mpi(unit, "launcher", main)

    def mpi_worker(self, unit: Unit, number: int) -> Request:
        """Return a worker of an MPI job."""
        return self._of_mpi(unit, f"worker-{number}", self._main("base", unit))

    def step(self, unit: Unit, number: int) -> Request:
        """Return a step of a pipeline of MLRun's functions, as Argo creates it.

        kubeflow/pipelines 7b70c7b9, ``argocompiler/container.go``; placement as MLRun compiles it.
        """
        spec = {
            **self.defaults.by_mlrun(unit.work, unit.namespace),
            "serviceAccountName": authors.PIPELINE_RUNNER,
            "containers": [{"name": "wait", "image": _ARGO_IMAGE}, self._main("main", unit)],
        }
        made = pod(
            unit,
            f"{unit.object_name}-step-{number}",
            spec,
            labels={"pipeline/runid": unit.object_name, "workflows.argoproj.io/workflow": unit.object_name,
                    "mlrun/project": "rehearsal", labels.PART: f"step-{number}"},
            annotations=self.annotations(unit),
        )  # fmt: skip
        return Request(made, account(authors.ARGO, unit.namespace))

    def _mlrun_job(self, unit: Unit) -> tuple[Request, ...]:
        """Return the pod of a job: mlrun/mlrun c43870ff, ``server/api/runtime_handlers/kubejob.py``."""
        spec = {**self.defaults.by_mlrun(unit.work, unit.namespace), "containers": [self._main("base", unit)]}
        made = pod(unit, unit.object_name, spec, labels=_mlrun("job", unit), annotations=self.annotations(unit))
        return (Request(made, account(authors.MLRUN, unit.namespace)),)

    def _nuclio_function(self, unit: Unit) -> tuple[Request, ...]:
        """Return the Deployment of a function, and its HorizontalPodAutoscaler.

        nuclio/nuclio 9e837f6a, ``pkg/platform/kube/functionres/lazy.go``: ``createOrUpdateHorizontalPodAutoscaler``
        creates the latter if the maximum is above the minimum.
        """
        spec = {**self.defaults.by_mlrun(unit.work, unit.namespace), "containers": [self._main("nuclio", unit)]}
        marks = {"nuclio.io/app": "functionres", "nuclio.io/class": "function",
                 "nuclio.io/function-name": unit.object_name}  # fmt: skip
        return _scaled(unit, deployment(unit, spec, labels=marks), account(authors.NUCLIO, unit.namespace))

    def _notebook(self, unit: Unit) -> tuple[Request, ...]:
        """Return a user's server, with the values of ``systems/jupyterhub.py``.

        jupyterhub/kubespawner 4161d544, ``kubespawner/objects.py``.
        """
        cluster = self.defaults.cluster
        selector = cluster.gpu_selector if unit.work.devices else cluster.notebook_selector
        fields = placed(unit.work, selector, DEFAULT_USER_PRIORITY.value)
        spec = {
            **fields,
            "tolerations": [*fields.get("tolerations", ()), dict(_DEDICATED)],
            "automountServiceAccountToken": False,
            "containers": [{**self._main("notebook", unit), "image": _NOTEBOOK_IMAGE}],
        }
        made = pod(
            unit,
            f"jupyter-{unit.object_name}",
            spec,
            labels={"component": "singleuser-server", "app.kubernetes.io/managed-by": "kubespawner"},
            annotations=self.annotations(unit, **self._kept),
        )
        return (Request(made, account(authors.HUB, unit.namespace)),)

    def _dask(self, unit: Unit) -> tuple[Request, ...]:
        """Return scheduler and workers of a cluster with a fixed number of replicas.

        mlrun/mlrun c43870ff, ``server/api/runtime_handlers/daskjob.py``.
        """
        base = self.defaults.by_mlrun(unit.work, unit.namespace)
        made = []
        for part in ("scheduler", *(f"worker-{number}" for number in range(unit.work.workers))):
            component = part.partition("-")[0]
            main = self._main("base", unit, gpus=component == "worker")
            marks = {**_mlrun("dask", unit), "dask.org/component": component,
                     "dask.org/cluster-name": unit.object_name, labels.PART: part}  # fmt: skip
            spec = {**base, "containers": [main]}
            name = f"{unit.object_name}-{part}"
            made.append(pod(unit, name, spec, labels=marks, annotations=self.annotations(unit)))
        return tuple(Request(each, account(authors.MLRUN, unit.namespace)) for each in made)

    def _mpi(self, unit: Unit) -> tuple[Request, ...]:
        """Return the job that MLRun creates, then workers and launcher, as the operator's sync creates them."""
        workers, launcher = [self.mpi_worker(unit, each) for each in range(unit.work.workers)], self.mpi_launcher(unit)
        made = {
            "apiVersion": mpi_jobs.VERSION,
            "kind": mpi_jobs.KIND,
            "metadata": {
                "name": unit.object_name,
                "namespace": unit.namespace,
                "labels": {**_mlrun("mpijob", unit), **unit.labels},
            },
            "spec": mpi_jobs.spec_of(launcher.manifest["spec"], workers[0].manifest["spec"], len(workers)),
        }
        return (Request(made, account(authors.MLRUN, unit.namespace)), *workers, launcher)

    def _of_mpi(self, unit: Unit, part: str, main: Manifest) -> Request:
        main = {**main, "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}
        spec = {**self.defaults.by_mlrun(unit.work, unit.namespace), "containers": [main]}
        marks = {**_mlrun("mpijob", unit), "mpi-job-name": unit.object_name,
                 "mpi-job-role": part.partition("-")[0], labels.PART: part}  # fmt: skip
        made = pod(unit, f"{unit.object_name}-{part}", spec, labels=marks)
        return Request(made, account(authors.MPI_OPERATOR, unit.namespace))

    def _service(self, unit: Unit) -> tuple[Request, ...]:
        """Return an application service with the values that ``components/contract/systems`` gives it.

        KServe creates the HorizontalPodAutoscaler of a model server (kserve/kserve aaac4e29,
        ``pkg/controller/v1beta1/inferenceservice/reconcilers/hpa/hpa_reconciler.go``), charts those of other services.
        """
        cluster = self.defaults.cluster
        selector = cluster.gpu_selector if unit.work.devices else cluster.service_selector
        spec = {
            **placed(unit.work, selector, DEFAULT_USER_PRIORITY.value),
            "containers": [{**self._main("service", unit, has_defaults=False), "image": _PLATFORM_IMAGE}],
        }
        return _scaled(unit, deployment(unit, spec), person(authors.INSTALLER))

    def _core_service(self, unit: Unit) -> tuple[Request, ...]:
        """Return a core service: its chart sets no placement, so admission does; before 1.36 its values do."""
        work = unit.work
        values: dict[str, str] = {}
        marks: dict[str, str] = {}
        system = ""
        if not self.defaults.cluster.places_by_itself:
            values = {LabelKey.ROLE.value: PoolRole.INITIAL.value}
            marks = {LabelKey.CORE_SERVICE.value: TRUE}
            system = SystemPriority.MEDIUM.value
        spec = {
            **placed(work, values, system),
            "containers": [{**self._main("service", unit, has_defaults=False), "image": _PLATFORM_IMAGE}],
        }
        return (Request(deployment(unit, spec, labels=marks), person(authors.INSTALLER)),)

    def _batch_job(self, unit: Unit) -> tuple[Request, ...]:
        spec = {**placed(unit.work, {}), "containers": [self._main("main", unit, has_defaults=False)]}
        annotations = {labels.RUN_FOR: labels.ENDLESS, **self.annotations(unit)}
        return (Request(job(unit, spec, annotations=annotations), person(authors.SCIENTIST)),)

    def _pod(self, unit: Unit) -> tuple[Request, ...]:
        made = pod(unit, unit.object_name, unit.work.pod or {}, annotations=self.annotations(unit))
        if "restartPolicy" not in (unit.work.pod or {}):
            del made["spec"]["restartPolicy"]
        return (Request(made, person(authors.SCIENTIST)),)

    def _main(self, name: str, unit: Unit, *, has_defaults: bool = True, gpus: bool = True) -> Manifest:
        resources = self.defaults.resources(unit.work, has_defaults=has_defaults, gpus=gpus)
        return {"name": name, "image": _MLRUN_IMAGE, **({"resources": resources} if resources else {})}


def _scaled(unit: Unit, made: Manifest, author: Author) -> tuple[Request, ...]:
    """Return a Deployment, and a HorizontalPodAutoscaler if its work says so."""
    if not unit.work.scales:
        return (Request(made, author),)
    scaler = horizontal_pod_autoscaler(unit, unit.work.scales)
    return Request(made, author), Request(scaler, author)


def _mlrun(kind: str, unit: Unit) -> dict[str, str]:
    return {"mlrun/class": kind, "mlrun/project": "rehearsal", "mlrun/function": unit.object_name}


def _spark(unit: Unit, role: str) -> dict[str, str]:
    return {"mlrun/class": "spark", "spark-role": role, "sparkoperator.k8s.io/app-name": unit.object_name,
            labels.PART: role}  # fmt: skip
