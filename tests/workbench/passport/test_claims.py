"""What a passport claims: only what there is evidence for."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from policies.registry import RULES
from support.passports import CHECKED, NOW, ORIGIN, passport, sight, stack
from support.verification import Objects
from workbench.acceptance.record import Record, StepRecord
from workbench.acceptance.record import Result as StepResult
from workbench.engine.check import Checked
from workbench.passport.claims import SUBJECTS
from workbench.passport.making import require_recent
from workbench.passport.model import Claim, Covers, Passport, Result
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.report import as_json
from workbench.rehearsal.verdicts.verdict import Verdict
from workbench.report.causes import Cause
from workbench.report.model import Finding, FindingStatus, Judge
from workbench.system.errors import UserError
from workbench.verification.verify import CHECKS, OBJECTS

PASSED, FAILED, UNKNOWN = Result.PASSED, Result.FAILED, Result.NOT_VERIFIED


def by_id(made: Passport) -> Mapping[str, Claim]:
    claims = {claim.id: claim for claim in made.claims}
    assert len(claims) == len(made.claims), "an id twice"
    return claims


def untainted(objects: Objects) -> None:
    objects["Node", "", "gpu-0"]["spec"]["taints"] = []


def checked(*findings: tuple[str, FindingStatus], **changes: Any) -> Checked:
    causes = tuple(
        Cause(Finding(rule, standing, Judge.OWN, "urn", "is wrong", waiver="until 2027-01-01 by us (OPS-1: soon)"), ())
        for rule, standing in findings
    )
    return replace(CHECKED, causes=causes, **changes)


@pytest.fixture(scope="module")
def clean() -> Mapping[str, Claim]:
    return by_id(passport("existing"))


def test_every_check_every_rule_and_every_restore_has_a_claim(clean: Mapping[str, Claim]) -> None:
    assert set(SUBJECTS) == {OBJECTS, *CHECKS}
    wanted = {f"contract/{each}" for each in SUBJECTS} | {f"rule/{rule.id}" for rule in RULES}
    assert wanted | {"rehearsal", "acceptance", "restore"} <= set(clean)


def test_what_was_seen_passes_with_its_evidence(clean: Mapping[str, Claim]) -> None:
    labels = clean["contract/node-labels"]
    assert (labels.result, labels.covers) == (PASSED, Covers.WHOLE)
    assert [each.source for each in labels.evidence] == ["igz-clusters verify"]
    assert labels.detail.endswith("pools")
    assert clean["contract/objects"].result is PASSED
    assert clean["rule/NG-07"].result is PASSED
    assert [(each.source, each.at) for each in clean["rule/NG-07"].evidence] == [("igz-clusters check", NOW)]


def test_what_is_not_there_is_not_verified(clean: Mapping[str, Claim]) -> None:
    assert (clean["contract/autoscaler"].result, clean["contract/autoscaler"].detail) == (
        UNKNOWN,
        "the stack has no elastic groups",
    )
    for name in ("rehearsal", "acceptance", "restore"):
        assert (clean[name].result, clean[name].evidence) == (UNKNOWN, ())


def test_a_deviation_fails_its_claim_and_those_that_rest_on_it() -> None:
    claims = by_id(passport("existing", untainted))
    assert claims["contract/node-taints"].result is FAILED
    assert claims["contract/node-taints"].detail == ("Node gpu-0, spec.taints lacks nvidia.com/gpu=present:NoSchedule")
    broken = by_id(passport("existing", lambda objects: objects.pop(("NetworkPolicy", "mlrun", "default-deny"))))
    assert broken["contract/network-isolation"].result is FAILED
    assert broken["cis-kubernetes-1.12/5.3.2"].result is FAILED
    assert broken["cis-kubernetes-1.12/5.3.2"].detail == "Failed: contract/network-isolation."


@pytest.mark.parametrize(
    ("standing", "result", "detail"),
    [
        (FindingStatus.VIOLATED, FAILED, "violated until 2027-01-01 by us (OPS-1: soon): is wrong"),
        (FindingStatus.WAIVED, FAILED, "waived until 2027-01-01 by us (OPS-1: soon): is wrong"),
        (FindingStatus.ADVISED, FAILED, "advised until 2027-01-01 by us (OPS-1: soon): is wrong"),
        (FindingStatus.UNJUDGED, UNKNOWN, "unjudged until 2027-01-01 by us (OPS-1: soon): is wrong"),
    ],
)
def test_a_finding_decides_its_rule(standing: FindingStatus, result: Result, detail: str) -> None:
    claims = by_id(passport("existing", checked=checked(("HK-04", standing))))
    assert (claims["rule/HK-04"].result, claims["rule/HK-04"].detail) == (result, detail)
    assert claims["cis-kubernetes-1.12/5.1.1"].result is result
    assert claims["rule/HK-05"].result is PASSED


def test_a_rule_that_judged_nothing_does_not_pass() -> None:
    judged = CHECKED.judged - {"HK-05"}
    claims = by_id(passport("existing", checked=checked(judged=judged)))
    assert (claims["rule/HK-05"].result, claims["rule/HK-05"].detail) == (
        UNKNOWN,
        "The stack declares nothing that the rule concerns.",
    )
    assert claims["cis-kubernetes-1.12/5.1.5"].detail == "Not verified: rule/HK-05."


def test_rules_of_another_cloud_do_not_pass(clean: Mapping[str, Claim]) -> None:
    for rule in RULES:
        if rule.id.startswith(("HE", "HA")):
            assert clean[f"rule/{rule.id}"].result is UNKNOWN
            assert "is about clusters of kind" in clean[f"rule/{rule.id}"].detail


def test_controls_of_eks_rest_on_its_rules() -> None:
    clean = by_id(passport("eks"))
    assert (clean["cis-eks-1.8/5.3.1"].result, clean["cis-eks-1.8/5.3.1"].covers) == (PASSED, Covers.PART)
    assert clean["cis-eks-1.8/5.3.1"].detail.endswith("the setting is not read in the cloud.")
    assert clean["cis-eks-1.8/5.3.1"].evidence == clean["rule/HE-03"].evidence
    assert clean["cis-eks-1.8/3.2.1"].result is UNKNOWN
    assert clean["ai-conformance-1.36/accelerator_metrics"].detail == (
        "The stack declares no DaemonSet/nvidia-dcgm-exporter."
    )
    assert clean["ai-conformance-1.36/cluster_autoscaling"].detail == "Not verified: acceptance/pods."
    open_ = by_id(passport("eks", checked=checked(("HE-01", FindingStatus.VIOLATED))))
    assert {name for name, claim in open_.items() if claim.result is FAILED} == {
        "rule/HE-01",
        "cis-eks-1.8/5.4.1",
        "cis-eks-1.8/5.4.2",
    }


# Files


def report(folder: Path, **changes: Any) -> Path:
    """Write a report of a rehearsal as the command writes it, and change its only outcome."""
    met = Verdict(number=0, expectation="everything runs", is_met=True, measured="9 of 9 pods")
    digest = stack("existing").digest
    night = Outcome(stack="test", scenario="night", description="Jobs at night", verdicts=(met,), stack_digest=digest)
    written = as_json.document([night])
    written |= {"release": changes.pop("release", ORIGIN.version), "made": "2026-11-20T08:00:00Z"}
    written["outcomes"][0] |= changes
    file = folder / "rehearsal.json"
    file.write_text(json.dumps(written))
    return file


def record(folder: Path, **changes: Any) -> Path:
    steps = [
        StepRecord("up", "`up` creates the stack", StepResult.PASSED, 9.0, "42 resources"),
        StepRecord("no pods left", "pods can be deleted", StepResult.FAILED, 9.0, "a pod stays"),
        StepRecord("claim", "a claim binds", StepResult.SKIPPED, 0.0, "no class"),
    ]
    made = Record(
        *("test", "test-accept", "existing", ORIGIN.version, "2026-11-22T08:00:00+00:00", "/Pulumi.test.yaml"),
        steps=steps,
        digest=stack("existing").digest,
    )
    file = folder / "record.json"
    file.write_text(json.dumps({**asdict(made), **changes}))
    return file


def test_a_rehearsal_is_evidence_for_its_scenarios(tmp_path: Path) -> None:
    claims = by_id(passport("existing", rehearsal=report(tmp_path)))
    assert "rehearsal" not in claims
    night = claims["rehearsal/night"]
    assert (night.result, night.detail, night.subject) == (
        PASSED,
        "1 expectations",
        "Rehearsed on simulated nodes: Jobs at night",
    )
    made = datetime(2026, 11, 20, 8, tzinfo=UTC)
    assert [(each.source, each.at) for each in night.evidence] == [("rehearsal.json", made)]


@pytest.mark.parametrize(
    ("changes", "result", "detail"),
    [
        ({"isMet": False, "verdicts": [{"expectation": "a", "isMet": False}]}, FAILED, "missed: a"),
        ({"skipped": "it has no GPUs"}, UNKNOWN, "it has no GPUs"),
        ({"lost": "etcd ended", "isMet": False}, UNKNOWN, "etcd ended"),
        ({"verdicts": []}, UNKNOWN, "0 expectations"),
        ({"verdicts": [{"expectation": "a", "isMet": False}]}, FAILED, "missed: a"),
    ],
)
def test_a_scenario_without_a_verdict_does_not_pass(
    changes: dict[str, Any], result: Result, detail: str, tmp_path: Path
) -> None:
    night = by_id(passport("existing", rehearsal=report(tmp_path, **changes)))["rehearsal/night"]
    assert (night.result, night.detail) == (result, detail)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stack": "other"}, "is about other, not about 'test'"),
        ({"isReference": True}, "is about test, not about 'test'"),
        ({"stackDigest": "0" * 64}, "is about other settings of 'test' than its stack file has"),
        ({"release": "0.1.0"}, "was written by release 0.1.0; this one is 0.2.0"),
        ({"release": ""}, "was written by an earlier release; this one is 0.2.0"),
        ({"isMet": "perhaps"}, "is no JSON of a rehearsal"),
    ],
)
def test_a_rehearsal_of_something_else_is_refused(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        passport("existing", rehearsal=report(tmp_path, **changes))
    assert says in refused.value.message
    assert refused.value.message.startswith(f"--rehearsal: {tmp_path / 'rehearsal.json'}")


def test_a_record_of_acceptance_is_evidence_for_its_steps(tmp_path: Path) -> None:
    claims = by_id(passport("existing", acceptance=record(tmp_path)))
    assert {name: claim.result for name, claim in claims.items() if name.startswith("acceptance")} == {
        "acceptance/up": PASSED,
        "acceptance/no-pods-left": FAILED,
        "acceptance/claim": UNKNOWN,
    }
    assert claims["acceptance/claim"].detail == "skipped: no class"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stack": "other"}, "is about 'other', not about 'test'"),
        ({"digest": ""}, "is about other settings of 'test' than its stack file has"),
        ({"release": "0.1.0"}, "was written by release 0.1.0; this one is 0.2.0"),
        ({"started": "yesterday"}, "is no record of `accept`"),
        ({"started": "2026-11-22T08:00:00"}, "is no record of `accept`"),
        ({"steps": "all"}, "is no record of `accept`"),
    ],
)
def test_a_record_of_something_else_is_refused(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        passport("existing", acceptance=record(tmp_path, **changes))
    assert says in refused.value.message


def backups(folder: Path, *restores: tuple[str, str | None, bool], **changes: Any) -> Path:
    """Write a list of backups as the command writes it, with the state, end and success of each restore."""
    written = {
        "stack": "test",
        "stackDigest": stack("existing").digest,
        "release": ORIGIN.version,
        "made": "2026-11-22T09:00:00+00:00",
        "restores": [
            {"of": "vol-1", "state": state, "ended": ended, "isRestored": done} for state, ended, done in restores
        ],
    }
    file = folder / "backups.json"
    file.write_text(json.dumps({**written, **changes}))
    return file


EARLY, LATE = "2026-11-20T09:00:00+00:00", "2026-11-21T09:00:00+00:00"


@pytest.mark.parametrize(
    ("restores", "result", "detail"),
    [
        ([("FAILED", EARLY, False), ("COMPLETED", LATE, True)], PASSED, "vol-1: COMPLETED on 2026-11-21 09:00 UTC."),
        ([("FAILED", LATE, False), ("COMPLETED", EARLY, True)], FAILED, "vol-1: FAILED on 2026-11-21 09:00 UTC."),
        ([("RUNNING", None, False)], UNKNOWN, "The cloud records no restore that has ended."),
        ([], UNKNOWN, "The cloud records no restore that has ended."),
    ],
)
def test_the_restore_that_ended_last_decides(
    restores: list[tuple[str, str | None, bool]], result: Result, detail: str, tmp_path: Path
) -> None:
    restore = by_id(passport("existing", backups=backups(tmp_path, *restores)))["restore"]
    assert (restore.result, restore.detail.partition(" What")[0]) == (result, detail)
    times = [each.at for each in restore.evidence]
    assert times == ([] if result is UNKNOWN else [datetime.fromisoformat(LATE)]), "of the restore, not of the list"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stack": "other"}, "is about 'other', not about 'test'"),
        ({"stackDigest": "0" * 64}, "is about other settings of 'test' than its stack file has"),
        ({"release": "0.1.0"}, "was written by release 0.1.0; this one is 0.2.0"),
        ({"restores": "all"}, "is no JSON of `backup list`"),
    ],
)
def test_backups_of_something_else_are_refused(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        passport("existing", backups=backups(tmp_path, **changes))
    assert says in refused.value.message


def test_evidence_that_is_too_old_or_does_not_say_its_time_is_refused(tmp_path: Path) -> None:
    files = {"rehearsal": report(tmp_path), "acceptance": record(tmp_path)}  # two days and four hours before
    require_recent(passport("existing", **files), timedelta(days=3))
    with pytest.raises(UserError) as refused:
        require_recent(passport("existing", **files), timedelta(days=1))
    assert refused.value.message == "--max-age: rehearsal.json is of 2026-11-20 08:00 UTC."
    undated = {**json.loads(files["rehearsal"].read_text()), "made": None}
    files["rehearsal"].write_text(json.dumps(undated))
    with pytest.raises(UserError, match=r"rehearsal\.json does not say when it was written\."):
        require_recent(passport("existing", **files), timedelta(days=3))


def test_what_the_copy_left_out_is_said(tmp_path: Path) -> None:
    up = by_id(passport("existing", acceptance=record(tmp_path, left_out=["Pool 'gpu': reserved."])))["acceptance/up"]
    assert (up.covers, up.detail) == (Covers.PART, "42 resources Not in the copy: Pool 'gpu': reserved.")


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    for option in ("rehearsal", "acceptance", "backups"):
        with pytest.raises(UserError, match=rf"--{option}: .*no\.json cannot be read: No such file"):
            passport("existing", **{option: tmp_path / "no.json"})


def test_evidence_changes_with_what_was_found(clean: Mapping[str, Claim]) -> None:
    other = by_id(passport("existing", untainted))
    assert other["contract/node-taints"].evidence[0].digest != clean["contract/node-taints"].evidence[0].digest
    assert other["contract/node-labels"].evidence == clean["contract/node-labels"].evidence


def without_gpu_nodes(objects: Objects) -> None:
    for key in [key for key in objects if key[0] == "Node" and key[2].startswith("gpu")]:
        del objects[key]


def starting(objects: Objects) -> None:
    for key, each in objects.items():
        if key[0] == "Node":
            each["metadata"]["creationTimestamp"] = "2026-11-22T11:59:00Z"


@pytest.mark.parametrize("plant", [without_gpu_nodes, starting])
def test_without_gpu_nodes_there_is_no_evidence_of_gpus(plant: Any, clean: Mapping[str, Claim]) -> None:
    about_gpus = ("contract/gpu-plugin", "ai-conformance-1.36/driver_runtime_management")
    assert [clean[each].result for each in about_gpus] == [PASSED, PASSED]
    claims = by_id(passport("existing", plant))
    assert [claims[each].result for each in about_gpus] == [UNKNOWN, UNKNOWN]


def test_a_rule_that_could_not_be_judged_outside_of_ci_has_not_failed() -> None:
    doubt = Finding("NG-07", FindingStatus.ADVISED, Judge.OWN, "urn", "could not be judged: labels are unknown")
    claim = by_id(passport("existing", checked=replace(CHECKED, causes=(Cause(doubt, ()),))))["rule/NG-07"]
    assert (claim.result, claim.detail) == (UNKNOWN, "advised: could not be judged: labels are unknown")


def test_simulated_nodes_are_no_evidence_for_ai_conformance() -> None:
    claims = by_id(passport("local"))
    assert [name for name in claims if name.startswith("ai-conformance")] == []
    assert "cis-kubernetes-1.12/5.3.2" in claims


def test_ai_conformance_is_that_of_the_minor() -> None:
    claims = by_id(passport("existing", sight=sight("existing", version="v1.34.2-gke.1")))
    assert claims["ai-conformance-1.34/dra_support"].result is PASSED
    assert "ai-conformance-1.34/gpu_sharing" not in claims
    newer = by_id(passport("existing", sight=sight("existing", version="v1.99.0")))
    assert newer["ai-conformance-1.99"].result is UNKNOWN
    assert [name for name in newer if name.startswith("ai-conformance")] == ["ai-conformance-1.99"]
