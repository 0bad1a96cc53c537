"""Pods of operators' resources, translated to the Kubernetes pod API, so that rules are independent of operators.

Values that are unknown in the operator's resource are unknown in the pod.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from components.contract.pod_security import MPI_ROLE_LABELS
from policies.values import UNKNOWN, NotJudgeableError, Value

PodTemplate = tuple[Value, Value]
"""Metadata and spec of pods."""

_NUCLIO_WORDS: Final = (
    "affinity",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "priorityClassName",
    "runtimeClassName",
    "securityContext",
    "tolerations",
)
"""Fields of a Nuclio function with the same name as in a pod."""


def mpi_replicas(props: Value) -> Iterator[PodTemplate]:
    """Return launcher and workers of an MPIJob."""
    replicas = props.at("spec", "mpiReplicaSpecs")
    for name, replica in replicas.items():
        template = replica.at("template")
        yield labelled(template.at("metadata"), dict.fromkeys(MPI_ROLE_LABELS, name.lower())), template.at("spec")


def replicas(field: str) -> Callable[[Value], Iterator[PodTemplate]]:
    """Return a finder for the pods of a job of Kubeflow's training operator, whose replicas are in ``field``."""

    def find(props: Value) -> Iterator[PodTemplate]:
        for name, replica in props.at("spec", field).items():
            template = replica.at("template")
            yield labelled(template.at("metadata"), {MPI_ROLE_LABELS[1]: name.lower()}), template.at("spec")

    return find


def ray_pods(*path: str) -> Callable[[Value], Iterator[PodTemplate]]:
    """Return a finder for head and workers of the Ray cluster at ``path`` (KubeRay, ``ray.io/v1``)."""

    def find(props: Value) -> Iterator[PodTemplate]:
        cluster = props.at(*path)
        for group in (cluster.at("headGroupSpec"), *cluster.at("workerGroupSpecs").elements()):
            template = group.at("template")
            if not template.is_absent:
                yield template.at("metadata"), template.at("spec")

    return find


def nuclio_function(props: Value) -> Iterator[PodTemplate]:
    """Return the pods of a Nuclio function.

    https://docs.nuclio.io/en/stable/reference/function-configuration/function-configuration-reference.html
    """
    function = props.at("spec")
    yield props.at("metadata"), read_or_unknown(partial(_nuclio_spec, function), function.path)


def _nuclio_spec(function: Value) -> dict[str, object]:
    container = present(
        name="nuclio",
        **{key: function.at(key).raw for key in ("image", "env", "envFrom", "resources")},
        securityContext=function.at("containerSecurityContext").raw,
        volumeMounts=_each(function.at("volumes"), "volumeMount"),
    )
    return present(
        **{key: function.at(key).raw for key in _NUCLIO_WORDS},
        containers=or_unknown(lambda: [container, *raw_elements(function.at("sidecars"))]),
        serviceAccountName=function.at("serviceAccount").raw,
        volumes=_each(function.at("volumes"), "volume"),
    )


def _each(entries: Value, key: str) -> object:
    return or_unknown(lambda: [entry.at(key).raw for entry in entries.elements()])


def read_or_unknown(read: Callable[[], object], path: str) -> Value:
    """Return the result of ``read`` for the value at ``path``; unknown if it reads a value that cannot be known."""
    return Value(or_unknown(read), path)


def or_unknown(read: Callable[[], object]) -> object:
    """Return the result of ``read``; ``UNKNOWN`` if it reads a value that cannot be known."""
    try:
        return read()
    except NotJudgeableError:
        return UNKNOWN


def labelled(metadata: Value, labels: Mapping[str, str]) -> Value:
    """Return ``metadata`` with labels that an operator adds."""

    def read() -> object:
        all_labels = or_unknown(lambda: {**raw_entries(metadata.at("labels")), **labels})
        return present(labels=all_labels, annotations=metadata.at("annotations").raw)

    return read_or_unknown(read, metadata.path)


def present(**words: object) -> dict[str, object]:
    """Return ``words`` without absent ones."""
    return {word: given for word, given in words.items() if given is not None}


def raw_entries(value: Value) -> dict[str, object]:
    """Return the map at this place with its values unchanged."""
    return {key: entry.raw for key, entry in value.items()}


def raw_elements(value: Value) -> list[object]:
    """Return the list at this place with its elements unchanged."""
    return [element.raw for element in value.elements()]
