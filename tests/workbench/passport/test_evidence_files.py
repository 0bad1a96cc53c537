"""Files of other commands are evidence for a passport only if they are about exactly this stack."""

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.passports import ORIGIN, by_id, passport, stack
from workbench.acceptance.record import Record, StepRecord
from workbench.acceptance.record import Result as StepResult
from workbench.passport.making import require_recent
from workbench.passport.model import Covers, Result
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.report import as_json
from workbench.rehearsal.verdicts.verdict import Verdict
from workbench.system.errors import UserError

PASSED, FAILED, UNKNOWN = Result.PASSED, Result.FAILED, Result.NOT_VERIFIED


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
        ({"isMet": "perhaps"}, "is not the JSON of a rehearsal"),
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
        "acceptance/gpus-from-zero": UNKNOWN,
    }
    assert claims["acceptance/claim"].detail == "skipped: no class"


@pytest.mark.parametrize(
    ("landed", "pools", "result"),
    [
        (StepResult.PASSED, ["spot", "gpu"], PASSED),
        (StepResult.PASSED, ["spot"], UNKNOWN),
        (StepResult.PASSED, [], UNKNOWN),
        (StepResult.FAILED, ["gpu"], UNKNOWN),
    ],
)
def test_gpus_grow_from_zero_only_if_a_gpu_pool_had_no_nodes(
    landed: StepResult, pools: list[str], result: Result, tmp_path: Path
) -> None:
    steps = [asdict(StepRecord("pods", "a pod is scheduled on each pool", landed, 9.0))]
    made = record(tmp_path, steps=steps, seen={"from zero": pools})
    claims = by_id(passport("existing", acceptance=made))
    assert claims["acceptance/gpus-from-zero"].result is result


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stack": "other"}, "is about 'other', not about 'test'"),
        ({"digest": ""}, "is about other settings of 'test' than its stack file has"),
        ({"release": "0.1.0"}, "was written by release 0.1.0; this one is 0.2.0"),
        ({"started": "yesterday"}, "is not a record of `accept`"),
        ({"started": "2026-11-22T08:00:00"}, "is not a record of `accept`"),
        ({"steps": "all"}, "is not a record of `accept`"),
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
    assert (restore.result, restore.detail.partition(" Restored")[0]) == (result, detail)
    times = [each.at for each in restore.evidence]
    assert times == ([] if result is UNKNOWN else [datetime.fromisoformat(LATE)]), "of the restore, not of the list"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stack": "other"}, "is about 'other', not about 'test'"),
        ({"stackDigest": "0" * 64}, "is about other settings of 'test' than its stack file has"),
        ({"release": "0.1.0"}, "was written by release 0.1.0; this one is 0.2.0"),
        ({"restores": "all"}, "is not the JSON of `backup list`"),
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
    assert refused.value.message == "--max-age: rehearsal.json is dated 2026-11-20 08:00 UTC."
    early = passport("existing", **files)
    with pytest.raises(UserError, match=r"--max-age: .*rehearsal\.json is dated 2026-11-20 08:00 UTC\."):
        require_recent(early.model_copy(update={"made": early.made - timedelta(days=9)}), timedelta(days=3))
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
