"""`up` in a cloud around a stand-in for the engine: what goes before and after it, and what ends it."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.contract.live_sizes import LIVE_SIZES_VARIABLE, load
from support.cloud_commands import GPU, KILLED, WHAT_AN_INTERRUPT_LEFT, choose, refusal, run, scripted
from support.eks import ADDON, CLUSTER, EXISTING
from support.eks_state import STACK, exported, urn
from support.minors import NEWEST, OLDER
from support.scripted_engine import DONE, PLANNED, ScriptedEngine, said, step
from workbench import stacks
from workbench.cli.cloud_run import CloudRun
from workbench.engine import in_cluster
from workbench.engine.clouds.eks.conditions import EksCondition as Condition
from workbench.engine.lock import held_by, stack_lock
from workbench.system.errors import UserError

RIGHTS = urn(
    "igz-clusters:clusters:EksLoadBalancerRights$aws:eks/podIdentityAssociation:PodIdentityAssociation", "test-ingress"
)
COREDNS = urn(ADDON, "test-addons-coredns")
FAILED = Condition("CREATE_FAILED", ("AsgInstanceLaunchFailures: no capacity (asg-1)",))


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    return scripted(tmp_path, monkeypatch)


def says(monkeypatch: pytest.MonkeyPatch, *answers: dict[str, Condition]) -> None:
    """Let EKS answer with ``answers``, one after the other; the last one holds."""
    left = list(answers)
    ask: Callable[..., dict[str, Condition]] = lambda *_: left.pop(0) if len(left) > 1 else left[0]  # noqa: E731
    monkeypatch.setattr(CloudRun, "ask", ask)


def test_an_update_refreshes_looks_and_reads_the_state_again(engine: ScriptedEngine) -> None:
    done = run("up", STACK, "--yes")
    assert done.exit_code == 0, done.output
    assert engine.commands == ["export", "refresh", "export", "preview", "up", "export"]
    assert engine.calls[1] == ["refresh", "--yes", "--skip-preview", "--run-program=false"]
    assert engine.calls[4] == ["up", "--yes"]


def test_a_first_update_has_nothing_to_refresh(engine: ScriptedEngine) -> None:
    engine.has({})
    assert run("up", STACK, "--yes").exit_code == 0
    assert engine.commands == ["export", "preview", "up", "export"]


@pytest.mark.parametrize(("policy_guard", "is_emptied"), [("warn", True), ("off", False)])
def test_a_cluster_that_goes_is_emptied_before_the_engine_replaces_it(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy_guard: str, is_emptied: bool
) -> None:
    commands: list[list[str]] = []
    kept: list[tuple[bool, bool]] = []

    def empty(*_: object, yes: bool, delete_claims: bool) -> None:
        commands.append(engine.commands)
        kept.append((yes, delete_claims))

    monkeypatch.setattr("workbench.cli.emptying.empty_cluster", empty)
    choose(tmp_path, policyGuard=policy_guard)
    engine.answers("preview", [step("replace", urn(CLUSTER, "test-cluster"), {"inputs": {}, "outputs": {}}), *PLANNED])
    assert run("up", STACK, "--yes", "--delete-claims").exit_code == 0
    assert commands == ([["export", "refresh", "export", "preview"]] if is_emptied else [])
    assert kept == ([(True, True)] if is_emptied else [])


def test_a_cluster_that_stays_is_not_emptied(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.emptying.empty_cluster", lambda *_, **__: pytest.fail("it was emptied"))
    engine.answers("preview", [step("replace", GPU, {"inputs": {}, "outputs": {}}), *PLANNED])
    assert run("up", STACK, "--yes").exit_code == 0


def test_a_cluster_that_eks_would_not_delete_is_not_emptied_either(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.cli.emptying.empty_cluster", lambda *_, **__: pytest.fail("it was emptied"))
    engine.has(exported(live={"test-cluster": {"deletionProtection": True}}))
    engine.answers("preview", [step("replace", urn(CLUSTER, "test-cluster"), {"inputs": {}, "outputs": {}}), *PLANNED])
    refused = refusal("up", STACK, "--yes")
    assert "cannot be replaced yet:" in refused.message
    assert "--no-deletion-protection" in refused.message
    assert "up" not in engine.commands


@pytest.mark.parametrize(
    ("finalizer", "lost", "is_refused"),
    [
        ("group.ingress.k8s.aws/alb", {RIGHTS: "delete"}, True),
        ("ingress.k8s.aws/resources", {RIGHTS: "delete"}, True),
        ("service.k8s.aws/resources", {RIGHTS: "delete"}, True),
        ("example.com/other", {RIGHTS: "delete"}, False),
        ("group.ingress.k8s.aws/alb", {RIGHTS: "replace"}, False),
        # The cluster is emptied.
        ("group.ingress.k8s.aws/alb", {RIGHTS: "delete", urn(CLUSTER, "test-cluster"): "delete"}, False),
        ("group.ingress.k8s.aws/alb", {RIGHTS: "delete", urn(CLUSTER, "test-cluster"): "replace"}, False),
        ("group.ingress.k8s.aws/alb", {GPU: "delete"}, False),
    ],
)
def test_a_load_balancer_controller_keeps_its_rights_as_long_as_it_holds_ingresses(
    engine: ScriptedEngine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    finalizer: str,
    lost: Mapping[str, str],
    is_refused: bool,
) -> None:
    choose(tmp_path, policyGuard="warn")
    kind = "Service" if finalizer.startswith("service") else "Ingress"
    metadata = {"namespace": "mlrun", "name": "ce", "finalizers": [finalizer]}
    held = {"kind": kind, "metadata": metadata, "spec": {"type": "LoadBalancer"}}
    cluster = SimpleNamespace(contents=lambda: in_cluster.contents_of([held]))
    monkeypatch.setattr("workbench.cli.held_ingresses.recorded_cluster", lambda *_: nullcontext(cluster))
    monkeypatch.setattr("workbench.cli.emptying.empty_cluster", lambda *_, **__: None)
    steps = [step(op, each, {"inputs": {}, "outputs": {}}) for each, op in lost.items()]
    engine.answers("preview", [*steps, *PLANNED])
    if is_refused:
        refused = refusal("up", STACK, "--yes")
        still = f"the AWS Load Balancer Controller still holds {kind.lower()} mlrun/ce"
        assert f"cluster.ingress: removed, but {still}" in str(refused)
        assert "up" not in engine.commands
        assert refusal("preview", STACK).message == refused.message
    else:
        assert run("up", STACK, "--yes").exit_code == 0


def test_groups_that_replace_others_are_told_the_live_sizes(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    real = CloudRun.engine
    monkeypatch.setattr(
        CloudRun,
        "engine",
        lambda self, *a: (told.append(self.session.environment[LIVE_SIZES_VARIABLE]), real(self, *a))[1],
    )
    engine.has(exported(live={"test-workload": {"scalingConfig": {"minSize": 1, "desiredSize": 7, "maxSize": 10}}}))
    assert run("up", STACK, "--yes").exit_code == 0
    assert load(told[-1])["workload"] == 7


def test_a_first_update_that_nothing_could_finish_is_refused_before_it_creates_anything(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    choose(tmp_path, cluster__apiClientCidrs=None)
    engine.has({})
    refused = refusal("up", STACK, "--yes")
    assert refused.message.startswith(
        "The first `up` of 'test' could not finish with Pulumi.test.yaml:\n- cluster.apiClientCidrs: is required to "
    )
    assert refused.hint == "Nothing changed in AWS. docs/eks.md has the steps."
    assert engine.commands == ["export"]
    assert refusal("preview", STACK).message == refused.message
    engine.has(exported())  # its owner made a rule by hand
    assert run("up", STACK, "--yes").exit_code == 0
    choose(tmp_path, cluster__apiClientCidrs=None, cluster__publicAccessCidrs=["203.0.113.0/24"])
    engine.has({})
    assert run("up", STACK, "--yes").exit_code == 0


def test_a_first_update_says_that_no_network_is_connected_yet(engine: ScriptedEngine, tmp_path: Path) -> None:
    engine.has({})
    assert "no other network is connected yet" in run("up", STACK, "--yes").stderr
    choose(tmp_path, cluster__network=EXISTING)
    assert "no other network" not in run("up", STACK, "--yes").stderr


def test_an_api_that_does_not_answer_is_named_before_the_engine_waits_for_it(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.cli.cloud_run.silent_api", lambda _: "https://10.0.0.9 (timed out)")
    refused = refusal("up", STACK, "--yes")
    assert refused.message == (
        "The Kubernetes API of 'test' does not answer this machine at https://10.0.0.9 (timed out)."
    )
    assert "The API is private: it answers apiClientCidrs (10.60.0.0/16)" in refused.hint
    assert engine.commands == ["export"]


def test_an_api_that_does_not_answer_the_engine_is_explained(engine: ScriptedEngine) -> None:
    engine.has({})
    error = "configured Kubernetes cluster is unreachable: unable to load schema information: dial tcp: i/o timeout"
    engine.answers("up", [said(error), *DONE], code=255)
    shown = run("up", STACK, "--yes").stderr
    assert "The Kubernetes API does not answer this machine. The API is private: it answers apiClientCidrs (" in shown
    assert "then `igz-clusters up test` continues" in shown


def test_what_the_refresh_wrote_is_said(engine: ScriptedEngine) -> None:
    engine.has(
        exported(), exported(live={"test-gpu": {"scalingConfig": {"minSize": 0, "maxSize": 4, "desiredSize": 3}}})
    )
    assert "node group test-gpu-0a1b2c3 has 3 nodes, had 0." in run("up", STACK, "--yes").stderr


def test_what_a_killed_run_left_is_refused_before_anything_else(engine: ScriptedEngine) -> None:
    engine.has(exported() | {"pending_operations": KILLED})
    assert "creating NodeGroup test-gpu" in refusal("up", STACK, "--yes").message
    assert engine.commands == ["export"]


def test_what_the_gates_refuse_is_refused_before_the_engine_changes_anything(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    choose(tmp_path, cluster__version=NEWEST, pools__workload__size={"min": 5, "max": 10})
    engine.has(exported(live={"test-cluster": {"version": OLDER}}))
    refused = refusal("up", STACK, "--yes")
    assert refused.message.startswith(
        "3 problems block `up`, comparing Pulumi.test.yaml with the live resources:\n- cluster.version: "
    )
    assert "pools.workload.size" in refused.message
    assert "up" not in engine.commands


def test_a_refresh_that_fails_changes_nothing(engine: ScriptedEngine) -> None:
    engine.answers(
        "refresh", [said("configured Kubernetes cluster is unreachable")], code=255, says="unreachable, it says"
    )
    done = run("up", STACK, "--yes")
    assert isinstance(done.exception, UserError)
    assert "could not be compared" in done.exception.message
    assert "configured Kubernetes cluster is unreachable" in done.stderr
    assert "up" not in engine.commands


def test_a_cluster_that_does_not_answer_never_looks_empty_to_the_refresh(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    program = tmp_path / "pulumi"
    spy = f"import os; open({str(tmp_path / 'seen')!r}, 'a').write(os.environ['PULUMI_K8S_DELETE_UNREACHABLE'] + ' ')\n"
    program.write_text(program.read_text().replace("import json", f"{spy}import json", 1))
    run("up", STACK, "--yes")
    assert (tmp_path / "seen").read_text().split() == ["true", "false", "true", "true", "true", "true"]


def test_every_engine_of_an_update_keeps_the_stacks_lock_and_that_of_a_preview_does_not(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    program = tmp_path / "pulumi"
    look = (
        "import glob, os; held = any('/locks/test-' in os.path.realpath(fd) for fd in glob.glob('/proc/self/fd/*'))\n"
        f"open({str(tmp_path / 'seen')!r}, 'a').write(f'{{held}} ')\n"
    )
    program.write_text(program.read_text().replace("import json", f"{look}import json", 1))
    assert run("up", STACK, "--yes").exit_code == 0
    assert (tmp_path / "seen").read_text().split() == ["True"] * len(engine.calls)
    (tmp_path / "seen").unlink()
    run("preview", STACK)
    assert set((tmp_path / "seen").read_text().split()) == {"False"}


@pytest.fixture
def left(engine: ScriptedEngine) -> Iterator[subprocess.Popen[bytes]]:
    """A process of a run that was killed."""
    with stack_lock(STACK, "up", stacks.find(STACK).file) as descriptor:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(descriptor,))
    with child:
        yield child
        child.kill()


def test_nothing_is_changed_while_what_a_killed_run_left_still_works(
    left: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.lock._PATIENCE", 0.0)
    for asked in ("up", "destroy"):
        refused = refusal(asked, STACK, "--yes")
        assert f"its processes still change the stack 'test': {left.pid} " in refused.message
        assert refused.hint.startswith("`igz-clusters recover test`")
    assert not (tmp_path / "calls").exists()


def test_recover_ends_what_a_killed_run_left_before_it_looks_into_the_cloud(
    left: subprocess.Popen[bytes], engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: object) -> None:
        raise UserError(f"looked, with {len(held_by(STACK, stacks.find(STACK).file).processes)} left")

    monkeypatch.setattr("workbench.cli.recover.ensure", lambda *_, **__: engine.toolchain)
    monkeypatch.setattr("workbench.recovery.cloud.open_account", look)
    done = run("recover", STACK, "--yes")
    assert f"`igz-clusters up` (process {os.getpid()}, since " in done.stdout
    assert f"was killed, but its processes are still running: {left.pid} " in done.stdout
    assert str(done.exception) == "looked, with 0 left"


def test_what_is_going_in_an_existing_cluster_is_waited_for_before_anything_is_compared(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(api: str, wanted: Collection[str]) -> None:
        raise UserError(f"{api} still deletes {', '.join(wanted)}")

    monkeypatch.setattr("workbench.cli.cloud_run.open_existing", lambda *_: SimpleNamespace(api="theirs"))
    monkeypatch.setattr("workbench.cli.cloud.wait_for_half_deleted", wait)
    assert refusal("up", STACK, "--yes").message == "theirs still deletes mlrun"
    assert engine.commands == ["export"]


def test_a_failed_group_is_made_anew_which_the_guard_sees_too(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, {GPU: FAILED}, {GPU: FAILED}, {})
    done = run("up", STACK, "--yes")
    assert done.exit_code == 0, done.output
    assert "is CREATE_FAILED: AsgInstanceLaunchFailures: no capacity (asg-1). It will be recreated." in done.stderr
    assert [call for call in engine.calls if "--replace" in call] == [
        ["preview", "--refresh=false", "--replace", GPU],
        ["up", "--replace", GPU, "--yes"],
    ]


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (said('Status=403 Code="LinkedAuthorizationFailed"'), ["--replace", GPU]),
        (step("create", GPU, {}, kind="resOpFailedEvent"), []),
    ],
    ids=["refused for a while", "failed and accepted"],
)
def test_a_further_run_recreates_a_failed_group_that_none_has_recreated(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, first: dict[str, Any], again: list[str]
) -> None:
    monkeypatch.setattr("workbench.cli.cloud_run.sleep", lambda _: None)
    monkeypatch.setattr("workbench.cli.cloud.PATIENCE_DEGRADED", 0.0)
    says(monkeypatch, {GPU: FAILED}, {GPU: FAILED}, {GPU: Condition("DEGRADED")})
    engine.answers("up", [first, *DONE], code=255, number=1)
    run("up", STACK, "--yes")
    runs = [call for call in engine.calls if call[0] == "up"]
    assert runs == [["up", "--replace", GPU, "--yes"], ["up", *again, "--yes", "--skip-preview"]]


def test_a_further_run_recreates_a_failed_group_beside_pending_operations(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.cli.cloud_run.sleep", lambda _: None)
    says(monkeypatch, {GPU: FAILED}, {GPU: FAILED}, {})
    unread = [{"type": "reading", "resource": {"urn": urn(ADDON, "coredns"), "type": ADDON}}]
    engine.has(*[exported()] * 4, exported() | {"pending_operations": unread})
    engine.answers("up", [said('Status=403 Code="LinkedAuthorizationFailed"'), *DONE], code=255, number=1)
    run("up", STACK, "--yes")
    runs = [call for call in engine.calls if call[0] == "up"]
    assert runs[1:] == [["up", "--replace", GPU, "--yes", "--skip-preview"]]


def test_an_update_that_leaves_a_failed_part_fails_whatever_the_engine_says(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, {}, {}, {COREDNS: FAILED})
    refused = refusal("up", STACK, "--yes")
    assert engine.commands[-2:] == ["up", "export"]
    assert refused.message == (
        "The engine finished, but 'test' is not healthy:\n- add-on coredns is CREATE_FAILED: "
        "AsgInstanceLaunchFailures: no capacity (asg-1).\n"
        "  Fix the cause if it is on your side (quota, subnets, machine types); the next `up` recreates it."
    )


def test_an_update_after_which_the_cloud_makes_no_backups_fails(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CloudRun, "backup_problem", lambda _: "Azure makes no backups of the cluster.")
    message = refusal("up", STACK, "--yes").message
    assert message == "The engine finished, but 'test' is not healthy:\n- Azure makes no backups of the cluster."
    assert engine.commands[-2:] == ["up", "export"]


def test_what_is_degraded_for_a_moment_is_waited_for(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    degraded = {COREDNS: Condition("DEGRADED", ("InsufficientNumberOfReplicas: 0",))}
    says(monkeypatch, {}, {}, degraded, degraded, {})
    done = run("up", STACK, "--yes")
    assert done.exit_code == 0, done.output
    assert done.stderr.count("Waiting for the changed resources: add-on coredns (DEGRADED).") == 1


def test_what_stays_degraded_fails_the_update(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.cloud.PATIENCE_DEGRADED", 0.0)
    says(monkeypatch, {}, {}, {COREDNS: Condition("DEGRADED", ("InsufficientNumberOfReplicas: 0",))})
    assert (
        "add-on coredns is DEGRADED: InsufficientNumberOfReplicas: 0.\n  Fix" in refusal("up", STACK, "--yes").message
    )


def test_what_a_killed_run_still_makes_is_waited_for_before_the_refresh(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, {GPU: Condition("CREATING")}, {})
    done = run("up", STACK, "--yes")
    assert done.exit_code == 0, done.output
    assert "Waiting before the change: node group test-gpu-0a1b2c3 (CREATING)." in done.stderr


def test_an_upgrade_takes_control_plane_and_add_ons_first(engine: ScriptedEngine, tmp_path: Path) -> None:
    choose(tmp_path, cluster__version=NEWEST)
    assert run("up", STACK, "--yes").exit_code == 0
    first, whole = (call for call in engine.calls if call[0] == "up")
    targets = [name.rpartition("::")[2] for name in first if name.startswith("urn:")]
    assert sorted(targets) == sorted(
        [
            "test-cluster",
            *(f"test-node-addons-{name}" for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")),
            *(f"test-addons-{name}" for name in ("coredns", "aws-ebs-csi-driver", "metrics-server")),
            "test-addons-eks-node-monitoring-agent",
        ]
    )
    assert whole == ["up", "--yes"]


def test_nodes_stay_where_the_control_plane_could_not_go(engine: ScriptedEngine, tmp_path: Path) -> None:
    choose(tmp_path, cluster__version=NEWEST)
    engine.answers("up", [said("updating EKS Cluster: boom"), *DONE], code=255, number=0)
    assert run("up", STACK, "--yes").exit_code == 1
    assert engine.commands.count("up") == 1


@pytest.mark.parametrize(
    "message",
    [
        "https response error StatusCode: 403, api error ExpiredTokenException: The security token is expired",
        "ExpiredToken: the provided token has expired",
        "the SSO session has expired or is invalid",
    ],
)
def test_credentials_that_run_out_end_with_the_next_step(engine: ScriptedEngine, message: str) -> None:
    engine.answers("up", [said(message), *DONE], code=255)
    refused = refusal("up", STACK, "--yes")
    assert "The session at AWS expired." in refused.hint
    assert "`igz-clusters recover test`" in refused.hint


def test_after_a_failure_of_the_engine_everything_out_of_order_is_named(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.answers("up", [said("creating EKS Node Group: boom"), *DONE], code=255)
    says(monkeypatch, {}, {}, {GPU: FAILED})
    done = run("up", STACK, "--yes")
    assert done.exit_code == 1
    assert "- node group test-gpu-0a1b2c3 is CREATE_FAILED: AsgInstanceLaunchFailures" in done.stderr
    assert "`igz-clusters up test` continues" in done.stderr


def test_what_waited_for_a_group_that_failed_is_updated_all_the_same(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.cli.cloud.PATIENCE_DEGRADED", 0.0)
    engine.answers("up", [step("create", GPU, {}, kind="resOpFailedEvent"), *DONE], code=255, number=1)
    says(monkeypatch, {}, {}, {GPU: Condition("DEGRADED", ("NodeCreationFailure: none joined",))})
    assert "test-gpu-0a1b2c3 is DEGRADED: NodeCreationFailure" in refusal("up", STACK, "--yes").message
    runs = [call for call in engine.calls if call[0] == "up"]
    assert runs == [["up", "--yes"], ["up", "--yes", "--skip-preview"]]


@pytest.mark.parametrize(("failures", "exit_code", "runs"), [(2, 0, 3), (9, 1, 6)])
def test_a_role_that_does_not_hold_yet_is_waited_for_a_few_times(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, failures: int, exit_code: int, runs: int
) -> None:
    pauses = list[float]()
    monkeypatch.setattr("workbench.cli.cloud_run.sleep", pauses.append)
    for number in range(failures):
        engine.answers("up", [said('Status=403 Code="LinkedAuthorizationFailed"'), *DONE], code=255, number=number)
    done = run("up", STACK, "--yes")
    assert done.exit_code == exit_code, done.output
    updates = [call for call in engine.calls if call[0] == "up"]
    assert updates == [["up", "--yes"], *[["up", "--yes", "--skip-preview"]] * (runs - 1)]
    assert pauses == [30, 60, 120, 180, 240][: runs - 1]
    assert f"Retrying in {pauses[-1]:.0f} s, run {runs} of 6." in done.stderr


@pytest.mark.parametrize(
    ("failed", "status"), [((GPU, COREDNS), "DEGRADED"), ((GPU,), "CREATE_FAILED"), ((GPU,), "CREATING"), ((), "")]
)
def test_nothing_goes_on_if_more_than_a_group_failed_or_the_next_run_would_not_leave_it(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, failed: tuple[str, ...], status: str
) -> None:
    failures = [step("create", urn, {}, kind="resOpFailedEvent") for urn in failed]
    engine.answers("up", [*failures, *DONE], code=255)
    says(monkeypatch, {}, {}, {GPU: Condition(status)})
    assert run("up", STACK, "--yes").exit_code == 1
    assert [call for call in engine.calls if call[0] == "up"] == [["up", "--yes"]]


def test_a_name_that_is_taken_may_be_of_a_call_whose_answer_was_lost(engine: ScriptedEngine) -> None:
    engine.answers("up", [said("creating IAM Role: EntityAlreadyExists: Role test already exists."), *DONE], code=255)
    done = run("up", STACK, "--yes")
    assert done.exit_code == 1
    assert (
        "If the existing resource belongs to this stack, `igz-clusters recover test` adds it to the state."
        in done.stderr
    )


def test_whoever_says_no_to_the_plan_hears_nothing_of_failures(engine: ScriptedEngine) -> None:
    engine.answers("up", PLANNED, code=1)
    done = run("up", STACK)
    assert done.exit_code == 1
    assert "Fix the cause" not in done.stderr


NAMESPACE = "kubernetes:core/v1:Namespace"


def with_an_object(state: dict[str, Any]) -> dict[str, Any]:
    made = {"metadata": {"name": "ours", "uid": "ours"}}
    ours = {"urn": urn(NAMESPACE, "ours"), "type": NAMESPACE, "outputs": made}
    return {**state, "resources": [*state["resources"], ours]}


@pytest.mark.parametrize("has_an_object", [False, True])
def test_a_cluster_with_objects_of_the_stack_decides_itself_who_may_change_it(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, has_an_object: bool
) -> None:
    asked = list[CloudRun]()

    def ask(run: CloudRun) -> None:
        asked.append(run)

    monkeypatch.setattr(CloudRun, "require_cluster_admin", ask)
    engine.has(with_an_object(exported()) if has_an_object else exported())
    assert run("up", STACK, "--yes").exit_code == 0
    assert bool(asked) is not has_an_object


TEAM = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "uid": "theirs"}}


@pytest.mark.parametrize("command", ["up", "preview"])
def test_an_object_of_others_in_a_cluster_that_the_stack_created_is_not_taken_over(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    engine.has(with_an_object(exported()))
    engine.answers("preview", [step("create", urn(NAMESPACE, "team"), {"inputs": TEAM}), *PLANNED])
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f"#!/bin/sh\necho '{json.dumps(TEAM)}'\n")
    kubectl.chmod(stat.S_IRWXU)
    monkeypatch.setattr(in_cluster, "kubectl", lambda: kubectl)
    refused = refusal(command, STACK, *(["--yes"] if command == "up" else []))
    assert "1 conflict in the cluster of 'test':\n- Namespace team: found an object of another owner" in refused.message
    assert "up" not in engine.commands


def upgraded_with(engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kubectl: str) -> None:
    """Plan new nodes for the group of GPUs, in a cluster whose API answers as ``kubectl`` does."""
    old = next(each for each in exported()["resources"] if each["urn"] == GPU)
    engine.has(with_an_object(exported()))
    engine.answers("preview", [step("update", GPU, old, changes={"releaseVersion": "1.35.2-20261105"}), *PLANNED])
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\n{kubectl}\n")
    program.chmod(stat.S_IRWXU)
    monkeypatch.setattr(in_cluster, "kubectl", lambda: program)


@pytest.mark.parametrize("command", ["up", "preview"])
def test_a_budget_that_would_stop_an_upgrade_is_named_before_it_begins(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    here = {"name": "scorer", "namespace": "mlrun"}
    status = {"expectedPods": 1, "desiredHealthy": 1, "currentHealthy": 1, "disruptionsAllowed": 0}
    items = [
        {"kind": "Node", "metadata": {"name": "n", "labels": {"eks.amazonaws.com/nodegroup": "test-gpu-0a1b2c3"}}},
        {"kind": "Pod", "metadata": {**here, "labels": {"app": "a"}}, "spec": {"nodeName": "n"}, "status": {}},
        {
            "kind": "PodDisruptionBudget",
            "metadata": here,
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "minAvailable": 1},
            "status": status,
        },
    ]
    upgraded_with(engine, tmp_path, monkeypatch, f"echo '{json.dumps({'items': items})}'")
    refused = refusal(command, STACK, *(["--yes"] if command == "up" else []))
    assert "PodDisruptionBudget mlrun/scorer: lets no pod go (minAvailable 1 of 1)" in refused.message
    assert "the upgrade of the node group test-gpu-0a1b2c3 stops there" in refused.message
    assert refused.hint == "Nothing changed in AWS."
    assert "up" not in engine.commands


def test_an_upgrade_whose_budgets_nobody_can_read_goes_on_with_a_note(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgraded_with(engine, tmp_path, monkeypatch, "echo 'Error from server (Forbidden)' >&2; exit 1")
    done = run("up", STACK, "--yes")
    assert done.exit_code == 0, done.output
    assert "note: Disruption budgets could not be checked before the upgrade: The cluster refuses" in done.stderr


def test_a_zone_without_control_planes_is_given_up_before_the_next_try(engine: ScriptedEngine) -> None:
    code = "UnsupportedAvailabilityZoneException"
    engine.answers("up", [said(f"creating EKS Cluster: {code}: Cannot create cluster 'research'"), *DONE], code=255)
    done = run("up", STACK, "--yes")
    assert "EKS has no control planes in one of the zones of your account." in done.stderr
    assert "Run `igz-clusters destroy test`, choose other letters in cluster.zones, then run `up` again." in done.stderr
    assert "continues" not in done.stderr


@WHAT_AN_INTERRUPT_LEFT
def test_after_an_interrupt_the_next_command_is_the_one_that_works(
    engine: ScriptedEngine, left: list[dict[str, Any]], advice: str
) -> None:
    engine.has(exported(), exported(), exported() | {"pending_operations": left})
    engine.answers("up", DONE, code=8)
    done = run("up", STACK, "--yes")
    assert done.exit_code == 130
    assert advice in done.stderr
    assert ("Stopped." in done.stderr) is not bool(left)
