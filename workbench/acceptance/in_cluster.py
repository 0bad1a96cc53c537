"""Steps that check the cluster: nodes, priority classes and admission, pods, a claim."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from components.contract.clusters import SPOT_TAINTS
from components.contract.groups import NodeGroup, by_pool
from components.contract.labels import OWN_DOMAIN, TRUE, LabelKey
from components.contract.policy_choices import AdmissionMode
from components.contract.pools import PoolRole
from components.contract.storage import DEFAULT_CLASS
from components.contract.taints import ARM_TAINT
from workbench.acceptance.record import FROM_ZERO
from workbench.acceptance.step import Context, StepError
from workbench.engine.kubectl import Api
from workbench.system.errors import UserError

NAMESPACE: Final = "igz-acceptance"
"""Namespace of the run's pods. It is not a user namespace, so admission does not move them to other pools."""

_RUN: Final = f"{OWN_DOMAIN}/acceptance-run"
"""Label of that namespace: the copy whose run created it."""

IMAGE: Final = "registry.k8s.io/pause:3.10"

_JUDGED: Final = ("kubernetes:scheduling.k8s.io/", "kubernetes:admissionregistration.k8s.io/")
"""Types whose objects must be in the cluster as the state has them."""

_REFUSED: Final = "PL-01"
"""Rule that refuses a user pod that may run on the initial group."""

_ANY_POOL: Final = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": LabelKey.ROLE.value, "operator": "Exists"}]}]
        }
    }
}
"""Affinity for any pool, so that admission adds no placement."""


def nodes_as_written(context: Context) -> str:
    """Check that each pool's nodes are ready and have the pool's labels and, of our taints, exactly the pool's."""
    api, groups = context.api, context.config.groups
    context.wait(lambda: node_problems(groups, _items(api, "nodes")), "nodes")
    count = len(_items(api, "nodes", "-l", LabelKey.POOL))
    return f"{count} nodes have the labels and taints of their pools"


def node_problems(groups: Sequence[NodeGroup], nodes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Return what differs between nodes and the groups of a stack file, a line each."""
    ours = {taint.key for taint in (*SPOT_TAINTS, ARM_TAINT, *(each for group in groups for each in group.taints))}
    for name, parts in by_pool(groups).items():
        found = [node for node in nodes if _labels(node).get(LabelKey.POOL) == name]
        least, most = (sum(getattr(part.size, bound) for part in parts) for bound in ("min", "max"))
        if not least <= len(found) <= most:
            yield f"pool {name}: {len(found)} nodes, not {least}..{most}"
        for node in found:
            yield from _differences(node, parts[0], ours)


def _differences(node: Mapping[str, Any], group: NodeGroup, ours: set[str]) -> Iterator[str]:
    where, labels = f"node {node['metadata']['name']}", _labels(node)
    for key, value in group.labels.items():
        if labels.get(key) != value:
            yield f"{where}: label {key} is {labels.get(key)!r}, not {value!r}"
    if LabelKey.USER_WORKLOADS in labels and LabelKey.USER_WORKLOADS not in group.labels:
        yield f"{where}: label {LabelKey.USER_WORKLOADS} is not one of its pool"
    taints = [{key: each.get(key, "") for key in ("key", "value", "effect")} for each in node["spec"].get("taints", [])]
    wanted = [taint.to_kubernetes() for taint in group.taints]
    yield from (f"{where}: taint {_shown(each)} is missing" for each in wanted if each not in taints)
    strange = [each for each in taints if each["key"] in ours and each not in wanted]
    yield from (f"{where}: taint {_shown(each)} is not one of its pool" for each in strange)
    ready = [each["status"] for each in node["status"].get("conditions", []) if each["type"] == "Ready"]
    if ready != ["True"]:
        yield f"{where}: not ready"


def objects_as_written(context: Context) -> str:
    """Check priority classes and admission against the state, and that admission refuses and admits a pod."""
    api, deployment = context.api, context.product.cluster().deployment
    written = [
        each["inputs"]
        for each in deployment.get("resources") or ()
        if each["type"].startswith(_JUDGED) and not each["type"].endswith("Patch")
    ]
    if not written:
        raise StepError("The state has no priority class and no admission policy.")
    problems = list(object_problems(api, written))
    if problems:
        raise StepError("\n".join(problems))
    namespace = next(iter(context.config.namespaces))
    context.wait(lambda: _admission_problems(context, api, namespace), "admission")
    return f"{len(written)} objects are as the state has them; a pod that accepts any pool is refused in '{namespace}'"


def object_problems(api: Api, written: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Return what differs between the written objects and the cluster, a line each."""
    for each in written:
        kind, name = each["kind"], each["metadata"]["name"]
        try:
            live = json.loads(api.run("get", f"{kind}.{each['apiVersion'].partition('/')[0]}", name, "-o", "json"))
        except UserError as error:
            yield f"{kind} {name}: {error.message}"
            continue
        content = {key: value for key, value in each.items() if key not in ("apiVersion", "kind", "metadata")}
        yield from (f"{kind} {name}: {path} differs" for path in missing_from(live, content))


def missing_from(live: Any, written: Any, path: str = "") -> Iterator[str]:
    """Return the paths whose written value the live object does not have; it may have more."""
    if isinstance(written, Mapping) and isinstance(live, Mapping):
        for key, value in written.items():
            if not str(key).startswith("__") and not (value in (None, False) and key not in live):
                yield from missing_from(live.get(key), value, f"{path}.{key}".lstrip("."))
    elif isinstance(written, list) and isinstance(live, list) and len(written) == len(live):
        for index, (had, value) in enumerate(zip(live, written, strict=True)):
            yield from missing_from(had, value, f"{path}[{index}]")
    elif live != written:
        yield path


def _admission_problems(context: Context, api: Api, namespace: str) -> Iterator[str]:
    """Return why admission does not work yet; the API server needs up to half a minute to read a new policy."""
    plain = pod("lost", namespace, affinity=_ANY_POOL)
    user = next(group for group in context.config.groups if group.holds_user_work and not group.gpu_resource)
    chosen = {LabelKey.USER_WORKLOADS.value: TRUE, LabelKey.LIFECYCLE.value: user.labels[LabelKey.LIFECYCLE]}
    right = pod("right", namespace, nodeSelector=chosen)
    refusal, other = (_refusal(api, each) for each in (plain, right))
    if context.config.policies.admission is AdmissionMode.DENY and _REFUSED not in refusal:
        yield f"a pod that accepts any pool is not refused by {_REFUSED}: {refusal or 'it is admitted'}"
    if other:
        yield f"a pod that selects user pools is refused: {other}"


def _refusal(api: Api, manifest: Mapping[str, Any]) -> str:
    try:
        api.run("create", "--dry-run=server", "-o", "name", "-f", "-", stdin=json.dumps(manifest))
    except UserError as error:
        return error.message
    return ""


def pods_land(context: Context) -> str:
    """Check that a pod for each pool is scheduled; the autoscaler adds nodes to pools without any."""
    before = {_labels(node).get(LabelKey.POOL) for node in _items(context.api, "nodes")}
    has_autoscaler = any(group.is_elastic for group in context.config.groups)
    pools = [name for name in context.config.pools if has_autoscaler or name in before]
    empty = [name for name in pools if name not in before]
    context.keep(**{FROM_ZERO: empty, **context.record.seen})
    land(context, pools)
    context.record.seen["landed"] = pools
    known = context.record.seen[FROM_ZERO]
    return f"{', '.join(pools)}; from zero: {', '.join(known) or 'none, all pools had nodes'}"


def land(context: Context, pools: Sequence[str]) -> None:
    """Create a pod for each pool and wait until the scheduler has placed it there."""
    api, groups = context.api, {group.pool: group for group in reversed(context.config.groups)}
    _make_namespace(context, api)
    for pool in pools:
        if pod_name(pool) not in {each["metadata"]["name"] for each in _items(api, "pods", "-n", NAMESPACE)}:
            _apply(api, pod_of(groups[pool]))
    context.wait(lambda: _misplaced(api, pools), "pods to land")


def _make_namespace(context: Context, api: Api) -> None:
    """Create the namespace of the pods; one that another run or a user created is refused."""
    found = json.loads(api.run("get", "namespace", NAMESPACE, "--ignore-not-found", "-o", "json") or "null")
    labels = {_RUN: context.copied.name}
    if found and not labels.items() <= _labels(found).items():
        raise StepError(
            f"The cluster already has a namespace '{NAMESPACE}', and this run did not create it.",
            "Wait for the other acceptance run on this cluster, or delete the namespace.",
        )
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}
    _apply(api, manifest)


def _misplaced(api: Api, pools: Sequence[str]) -> Iterator[str]:
    found = {each["metadata"]["name"]: each for each in _items(api, "pods", "-n", NAMESPACE)}
    homes = {node["metadata"]["name"]: _labels(node).get(LabelKey.POOL) for node in _items(api, "nodes")}
    for pool in pools:
        placed = found.get(pod_name(pool))
        node = placed and placed["spec"].get("nodeName")
        if not placed or not node:
            yield f"pool {pool}: its pod is not scheduled. {_reason(placed or {})}"
        elif homes.get(node) != pool:
            yield f"pool {pool}: its pod is on node {node} of pool {homes.get(node)}"


def _reason(placed: Mapping[str, Any]) -> str:
    conditions = placed.get("status", {}).get("conditions", [])
    return next((each.get("message", "") for each in conditions if each["type"] == "PodScheduled"), "")


def places(context: Context) -> dict[str, str]:
    """Return the node of each of the run's pods, by pod."""
    pods = _items(context.api, "pods", "-n", NAMESPACE)
    return {each["metadata"]["name"]: each["spec"].get("nodeName", "") for each in pods}


def pod_name(pool: str) -> str:
    """Return the name of a pool's pod."""
    return f"pool-{pool}"


def pod_of(group: NodeGroup) -> dict[str, Any]:
    """Return a small pod that can only run on nodes of a group's pool."""
    return pod(
        pod_name(group.pool),
        NAMESPACE,
        device=group.gpu_resource,
        nodeSelector={LabelKey.POOL.value: group.pool},
        tolerations=[taint.toleration() for taint in group.taints],
    )


def pod(name: str, namespace: str, *, device: str | None = None, **spec: Any) -> dict[str, Any]:
    """Return a pod with small requests that breaks no rule except by ``spec``."""
    amounts = {"cpu": "50m", "memory": "32Mi", **({device: "1"} if device else {})}
    safe = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True}
    container = {
        "name": "main",
        "image": IMAGE,
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {**safe, "runAsUser": 65535, "seccompProfile": {"type": "RuntimeDefault"}},
    }
    quiet = {"automountServiceAccountToken": False, "terminationGracePeriodSeconds": 0, "restartPolicy": "Never"}
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**quiet, "containers": [container], **spec},
    }


def no_claims(context: Context) -> str:
    """Return why the stack has no claim that could bind; empty if it has."""
    if _storage_class(context):
        return ""
    return "The stack declares no default storage class, so no driver would create a volume."


def claim_binds(context: Context) -> str:
    """Check that a claim of the stack's storage class binds, in the zone of its pod."""
    pools, name = context.config.pools, "claim"
    pool = next((each for each, pool in pools.items() if pool.role is PoolRole.INITIAL), next(iter(pools)))
    group = next(group for group in context.config.groups if group.pool == pool)
    api = context.api
    _make_namespace(context, api)
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": _storage_class(context),
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    user = pod_of(group)
    user["metadata"]["name"] = name
    user["spec"]["volumes"] = [{"name": name, "persistentVolumeClaim": {"claimName": name}}]
    there = {each["kind"] for each in _items(api, "pvc,pod", "-n", NAMESPACE) if each["metadata"]["name"] == name}
    for manifest in (claim, user):
        if manifest["kind"] not in there:
            _apply(api, manifest)
    context.wait(lambda: _unbound(api, name), "the claim")
    volume = _one(api, "pvc", name, "-n", NAMESPACE)["spec"]["volumeName"]
    node = _one(api, "pod", name, "-n", NAMESPACE)["spec"]["nodeName"]
    zones, home = volume_zones(_one(api, "pv", volume)), _zones(_labels(_one(api, "node", node)))
    if zones and not zones & home:
        raise StepError(
            f"Volume {volume} is in {', '.join(sorted(zones))}, but node {node} in {', '.join(sorted(home))}."
        )
    return f"volume {volume} in {', '.join(sorted(zones)) or 'no zone'}, as node {node}"


def _unbound(api: Api, name: str) -> Iterator[str]:
    if (phase := _one(api, "pvc", name, "-n", NAMESPACE)["status"].get("phase")) != "Bound":
        yield f"claim {name} is {phase}"
    if not _one(api, "pod", name, "-n", NAMESPACE)["spec"].get("nodeName"):
        yield f"its pod is not scheduled. {_reason(_one(api, 'pod', name, '-n', NAMESPACE))}"


def volume_zones(volume: Mapping[str, Any]) -> set[str]:
    """Return the zones in which a volume can be used; empty if it names none."""
    terms = volume["spec"].get("nodeAffinity", {}).get("required", {}).get("nodeSelectorTerms", [])
    asked = [each for term in terms for each in term.get("matchExpressions", []) if each["key"].endswith("/zone")]
    return {value for each in asked for value in each.get("values", []) if value}


def _zones(labels: Mapping[str, str]) -> set[str]:
    return {value for key, value in labels.items() if key.endswith("/zone")}


def _storage_class(context: Context) -> str:
    """Return the name of the default class; classes of shared storage create no disks, or nothing at all."""
    resources = context.product.cluster().deployment.get("resources") or ()
    found = (each["inputs"] for each in resources if each["type"] == "kubernetes:storage.k8s.io/v1:StorageClass")
    defaults = (each for each in found if DEFAULT_CLASS.items() <= (each["metadata"].get("annotations") or {}).items())
    return next((str(each["metadata"]["name"]) for each in defaults), "")


def cleared(context: Context) -> str:
    """Delete what the steps created in the cluster, and wait until it is gone, volumes too."""
    ours = f"{_RUN}={context.copied.name}"
    api = context.api
    api.run("delete", "namespace", "-l", ours, "--ignore-not-found", "--wait=false")
    context.wait(lambda: _still_there(api, ours), "the run's pods and volumes to be deleted")
    return "no pod, claim or volume of the run is left"


def _still_there(api: Api, ours: str) -> Iterator[str]:
    if api.run("get", "namespace", "-l", ours, "--ignore-not-found", "-o", "name").strip():
        yield f"namespace {NAMESPACE} is still there"
    for volume in _items(api, "pv"):
        claim = volume["spec"].get("claimRef", {})
        if claim.get("namespace") == NAMESPACE and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            yield f"volume {volume['metadata']['name']} is still there"


def _items(api: Api, *what: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(api.run("get", *what, "-o", "json"))["items"]
    return items


def _one(api: Api, *what: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(api.run("get", *what, "-o", "json"))
    return found


def _apply(api: Api, manifest: Mapping[str, Any]) -> None:
    api.run("apply", "-f", "-", stdin=json.dumps(manifest))


def _labels(node: Mapping[str, Any]) -> dict[str, str]:
    return node["metadata"].get("labels") or {}


def _shown(taint: Mapping[str, str]) -> str:
    return f"{taint['key']}={taint['value']}:{taint['effect']}"
