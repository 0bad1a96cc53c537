"""Our baseline against Pod Security's own, on a real API server: one namespace is held by each."""

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.labels import LabelKey
from components.contract.pod_security import DAEMON_SET_CONTROLLER, MPI_ROLE_LABELS
from components.contract.policy_choices import AdmissionMode
from components.scheduling.pod_security import PodSecurity, PodSecurityArgs
from support.admission import Manifest, account, namespace, present, ready
from support.api import DRY_RUN, Answer, Api
from support.cluster import Cluster, eventually
from support.recorder import record
from workbench.system.paths import PROJECT_ROOT

pytestmark = pytest.mark.control_plane

MODULE = "k8s.io/pod-security-admission"
THEIRS, OURS, WAIVED = "their-baseline", "our-baseline", "waived-baseline"
IMAGE = "example.invalid/image:1"
CORE = {LabelKey.CORE_SERVICE.value: "true"}


def pod(where: str = OURS, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x", "namespace": where, "labels": labels or {}},
        "spec": {"containers": [{"name": "main", "image": IMAGE}], **spec},
    }


def with_capability(name: str, **labels: str) -> Manifest:
    context = {"capabilities": {"add": [name]}}
    return pod(labels=labels, containers=[{"name": "main", "image": IMAGE, "securityContext": context}])


def policies() -> list[Manifest]:
    """Return the component's policies under names of the test's own, bound to its namespaces only."""
    recorder = record(lambda: PodSecurity("x", PodSecurityArgs(admission=AdmissionMode.DENY)) and None)
    made = [each.inputs for each in recorder.resources if each.type.startswith("kubernetes:")]
    manifests: list[Manifest] = json.loads(json.dumps(made, default=str).replace("igz-pod-security", "tested-baseline"))
    for manifest in manifests:
        manifest["metadata"] = {"name": manifest["metadata"]["name"]}
        if "matchConstraints" in manifest["spec"]:
            manifest["spec"]["matchConstraints"]["namespaceSelector"] = {"matchLabels": {"bound-to": OURS}}
    return sorted(manifests, key=lambda each: each["kind"].endswith("Binding"))


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    made = Api(cluster.kubeconfig())
    theirs = namespace(THEIRS, THEIRS)
    theirs["metadata"]["labels"] |= {"pod-security.kubernetes.io/enforce": "baseline"}
    waived = namespace(WAIVED, OURS, **{"policy.igz-clusters.io/waive-hk-01": "2999-12-31"})
    spaces = [theirs, namespace(OURS, OURS), waived]
    with present(made, [*spaces, *policies()]):
        for each in spaces:
            made.create(account("default", each["metadata"]["name"]))
        ready(made, pod(hostPID=True), "tested-baseline")
        ready(made, template(pod(hostPID=True), "Deployment"), "tested-baseline-foretold")
        yield made


def template(of: Manifest, kind: str) -> Manifest:
    """Return a controller of pods like ``of``."""
    labels = {**(of["metadata"].get("labels") or {}), "app": "x"}
    annotations = of["metadata"].get("annotations") or {}
    inside = {"metadata": {"labels": labels, "annotations": annotations}, "spec": of["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "x", "namespace": of["metadata"]["namespace"]},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": inside},
    }


def compared(api: Api, made: Manifest) -> tuple[Answer, Answer]:
    """Return both answers to one pod, and check that each refusal is of its baseline."""
    answers = []
    for where, says in ((THEIRS, "violates PodSecurity"), (OURS, "tested-baseline")):
        copy = {**made, "metadata": {**made["metadata"], "namespace": where}}
        answer = api.create(copy, **DRY_RUN)
        assert answer.accepted or answer.status != 403 or says in answer.message, answer.message
        answers.append(answer)
    return answers[0], answers[1]


@cache
def fixtures() -> dict[str, Manifest]:
    """Return Kubernetes' own test data for Pod Security, of the newest version; the toolchain pins the module."""
    go = ["go", "mod", "download", "-json", MODULE]
    answer = subprocess.run(go, cwd=PROJECT_ROOT / "toolchain/kubernetes", capture_output=True, text=True, check=True)
    data = Path(json.loads(answer.stdout)["Dir"]) / "test/testdata"
    newest = max((data / "baseline").iterdir(), key=lambda folder: int(folder.name.rpartition(".")[2])).name
    files = [file for level in ("baseline", "restricted") for file in (data / level / newest).rglob("*.yaml")]
    made = {str(file.relative_to(data)): yaml.safe_load(file.read_text()) for file in files}
    for manifest in made.values():  # some names have an underscore, which the API server refuses
        manifest["metadata"]["name"] = "x"
    return made


@pytest.mark.full
def test_our_baseline_says_of_kubernetes_own_test_data_what_pod_security_says(api: Api) -> None:
    differing, refused, impossible = [], 0, set()
    for name, manifest in fixtures().items():
        theirs, ours = compared(api, manifest)
        if 422 in (theirs.status, ours.status):  # refused as an object before any admission
            impossible.add(Path(name).stem.rstrip("0123456789"))
            continue
        foretold = api.create(template({**manifest, "metadata": {**manifest["metadata"], "namespace": OURS}},
                                       "Deployment"), **DRY_RUN)  # fmt: skip
        warned = any("tested-baseline-foretold" in text for text in foretold.warnings)
        if (theirs.status, theirs.accepted) != (ours.status, not warned):
            differing.append((name, theirs.status, ours.status, warned, foretold.message))
        refused += theirs.status == 403
        if name.startswith("baseline"):
            assert theirs.accepted is ("/pass/" in name), name
    assert differing == []
    assert refused > 30
    assert impossible <= {"procmount", "procmount_restricted"}


def _in_container(**fields: Any) -> Callable[[Manifest], None]:
    return lambda made: made["spec"]["containers"][0].update(fields)


def _in_context(**fields: Any) -> Callable[[Manifest], None]:
    def change(made: Manifest) -> None:
        for owner in (made["spec"], made["spec"]["containers"][0]):
            if owner is made["spec"] and fields.keys() & {"privileged", "capabilities", "procMount"}:
                continue
            owner.setdefault("securityContext", {}).update(fields)

    return change


def _in_spec(**fields: Any) -> Callable[[Manifest], None]:
    return lambda made: made["spec"].update(fields)


def _annotated(value: str) -> Callable[[Manifest], None]:
    key = "container.apparmor.security.beta.kubernetes.io/main"
    return lambda made: made["metadata"].update(annotations={key: value})


HOSTS = ("", "127.0.0.1", "example.com")
MUTATIONS: tuple[Callable[[Manifest], None], ...] = (
    *(_in_spec(**{field: value})
      for field in ("hostNetwork", "hostPID", "hostIPC", "hostUsers") for value in (True, False)),
    _in_spec(volumes=[{"name": "v", "hostPath": {"path": "/"}}]),
    _in_spec(volumes=[{"name": "v", "emptyDir": {}}]),
    *(_in_spec(securityContext={"sysctls": [{"name": name, "value": "1"}]})
      for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies", "kernel.msgmax", "net.core.somaxconn")),
    *(_in_container(ports=[{"containerPort": 80, "hostPort": port}]) for port in (0, 80)),
    *(_in_container(**{probe: {kind: {"port": 80, "host": host}}})
      for probe in ("livenessProbe", "readinessProbe", "startupProbe") for kind in ("httpGet", "tcpSocket")
      for host in HOSTS),
    *(_in_container(lifecycle={hook: {"httpGet": {"port": 80, "host": host}}})
      for hook in ("postStart", "preStop") for host in HOSTS),
    *(_in_context(privileged=value) for value in (True, False)),
    *(_in_context(procMount=value) for value in ("Default", "Unmasked")),
    *(_in_context(capabilities={"add": [name]})
      for name in ("CHOWN", "NET_RAW", "IPC_LOCK", "SYS_ADMIN", "ALL", "CAP_CHOWN", "chown")),
    _in_context(capabilities={"drop": ["ALL"]}),
    *(_in_context(**{field: {"type": kind}}) for field in ("appArmorProfile", "seccompProfile")
      for kind in ("RuntimeDefault", "Unconfined")),
    *(_in_context(**{field: {"type": "Localhost", "localhostProfile": "x"}})
      for field in ("appArmorProfile", "seccompProfile")),
    *(_in_context(seLinuxOptions={field: value}) for field, value in (
        ("type", "container_t"), ("type", "container_engine_t"), ("type", "spc_t"), ("user", "u"), ("role", "r"),
        ("level", "s0"), ("type", ""))),
    *(_in_context(windowsOptions={"hostProcess": value}) for value in (True, False)),
    *(_annotated(value) for value in ("", "runtime/default", "localhost/x", "unconfined", "runtime/defaultx")),
)  # fmt: skip


def test_each_single_change_of_a_good_pod_gets_pod_security_s_verdict(api: Api) -> None:
    verdicts = []
    for change in MUTATIONS:
        made = pod()
        change(made)
        theirs, ours = compared(api, made)
        assert theirs.status == ours.status, (made, theirs.message, ours.message)
        verdicts.append(theirs.status)
    assert verdicts.count(403) > 25
    assert verdicts.count(201) > 25


@pytest.mark.full
@settings(max_examples=300)
@given(
    changes=st.lists(st.sampled_from(MUTATIONS), min_size=1, max_size=4),
    move=st.sampled_from(["containers", "initContainers"]),
)
def test_several_changes_get_pod_security_s_verdict(
    api: Api, changes: list[Callable[[Manifest], None]], move: str
) -> None:
    made = pod()
    for change in changes:
        change(made)
    if move == "initContainers":
        changed = {**made["spec"]["containers"][0], "name": "first"}
        made["spec"] |= {"initContainers": [changed], "containers": [{"name": "main", "image": IMAGE}]}
    theirs, ours = compared(api, made)
    assert theirs.status == ours.status, (made, theirs.message, ours.message)


def test_pods_of_mpi_jobs_may_lock_memory_and_nothing_else(api: Api) -> None:
    for key in MPI_ROLE_LABELS:
        for role in ("launcher", "worker"):
            assert api.create(with_capability("IPC_LOCK", **{key: role}), **DRY_RUN).accepted
        # Image builds need no memory limit, so they may not lock memory.
        built = {key: "worker", "mlrun/class": "build"}
        for made in (
            with_capability("SYS_ADMIN", **{key: "worker"}),
            with_capability("IPC_LOCK", **{key: "x"}),
            with_capability("IPC_LOCK", **built),
        ):
            assert api.create(made, **DRY_RUN).status == 403
    assert api.create(with_capability("IPC_LOCK"), **DRY_RUN).status == 403


HOST: Manifest = {
    "hostNetwork": True,
    "hostPID": True,
    "volumes": [{"name": "root", "hostPath": {"path": "/"}}],
    "containers": [
        {
            "name": "main",
            "image": IMAGE,
            "securityContext": {"privileged": True},
            "ports": [{"containerPort": 9100, "hostPort": 9100}],
        }
    ],
}
"""What node-exporter and V3IO's daemons need."""
OWNER = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "x", "uid": "1", "controller": True}
BY_THE_CONTROLLER: dict[str, Any] = {
    "as_user": DAEMON_SET_CONTROLLER,
    "groups": ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"),
}


def daemon(**metadata: Any) -> Manifest:
    made = pod(labels=CORE, **HOST)
    made["metadata"] |= {"ownerReferences": [OWNER], **metadata}
    return made


def test_a_daemon_of_core_services_may_use_its_node(api: Api) -> None:
    assert api.create(daemon(), **BY_THE_CONTROLLER, **DRY_RUN).accepted
    foretold = api.create(template(daemon(ownerReferences=[]), "DaemonSet"), **DRY_RUN)
    assert [text for text in foretold.warnings if "tested-baseline" in text] == []


@pytest.mark.parametrize(
    ("made", "user"),
    [
        (daemon(), {}),
        (daemon(labels={}), BY_THE_CONTROLLER),
        (daemon(ownerReferences=[]), BY_THE_CONTROLLER),
        (daemon(ownerReferences=[{**OWNER, "apiVersion": "v1", "kind": "Node"}]), BY_THE_CONTROLLER),
        (daemon(), {**BY_THE_CONTROLLER, "as_user": "system:serviceaccount:kube-system:replicaset-controller"}),
        (pod(labels=CORE, **HOST, hostIPC=True) | {"metadata": daemon()["metadata"]}, BY_THE_CONTROLLER),
    ],
    ids=["another author", "no mark", "no owner", "another owner", "another controller", "more than host access"],
)
def test_nothing_else_may(api: Api, made: Manifest, user: dict[str, Any]) -> None:
    answer = api.create(made, **user, **DRY_RUN)
    assert answer.status == 403
    assert "tested-baseline" in answer.message
    assert "container main must not set securityContext.privileged" in answer.message or "hostIPC" in answer.message


def test_a_deployment_is_no_daemon(api: Api) -> None:
    foretold = api.create(template(daemon(ownerReferences=[]), "Deployment"), **DRY_RUN)
    assert [text for text in foretold.warnings if "volume root must not have a hostPath" in text]


def debuggers() -> Iterator[Manifest]:
    """Yield the rights of a user who may debug pods, and not install core services."""
    group = "rbac.authorization.k8s.io"
    common = {"apiVersion": f"{group}/v1", "metadata": {"name": "debuggers", "namespace": OURS}}
    rule = {"apiGroups": [""], "resources": ["pods", "pods/ephemeralcontainers"], "verbs": ["get", "patch"]}
    yield {**common, "kind": "Role", "rules": [rule]}
    subject = {"apiGroup": group, "kind": "User", "name": "debugger"}
    reference = {"apiGroup": group, "kind": "Role", "name": "debuggers"}
    yield {**common, "kind": "RoleBinding", "roleRef": reference, "subjects": [subject]}


def started(api: Api, made: Manifest) -> str:
    """Wait for a pod of a DaemonSet, and return its path."""
    path = f"/api/v1/namespaces/{made['metadata']['namespace']}/pods"
    items = eventually(lambda: api.send("GET", path, labelSelector="app=x").body["items"])
    return f"{path}/{items[0]['metadata']['name']}"


def test_only_who_may_install_core_services_adds_a_debug_container_to_a_daemon(api: Api) -> None:
    debug = {"spec": {"ephemeralContainers": [{"name": "debug", "image": IMAGE}]}}
    with present(api, [template(daemon(ownerReferences=[]), "DaemonSet"), *debuggers()]):
        path = started(api, template(daemon(), "DaemonSet"))
        assert api.send("PATCH", path, {"metadata": {"labels": {"x": "y"}}}, as_user="debugger", **DRY_RUN).accepted
        assert api.send("PATCH", f"{path}/ephemeralcontainers", debug, **DRY_RUN).accepted  # by the administrator
        refused = api.send("PATCH", f"{path}/ephemeralcontainers", debug, as_user="debugger", **DRY_RUN)
        assert (refused.status, "tested-baseline" in refused.message) == (403, True), refused.message


def test_a_waiver_of_the_namespace_lets_pods_pass(api: Api) -> None:
    assert api.create(pod(WAIVED, **HOST), **DRY_RUN).accepted


def test_a_daemon_of_core_services_gets_its_pods(api: Api) -> None:
    """In the stack's own namespace, with all of its rules and the cluster's own DaemonSet controller."""
    made = template(daemon(ownerReferences=[], namespace="mlrun"), "DaemonSet")
    with present(api, [made]):
        started(api, made)
