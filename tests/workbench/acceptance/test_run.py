"""An acceptance run resumes, keeps its record after each step, and cleans up whatever step it reached."""

import json
from pathlib import Path

import pytest

from infra.config import CONFIG_KEY
from support import eks
from support.acceptance import LOCAL, FakeProduct, context_of
from workbench import stacks
from workbench.acceptance.record import CLEANING, AssumptionRecord, Record, Result, Verdict
from workbench.acceptance.run import STEPS, begun, clean_up, run
from workbench.acceptance.step import Context, Step, StepError
from workbench.stacks import policy_overrides
from workbench.system.errors import UserError

DONE: list[str] = []


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    folder = tmp_path / "stacks"
    folder.mkdir()
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folder))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    DONE.clear()
    made = context_of(folder, LOCAL)
    made.record.is_ours = True  # as from the first `up` on
    return made


def product(context: Context) -> FakeProduct:
    assert isinstance(context.product, FakeProduct)
    return context.product


def noted(name: str, error: BaseException | None = None) -> Step:
    def go(_: Context) -> str:
        DONE.append(name)
        if error:
            raise error
        return f"did {name}"

    return Step(name, "why", go)


def results(context: Context) -> dict[str, str]:
    found = json.loads((context.copied.folder / "record.json").read_text())
    return {each["name"]: each["result"] for each in found["steps"]}


def resumed(context: Context) -> Context:
    record = begun(context.copied, stacks.find("dev"))
    return Context(context.copied, context.product, record, lambda _: None)


@pytest.mark.parametrize(
    ("error", "result"), [(StepError("wrong"), Result.FAILED), (KeyboardInterrupt(), Result.INTERRUPTED)]
)
def test_a_run_continues_with_the_step_that_did_not_end(context: Context, error: BaseException, result: Result) -> None:
    with pytest.raises(type(error)):
        run(context, [noted("one"), noted("two", error), noted("three")])
    assert results(context) == {"one": "passed", "two": result}
    again = resumed(context)
    run(again, [noted("one"), noted("two"), noted("three")])
    assert DONE == ["one", "two", "two", "three"]
    assert product(context).calls == ["create", "recover"], "an interrupted run may have left a lock"
    assert results(context) == dict.fromkeys(["one", "two", "three"], "passed")
    assert again.record.state == "passed"


def test_a_run_that_was_killed_in_its_first_step_is_recovered_too(context: Context) -> None:
    context.record.save(context.copied.folder)
    run(resumed(context), [noted("one")])
    assert product(context).calls == ["create", "recover"]


def test_a_killed_run_has_recorded_the_steps_before(context: Context) -> None:
    def look(_: Context) -> str:
        assert results(context) == {"one": "passed"}
        return ""

    run(context, [noted("one"), Step("two", "why", look)])


def test_a_passed_run_leaves_only_its_record_and_the_next_one_begins_anew(context: Context) -> None:
    run(context, [noted("one")])
    assert sorted(file.name for file in context.copied.folder.iterdir()) == ["record.json", "record.md"]
    assert resumed(context).record.steps == []


def test_a_skipped_step_keeps_its_reason(context: Context) -> None:
    run(context, [Step("one", "why", noted("one").run, lambda _: "no storage")])
    assert DONE == []
    assert "| one | why | skipped | 0 s | no storage |" in (context.copied.folder / "record.md").read_text()


def test_cleaning_up_recovers_destroys_and_forgets(context: Context) -> None:
    with pytest.raises(StepError):
        run(context, [noted("one", StepError("wrong"))])
    clean_up(context)
    assert product(context).calls == ["create", "recover", "destroy", "forget"]
    assert context.record.state == "cleaned up"
    assert not context.copied.file.exists()
    assert not context.record.is_open


def test_a_clean_up_that_failed_is_repeated_and_no_run_continues_in_between(context: Context) -> None:
    product(context).fails["destroy"] = StepError("in use")
    with pytest.raises(StepError, match="in use"):
        clean_up(context)
    assert context.record.state == CLEANING
    with pytest.raises(UserError, match=r"clean-up of 'dev-accept' has begun"):
        resumed(context)
    clean_up(context)
    assert context.record.state == "cleaned up"


def test_what_cleaning_up_leaves_is_named(context: Context) -> None:
    product(context).remains.append("VPC vpc-1")
    with pytest.raises(StepError, match="VPC vpc-1"):
        clean_up(context)
    assert context.record.is_open
    assert context.copied.file.exists()


def test_another_stack_of_the_same_copys_name_is_refused(context: Context, tmp_path: Path) -> None:
    context.record.save(context.copied.folder)
    (tmp_path / "stacks" / "Pulumi.two.yaml").write_bytes((tmp_path / "stacks" / "Pulumi.dev.yaml").read_bytes())
    with pytest.raises(UserError, match="is the copy of the stack 'dev'"):
        begun(context.copied, stacks.find("two"))


def test_a_stack_of_another_folder_with_the_same_name_is_refused(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context.record.save(context.copied.folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "Pulumi.dev.yaml").write_bytes((tmp_path / "stacks" / "Pulumi.dev.yaml").read_bytes())
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(other))
    with pytest.raises(UserError, match=f"stack 'dev' in {tmp_path}/stacks/"):
        begun(context.copied, stacks.find("dev"))


def test_a_stack_that_others_created_is_neither_updated_nor_cleaned_up(context: Context) -> None:
    context.record.is_ours = False
    product(context).is_there = True
    with pytest.raises(StepError, match="A stack 'dev-accept' exists already, and this run did not create it"):
        run(context)
    with pytest.raises(StepError):
        run(resumed(context))
    clean_up(resumed(context))
    assert product(context).calls == []
    assert not context.copied.file.exists()


def test_a_stack_that_this_run_created_is_updated_again(context: Context) -> None:
    context.record.is_ours = False
    product(context).fails["up"] = KeyboardInterrupt()
    first = [STEPS[0]]
    with pytest.raises(KeyboardInterrupt):
        run(context, first)
    product(context).is_there = True
    run(resumed(context), first)
    assert product(context).calls == ["create", "up", "create", "recover", "create", "up"]


def test_after_an_edit_of_the_stack_file_a_run_names_what_differs(context: Context, tmp_path: Path) -> None:
    context.record.save(context.copied.folder)
    file = tmp_path / "stacks" / "Pulumi.dev.yaml"
    before = file.read_text()
    edited = json.loads(before)
    edited["config"][CONFIG_KEY]["pools"]["initial"]["size"] = {"min": 3, "max": 3}
    edited["encryptionsalt"] = "v1:abc"
    file.write_text(json.dumps(edited))
    with pytest.raises(UserError, match=r"was edited after this run began.*pools\.initial\.size\.max") as refused:
        resumed(context)
    assert "igz-clusters accept dev --clean-up" in refused.value.hint
    assert "encryptionsalt" not in refused.value.message
    file.write_text(before)
    assert resumed(context).record == context.record


def test_after_a_waiver_was_added_a_run_names_its_file(context: Context, tmp_path: Path) -> None:
    context.record.save(context.copied.folder)
    row = {"rule": "NG-24", "stack": "dev", "resource": "*", "reason": "a trial of spot", "owner": "me"}
    file = tmp_path / "stacks" / policy_overrides.FILE
    file.parent.mkdir()
    file.write_text(json.dumps({"waivers": [{**row, "expires": "2026-12-31", "ticket": "OPS-1"}]}))
    with pytest.raises(UserError, match=f"was edited after this run began.*in {policy_overrides.FILE}"):
        resumed(context)
    file.unlink()
    assert resumed(context).record == context.record


def test_resources_of_a_run_from_another_backend_are_neither_used_nor_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "stacks"
    folder.mkdir()
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folder))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    made = context_of(folder, eks.document())
    product(made).remains.append("VPC vpc-1")
    with pytest.raises(StepError, match=r"(?s)already has resources of a stack or cluster 'dev-accept'.*VPC vpc-1"):
        run(made)
    clean_up(resumed(made))
    assert product(made).calls == []


def test_a_damaged_record_is_refused(context: Context) -> None:
    (context.copied.folder / "record.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        resumed(context)


def test_each_fact_is_listed_once_and_a_refutation_stays(context: Context) -> None:
    def fact(verdict: Verdict, step: str) -> AssumptionRecord:
        return AssumptionRecord("t", ("tags",), "another value: accepted", verdict, step, "seen")

    record: Record = context.record
    for verdict, step in ((Verdict.CONSISTENT, "a"), (Verdict.CONFIRMED, "b"), (Verdict.REFUTED, "c")):
        record.note(iter([fact(verdict, step)]))
    record.note(iter([fact(Verdict.CONFIRMED, "d")]))
    assert [(each.verdict, each.step) for each in record.assumptions] == [(Verdict.REFUTED, "c")]
    record.save(context.copied.folder)
    assert Record.load(context.copied.folder) == record
    assert "| t | `tags` | another value: accepted | refuted | c | seen |" in list(record.page())
