"""Prints where MLRun itself places functions of each kind in each preemption mode; runs in MLRun's environment."""

import json
import sys
from typing import Any

import mlrun
from kfp import compiler, dsl
from kubernetes.client import ApiClient
from mlrun import k8s_utils
from mlrun.projects import MlrunProject
from mlrun.projects.pipelines import pipeline_context

KINDS = ("job", "nuclio", "dask", "mpijob", "spark")


def place(kind: str, mode: str) -> dict[str, Any]:
    """Return the fields of the pods of a function of which only the mode is said."""
    spec = mlrun.new_function("train", kind=kind, image="mlrun/mlrun").spec
    selector = dict(mlrun.mlconf.get_default_function_node_selector())
    if enrich := getattr(k8s_utils, "enrich_preemption_mode", None):
        placed = enrich(mode, selector, spec.tolerations, spec.affinity)
    else:  # before 1.10 the attribute of the mode enriches its own spec
        prefix = "driver_" if kind == "spark" else ""
        spec.node_selector = selector
        setattr(spec, f"{prefix}node_selector", selector)
        setattr(spec, f"{prefix}preemption_mode", mode)
        placed = tuple(getattr(spec, f"{prefix}{field}") for field in ("node_selector", "tolerations", "affinity"))
    fields = zip(("nodeSelector", "tolerations", "affinity"), placed, strict=True)
    as_json = ApiClient().sanitize_for_serialization
    return {key: as_json(value) for key, value in fields if value}


def compiled_step(mode: str) -> dict[str, Any]:
    """Return labels and fields of the pod of a job's step, as MLRun's packages compile its pipeline for Argo."""
    function = mlrun.new_function("train", project="kit", kind="job", image="mlrun/mlrun")
    function.spec.preemption_mode = mode
    project = MlrunProject(metadata={"name": "kit"})
    project.set_function(function, "train")
    pipeline_context.set(project)

    @dsl.pipeline(name="kit")
    def pipeline() -> None:
        function.as_step(name="train", project="kit", use_db=False, labels={})

    workflow = compiler.Compiler()._create_workflow(pipeline)
    (step,) = [each for each in workflow["spec"]["templates"] if "container" in each]
    # The compiler writes the class as `PriorityClassName`, which is no field of Argo's template.
    fields = ("nodeSelector", "tolerations", "affinity", "securityContext")
    return {
        "labels": step["metadata"]["labels"],
        "containers": [{**step["container"], "name": "main"}],
        **{key: step[key] for key in fields if key in step},
    }


if __name__ == "__main__":
    MODES = ("prevent", "none", "allow", "constrain")
    found = {kind: {mode: place(kind, mode) for mode in MODES} for kind in KINDS}
    found["kfp"] = {mode: compiled_step(mode) for mode in MODES}
    sys.stdout.write("\n" + json.dumps({"version": mlrun.__version__, "placed": found}) + "\n")
