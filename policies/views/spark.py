"""Drivers and executors of Spark applications, translated to the Kubernetes pod API."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Final

from policies.values import NotJudgeableError, Value
from policies.views.operators import (
    PodTemplate,
    labelled,
    or_unknown,
    present,
    raw_elements,
    raw_entries,
    read_or_unknown,
)

_ROLES: Final = ("driver", "executor")

_SPARK_WORDS: Final = (
    "affinity",
    "hostNetwork",
    "initContainers",
    "runtimeClassName",
    "shareProcessNamespace",
    "tolerations",
)
"""Fields with the same name as in a pod."""

_DEFAULT_CORES: Final = "1"
_DEFAULT_MEMORY: Final = "1g"
_MIN_OVERHEAD_MIB: Final = 384
_JVM_OVERHEAD_FACTOR: Final = "0.1"
_OVERHEAD_FACTORS: Final = {"Python": "0.4", "R": "0.4"}
"""Memory of a pod in addition to its heap, relative to it: https://spark.apache.org/docs/latest/running-on-kubernetes.html."""

_MEMORY: Final = re.compile(r"(?P<number>[0-9]+)(?:(?P<unit>[kmgt])b?)?", re.IGNORECASE)
_MIB_OF_UNIT: Final = {"k": Decimal(1) / 1024, "m": Decimal(1), "g": Decimal(1024), "t": Decimal(1024) ** 2}
_FACTOR: Final = re.compile(r"[0-9]*\.?[0-9]+")


def spark_pods(*path: str) -> Callable[[Value], Iterator[PodTemplate]]:
    """Return a finder for driver and executors of the application whose specification is at ``path``.

    https://github.com/kubeflow/spark-operator/blob/master/docs/api-docs.md
    """

    def find(props: Value) -> Iterator[PodTemplate]:
        application = props.at(*path)
        for role in _ROLES:
            part = application.at(role)
            yield (
                labelled(read_or_unknown(partial(_metadata, part), part.path), {"spark-role": role}),
                read_or_unknown(partial(_spec, application, part, role), part.path),
            )

    return find


def _metadata(part: Value) -> dict[str, object]:
    return present(labels=part.at("labels").raw, annotations=part.at("annotations").raw)


def _spec(application: Value, part: Value, role: str) -> dict[str, object]:
    container = present(
        name=f"spark-kubernetes-{role}",
        args=or_unknown(lambda: [*_options(application)]),
        image=_first(part.at("image"), application.at("image")),
        **{key: part.at(key).raw for key in ("env", "envFrom", "securityContext", "volumeMounts")},
        resources={
            "requests": {"cpu": or_unknown(partial(_cpu_request, part)), "memory": _memory_of(application, part)},
            "limits": or_unknown(partial(_limits, application, part)),
        },
    )
    own = present(
        **{key: part.at(key).raw for key in _SPARK_WORDS},
        containers=or_unknown(lambda: [container, *raw_elements(part.at("sidecars"))]),
        nodeSelector=_first(part.at("nodeSelector"), application.at("nodeSelector")),
        priorityClassName=_first(
            part.at("priorityClassName"), application.at("batchSchedulerOptions", "priorityClassName")
        ),
        securityContext=part.at("podSecurityContext").raw,
        serviceAccountName=part.at("serviceAccount").raw,
        volumes=application.at("volumes").raw,
    )
    # Spark starts from the template and overrides its own fields.
    return {**raw_entries(part.at("template", "spec")), **own}


def _options(application: Value) -> Iterator[str]:
    """Return the options that the operator passes to ``spark-submit``."""
    for field in ("sparkConf", "hadoopConf"):
        yield from (f"{name}={value.text()}" for name, value in application.at(field).items())


def _first(*places: Value) -> object:
    return next((place.raw for place in places if not place.is_absent), None)


def _cpu_request(part: Value) -> str:
    # Spark's cores may exceed the pod's request: they set how many tasks run at once.
    return part.at("coreRequest").text() or str(part.at("cores").integer() or _DEFAULT_CORES)


def _limits(application: Value, part: Value) -> dict[str, object]:
    limits = present(cpu=part.at("coreLimit").raw, memory=_memory_of(application, part))
    if gpu := part.at("gpu", "name").text():
        limits[gpu] = str(part.at("gpu", "quantity").integer() or 0)
    return limits


def _memory_of(application: Value, part: Value) -> object:
    return or_unknown(partial(_memory, application, part))


def _memory(application: Value, part: Value) -> str:
    """Return heap and overhead together, which Spark sets as request and limit."""
    factor = application.at("memoryOverheadFactor")
    share = factor.text() or _OVERHEAD_FACTORS.get(application.at("type").text() or "", _JVM_OVERHEAD_FACTOR)
    if not _FACTOR.fullmatch(share):
        raise NotJudgeableError(factor.path, "is not a number")
    heap = _mib(part.at("memory"), _DEFAULT_MEMORY)
    overhead = _mib(part.at("memoryOverhead"), str(max(int(heap * Decimal(share)), _MIN_OVERHEAD_MIB)))
    return f"{int(heap + overhead)}Mi"


def _mib(amount: Value, default: str) -> Decimal:
    match = _MEMORY.fullmatch(amount.text() or default)
    if not match:
        raise NotJudgeableError(amount.path, "must be an amount of memory for Spark, such as 4g")
    return Decimal(match["number"]) * _MIB_OF_UNIT[(match["unit"] or "m").lower()]
