"""Objects as MLRun CE's chart, Iguazio's services, MLRun and its operators make them, and what must become of each.

``tests/kit/shapes/*.yaml`` has the objects, written by us from their makers' sources, with a link to each;
``tests/kit/table.yaml`` says whether they are admitted, where they can run and with which priority class.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from components.contract.clusters import spot_taint
from components.contract.environments import ClusterKind, Environment, PlatformProfile
from components.contract.groups import NodeGroup
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.mlrun import default_node_selector
from components.contract.priorities import DEFAULT_USER_PRIORITY
from components.contract.taints import Taint

Manifest = dict[str, Any]

FOLDER: Final = Path(__file__).parent.parent / "kit"
NAMESPACES: Final = {PlatformProfile.MLRUN_CE: "mlrun", PlatformProfile.IGUAZIO: "default-tenant"}
"""Where the platform's services run, by profile."""

PLAIN: Final = "plain"
"""A user namespace without core services."""

PEOPLE: Final = ("installer", "scientist", "administrator")
"""Authors that are no service account of the platform's namespace; the administrator is the cluster's."""

BATCH: Final = ("Job", "CronJob")
_APIS: Final = {**dict.fromkeys(("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"), "apps/v1"),
                **dict.fromkeys(BATCH, "batch/v1")}  # fmt: skip
_MAKES: Final = {"Deployment": "ReplicaSet", "CronJob": "Job"}
CONTROLLERS: Final = {"Deployment": "deployment", "ReplicaSet": "replicaset", "StatefulSet": "statefulset",
                       "DaemonSet": "daemon-set", "Job": "job", "CronJob": "cronjob"}  # fmt: skip
"""The cluster's own controller of each kind with a pod template."""


@dataclass(frozen=True)
class Setting:
    """What a verdict depends on."""

    environment: Environment
    profile: PlatformProfile
    engine: str
    """``mutation`` from Kubernetes 1.36 on, ``authors`` before."""
    kind: ClusterKind = ClusterKind.LOCAL

    def __str__(self) -> str:
        words = (
            self.environment,
            self.profile,
            self.engine,
            *((self.kind,) if self.kind is not ClusterKind.LOCAL else ()),
        )
        return "-".join(words)

    @property
    def has_spot_taint(self) -> bool:
        """Whether a taint keeps pods off spot nodes."""
        return spot_taint(self.kind, self.profile) is not None

    @property
    def namespace(self) -> str:
        return NAMESPACES[self.profile]


@dataclass(frozen=True)
class Shape:
    """One object of the kit."""

    name: str
    entry: Mapping[str, Any]
    source: str | None
    """Address of what makes such objects; None for what users write by hand."""
    file: str
    """Name of its file, without suffix."""

    def is_of(self, setting: Setting) -> bool:
        """Return whether there is such an object in clusters of the setting."""
        environments = self.entry.get("environments", [each.value for each in Environment])
        return setting.profile.value in self.entry["profiles"] and setting.environment.value in environments

    def namespace(self, setting: Setting) -> str:
        named: str = self.entry.get("namespace", setting.namespace)
        return named

    def author(self, setting: Setting) -> tuple[str, tuple[str, ...]]:
        """Return user and groups of the request; service accounts may edit their namespace."""
        by = self.entry["by"]
        if by in PEOPLE:
            return ("" if by == "administrator" else by), ()
        return as_account(by, setting.namespace)

    def manifest(self, setting: Setting, groups: Iterable[NodeGroup]) -> Manifest:
        """Return the object as its author sends it, on a cluster with these groups."""
        entry = self.entry
        if "manifest" in entry:
            return dict(entry["manifest"])
        metadata: Manifest = {"name": self.name, "namespace": self.namespace(setting), "labels": dict(entry["labels"])}
        if "owner" in entry:
            metadata["ownerReferences"] = [owner(entry["owner"], "kit")]
        if entry["kind"] == "Pod":
            return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": self._spec(setting, groups)}
        inside = {"labels": dict(entry["labels"]), "annotations": dict(entry.get("annotations", {}))}
        spec: Manifest = {"template": {"metadata": inside, "spec": self._spec(setting, groups)}}
        if entry["kind"] not in BATCH:
            spec["selector"] = {"matchLabels": dict(entry["labels"])}
        if entry["kind"] == "StatefulSet":
            spec["serviceName"] = self.name
        if entry["kind"] == "CronJob":
            spec = {"schedule": "* * * * *", "jobTemplate": {"spec": spec}}
        return {"apiVersion": _APIS[entry["kind"]], "kind": entry["kind"], "metadata": metadata, "spec": spec}

    def _spec(self, setting: Setting, groups: Iterable[NodeGroup]) -> Manifest:
        spec = dict(self.entry["pod"])
        how = self.entry.get("from-mlrun")
        if how and not setting.has_spot_taint:
            # Without a taint to tolerate, MLRun's mode `prevent` keeps pods off spot nodes by affinity.
            demand = {"key": LabelKey.LIFECYCLE.value, "operator": "NotIn", "values": [Lifecycle.SPOT.label_value]}
            terms = {"nodeSelectorTerms": [{"matchExpressions": [demand]}]}
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        if how:
            default = default_node_selector(groups, corrects=setting.engine == "mutation")
            spec["nodeSelector"] = {**default, **spec.get("nodeSelector", {})}
        return {**spec, "priorityClassName": DEFAULT_USER_PRIORITY.value} if how is True else spec

    @property
    def account(self) -> str | None:
        """Service account of its pods."""
        found: str | None = self.entry.get("pod", {}).get("serviceAccountName")
        return found


def as_account(name: str, namespace: str) -> tuple[str, tuple[str, ...]]:
    """Return user and groups of a service account."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return f"system:serviceaccount:{namespace}:{name}", groups


def owner(kind: str, name: str) -> Manifest:
    """Return the reference of a controller that owns an object."""
    return {"apiVersion": _APIS.get(kind, "kit/v1"), "kind": kind, "name": name, "uid": "1", "controller": True}


def shapes() -> dict[str, Shape]:
    """Return all objects by name."""
    found: dict[str, Shape] = {}
    for file in sorted((FOLDER / "shapes").glob("*.yaml")):
        document = yaml.safe_load(file.read_text())
        sources = document.get("sources", {})
        for name, entry in document["shapes"].items():
            assert name not in found, f"{file.name}: {name} is there twice"
            found[name] = Shape(name, {**document["defaults"], **entry}, _link(entry.get("source"), sources), file.stem)
    return found


def _link(source: str | None, sources: Mapping[str, Mapping[str, str]]) -> str | None:
    if source is None:
        return None
    name, _, path = source.partition(":")
    place = sources[name]
    return f"https://github.com/{place['repository']}/blob/{place['commit']}/{place['folder']}/{path}"


def table() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each shape."""
    rows: dict[str, list[dict[str, Any]]] = yaml.safe_load((FOLDER / "table.yaml").read_text())["table"]
    return rows


def fate(rows: Iterable[Mapping[str, Any]], setting: Setting) -> dict[str, Any]:
    """Return what must become of a shape: the last row whose conditions hold, without them."""
    seen = {
        "engine": setting.engine,
        "environment": setting.environment.value,
        "profile": setting.profile.value,
        "kind": setting.kind.value,
    }
    fitting = [row for row in rows if all(row.get(key, value) == value for key, value in seen.items())]
    return {key: value for key, value in fitting[-1].items() if key not in seen}


def is_refused_for(reason: str | list[str], refusal: str) -> bool:
    """Return whether a refusal contains a reason of the kit; of a list any one is enough."""
    return any(each and each in refusal for each in ([reason] if isinstance(reason, str) else reason))


def made_by(controller: Manifest) -> tuple[Manifest, tuple[str, tuple[str, ...]]]:
    """Return the object that a controller's own controller makes next, and as whom."""
    kind, metadata = controller["kind"], controller["metadata"]
    spec = controller["spec"]
    if kind == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    template = spec["template"]
    inside = {key: value for key, value in template["metadata"].items() if key in ("labels", "annotations")}
    own = {"name": f"{metadata['name']}-x", "namespace": metadata["namespace"],
           "ownerReferences": [owner(kind, metadata["name"])]}  # fmt: skip
    author = as_account(f"{CONTROLLERS[kind]}-controller", "kube-system")
    if kind in _MAKES:
        made = _MAKES[kind]
        # The API server adds what identifies a Job's pods by itself.
        kept = {key: value for key, value in spec.items() if key in ("template", "replicas", "selector")}
        return {"apiVersion": _APIS[made], "kind": made, "metadata": {**own, **inside}, "spec": kept}, author
    pod = dict(template["spec"])
    if kind == "DaemonSet":
        fields = [{"key": "metadata.name", "operator": "In", "values": ["initial-0"]}]
        required = {"nodeSelectorTerms": [{"matchFields": fields}]}
        pod["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**own, **inside}, "spec": pod}, author


def pools_for(spec: Manifest, groups: Iterable[NodeGroup]) -> set[str]:
    """Return the pools whose nodes a pod may be placed on by selector, affinity, tolerations and GPUs."""
    return {group.pool for group in groups if _fits(spec, group)}


def _fits(spec: Manifest, group: NodeGroup) -> bool:
    labels = {**group.labels, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    selector, tolerations = spec.get("nodeSelector", {}), spec.get("tolerations", [])
    required = (
        spec.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    )
    terms = required.get("nodeSelectorTerms", [])
    amounts = [each.get("resources", {}).get("limits", {}) for each in spec["containers"]]
    # The scheduler skips a resource of which 0 are requested.
    gpus = {key for each in amounts for key, amount in each.items() if "/" in key and str(amount) != "0"}
    return (
        selector.items() <= labels.items()
        and all(any(_tolerates(toleration, taint) for toleration in tolerations) for taint in group.taints)
        and (not terms or any(all(_meets(d, labels) for d in term.get("matchExpressions", [])) for term in terms))
        and gpus <= {group.gpu_resource}
    )


def _tolerates(toleration: Mapping[str, str], taint: Taint) -> bool:
    wanted = taint.to_kubernetes()
    return (
        toleration.get("key", wanted["key"]) == wanted["key"]
        and toleration.get("effect", wanted["effect"]) == wanted["effect"]
        and (toleration.get("operator") == "Exists" or toleration.get("value", "") == wanted.get("value", ""))
    )


def _meets(demand: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, values = labels.get(demand["key"]), demand.get("values", [])
    return {"In": value in values, "NotIn": value not in values, "Exists": value is not None,
            "DoesNotExist": value is None}[demand["operator"]]  # fmt: skip


def named_pools(name: str | list[str], groups: Iterable[NodeGroup]) -> set[str]:
    """Return the pools that a row names."""
    if isinstance(name, list):
        return set(name)
    plain = {"all": lambda _: True, "untainted": lambda group: not group.taints,
             "user": lambda group: not group.taints and group.holds_user_work and group.lifecycle is Lifecycle.ON_DEMAND
             }[name]  # fmt: skip
    return {group.pool for group in groups if plain(group)}
