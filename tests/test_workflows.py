"""What can be proven about workflows without running them: https://docs.github.com/en/actions/reference/security."""

import re
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.environments import ClusterKind
from tools.tracked import tracked
from workbench import workflows
from workbench.review.judges import HARMLESS
from workbench.starter import Pin, create
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import ensure

PIN = Pin("https://example.invalid/r.git", "v0.1.0", "0123456789" * 4)
FILES = sorted((PROJECT_ROOT / ".github/workflows").glob("*.yml"))
GITLAB = PROJECT_ROOT / "examples/gitlab/.gitlab-ci.yml"
TRUSTED_BY = "github.event.pull_request.head.repo.full_name == github.repository"
UNTRUSTED = re.compile(r"\$\{\{(?!\s*(runner\.temp)\s*\}\})")
"""An expression inside a script: whatever it holds, it would be run. Nothing needs one: there is ``env``."""


def content(file: Path) -> dict[Any, Any]:
    document: dict[Any, Any] = yaml.safe_load(file.read_text())
    return document


def events(workflow: dict[Any, Any]) -> dict[str, Any]:
    on = workflow[True]  # YAML 1.1 reads the word `on` so
    return on if isinstance(on, dict) else dict.fromkeys([on] if isinstance(on, str) else on)


def jobs() -> Iterator[Any]:
    for file in FILES:
        workflow = content(file)
        for name, job in workflow["jobs"].items():
            yield pytest.param(workflow, job, id=f"{file.stem}/{name}")


def steps(job: dict[str, Any], action: str = "") -> list[dict[str, Any]]:
    return [step for step in job["steps"] if step.get("uses", "").startswith(action)]


def writes(job: dict[str, Any]) -> set[str]:
    return {right for right, level in job.get("permissions", {}).items() if level == "write"}


def of_pull_requests(workflow: dict[Any, Any]) -> bool:
    return "pull_request" in events(workflow)


each_workflow = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
each_job = pytest.mark.parametrize(("workflow", "job"), [*jobs()])


def test_there_are_the_workflows_that_the_documentation_names() -> None:
    assert {file.stem for file in FILES} == {
        "checks", "comment", "compare", "deploy", "deploy-fleet", "drift", "release", "render", "tools",
    }  # fmt: skip


@each_workflow
def test_a_workflow_gives_no_right_and_runs_once_at_a_time(file: Path) -> None:
    workflow = content(file)
    assert workflow["permissions"] == {}
    assert workflow["concurrency"]["group"]


@each_workflow
def test_no_workflow_gives_a_pull_request_the_rights_of_the_main_branch(file: Path) -> None:
    assert not events(content(file)).keys() & {"pull_request_target", "issue_comment", "issues", "repository_dispatch"}


@each_workflow
def test_actions_are_pinned_by_commit_with_their_version(file: Path) -> None:
    uses = [line for line in file.read_text().splitlines() if re.search(r"\buses:", line)]
    assert [line for line in uses if not re.search(r"uses: [\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []


def test_an_action_has_one_version_in_all_workflows() -> None:
    found = {match for file in FILES for match in re.findall(r"uses: (\S+)@(\S+)", file.read_text())}
    owners = {(action.partition("/restore")[0], commit) for action, commit in found}
    assert len(owners) == len({action for action, _ in owners})


@each_job
def test_a_job_that_may_write_runs_nothing_of_a_pull_request(workflow: dict[Any, Any], job: dict[str, Any]) -> None:
    rights = writes(job)
    if of_pull_requests(workflow):
        assert rights <= {"id-token"}
        assert not rights or (TRUSTED_BY in job["if"] and job["environment"])
    if rights - {"id-token"}:
        assert not events(workflow).keys() - {"workflow_run", "schedule", "workflow_dispatch"}
        assert [step for step in steps(job, "actions/checkout@") if "ref" in step["with"]] == []


@each_job
def test_a_job_that_attests_runs_no_code_of_this_repository(workflow: dict[Any, Any], job: dict[str, Any]) -> None:
    if "attestations" in writes(job):
        assert job["needs"]
        assert [step for step in job["steps"] if "run" in step or "actions/checkout@" in step["uses"]] == []


@each_job
def test_only_the_comments_workflow_writes_in_pull_requests(workflow: dict[Any, Any], job: dict[str, Any]) -> None:
    if writes(job) & {"pull-requests", "contents", "actions", "checks", "statuses"}:
        assert workflow["name"] == "comment"
        assert writes(job) == {"pull-requests"}


@each_job
def test_secrets_and_cloud_identities_are_in_environments_only(workflow: dict[Any, Any], job: dict[str, Any]) -> None:
    if "id-token" in writes(job) or "secrets." in str(job):
        assert job["environment"]
    if of_pull_requests(workflow) and "environment" not in job:
        assert "secrets." not in str(job)


@each_job
def test_only_the_deployment_gets_a_secret_that_writes(workflow: dict[Any, Any], job: dict[str, Any]) -> None:
    deploys = str(job.get("environment", "")).startswith("deploy-")
    allowed = {"PULUMI_ACCESS_TOKEN"} if deploys else {"PULUMI_READ_TOKEN"}
    assert set(re.findall(r"secrets\b[.\[' ]*(\w+)?", yaml.safe_dump(job))) <= allowed
    assert "secrets" not in yaml.safe_dump({key: part for key, part in workflow.items() if key != "jobs"})
    # Only the step that runs the review gets it, no action of another author.
    holders = [step for step in job["steps"] if "secrets" in str(step)]
    assert "secrets" not in str({key: part for key, part in job.items() if key != "steps"})
    assert all("run" in step and list(step["env"]) == ["PULUMI_ACCESS_TOKEN"] for step in holders)


@each_job
def test_a_job_keeps_no_credential_and_ends_in_time(workflow: dict[Any, Any], job: dict[str, Any]) -> None:
    checkouts = steps(job, "actions/checkout@")
    assert [step for step in checkouts if step["with"]["persist-credentials"] is not False] == []
    assert job["timeout-minutes"] <= 180


@each_job
def test_scripts_are_one_make_target_and_hold_no_expression(workflow: dict[Any, Any], job: dict[str, Any]) -> None:
    scripts = [step["run"] for step in job["steps"] if "run" in step]
    assert [script for script in scripts if not re.fullmatch(r"make [^;&|\n]+|exit 1", script)] == []
    assert [script for script in scripts if UNTRUSTED.search(script)] == []


def test_every_make_target_of_a_workflow_is_there_in_both_makefiles(tmp_path: Path) -> None:
    create(tmp_path / "acme", "acme", ClusterKind.LOCAL, PIN)
    for folder in (PROJECT_ROOT, tmp_path / "acme"):
        files = [folder / "Makefile", *(folder / ".github").glob("*.mk")]
        rules = [rule for file in files for rule in re.findall(r"^([a-z -]+):", file.read_text(), re.MULTILINE)]
        asked = {
            target
            for file in (folder / ".github/workflows").glob("*.yml")
            for target in re.findall(r"run: make (?:-C base )?([a-z-]+)", file.read_text())
        }
        assert asked <= set(" ".join(rules).split())


@each_workflow
def test_every_job_of_a_pull_request_leads_to_the_gate(file: Path) -> None:
    workflow = content(file)
    if not of_pull_requests(workflow):
        return
    reached, fresh = set[str](), {"gate"}
    while fresh:
        reached |= fresh
        fresh = {need for name in fresh for need in workflow["jobs"][name].get("needs", [])} - reached
    assert reached == set(workflow["jobs"])


@each_workflow
def test_a_gate_opens_only_when_all_before_it_succeeded(file: Path) -> None:
    gate = content(file)["jobs"].get("gate")
    if gate:
        assert "always()" in gate["if"]
        [step] = gate["steps"]
        assert step["run"] == "exit 1"
        named = {f"needs.{need}.result != 'success'" for need in gate["needs"]}
        assert step["if"] in named or {"failure", "cancelled", "skipped"} <= set(re.findall(r"'(\w+)'", step["if"]))


def test_the_tests_of_all_tiers_are_among_the_checks() -> None:
    job = content(PROJECT_ROOT / ".github/workflows/checks.yml")["jobs"]["test"]
    assert job["strategy"]["matrix"]["tier"] == ["unit", "engine", "control_plane"]


def test_the_base_judges_and_the_head_is_only_looked_at() -> None:
    for name in ("render", "compare"):
        job = content(PROJECT_ROOT / f".github/workflows/{name}.yml")["jobs"]["review"]
        folders = {step["with"]["path"]: step["with"].get("ref") for step in steps(job, "actions/checkout@")}
        assert folders == {"base": "${{ github.base_ref }}", "head": None}
        assert {step["run"].split()[:3][2] for step in job["steps"] if "run" in step} == {"base"}


def test_the_second_stage_follows_both_reviews_and_names_their_record() -> None:
    comment = content(PROJECT_ROOT / ".github/workflows/comment.yml")
    assert set(events(comment)["workflow_run"]["workflows"]) == {"render", "compare"}
    [download] = steps(comment["jobs"]["comment"], "actions/download-artifact@")
    for name in ("render", "compare"):
        [upload] = steps(
            content(PROJECT_ROOT / f".github/workflows/{name}.yml")["jobs"]["review"], "actions/upload-artifact@"
        )
        assert fnmatch(upload["with"]["name"], download["with"]["pattern"])
    assert download["with"]["path"].startswith("${{ runner.temp }}/")


def test_deploying_shows_what_would_change_before_anybody_agrees_and_never_two_at_once() -> None:
    deploy = content(PROJECT_ROOT / ".github/workflows/deploy.yml")
    assert deploy["jobs"]["up"]["needs"] == ["preview"]
    assert deploy["jobs"]["up"]["environment"] == "deploy-${{ inputs.stack }}"
    assert deploy["jobs"]["preview"]["environment"] == "compare-${{ inputs.stack }}"
    assert deploy["concurrency"] == {"group": "deploy-${{ inputs.stack }}", "cancel-in-progress": False}


def test_a_fleet_is_shown_first_and_its_canary_goes_before_the_rest_in_the_steps_of_one_deployment() -> None:
    deploy, fleet = (content(PROJECT_ROOT / f".github/workflows/{name}.yml") for name in ("deploy", "deploy-fleet"))
    jobs = fleet["jobs"]
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "preview": None, "canary": ["preview"], "rest": ["canary"],
    }  # fmt: skip
    for name, job in jobs.items():
        like = deploy["jobs"]["preview" if name == "preview" else "up"]
        *setting_up, command = job["steps"]
        *like_those, one_stack = like["steps"]
        assert setting_up == like_those
        assert command == one_stack | {"run": f"{one_stack['run']} REQUIRE_APPROVALS=1"}, "no plan is approved alone"
        assert job["environment"] == like["environment"].replace("inputs", "matrix")
        assert job["strategy"]["fail-fast"] is False
        if name != "preview":
            assert "if" not in job, "it begins only if all before it succeeded"
            assert job["concurrency"]["group"] == deploy["concurrency"]["group"].replace("inputs", "matrix")
    assert jobs["canary"]["strategy"]["matrix"] == {"stack": "${{ fromJSON(vars.CANARY_STACKS) }}"}


@pytest.mark.parametrize(
    ("file", "jobs"), [("deploy", ["preview"]), ("deploy-fleet", ["preview"]), ("drift", ["look", "issue"])]
)
def test_only_the_main_branch_gets_at_identities_and_no_tag_of_its_name(file: str, jobs: list[str]) -> None:
    workflow = content(PROJECT_ROOT / f".github/workflows/{file}.yml")
    for job in jobs:
        condition = workflow["jobs"][job]["if"]
        assert "github.ref == format('refs/heads/{0}', github.event.repository.default_branch)" in condition


def test_every_file_but_documents_has_owners_as_in_the_review() -> None:
    lines = (PROJECT_ROOT / ".github/CODEOWNERS").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    for path in [*tracked(), "GNUmakefile", "setup.py", ".igz-clusters/.venv/bin/python"]:
        owners = next(row[1:] for row in reversed(rows) if fnmatch(path, row[0]))
        is_stack_file = path.endswith(".yaml") and HARMLESS.fullmatch(path)
        assert bool(owners) == bool(is_stack_file or not HARMLESS.fullmatch(path)), path


def test_the_linters_at_their_strictest_find_nothing_here_nor_in_a_started_repository(tmp_path: Path) -> None:
    create(tmp_path / "acme", "acme", ClusterKind.EKS, PIN)
    actionlint = ensure(["actionlint"]).path("actionlint")
    for folder in (PROJECT_ROOT, tmp_path / "acme"):
        for command in workflows.commands(actionlint):
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert run.returncode == 0, run.stdout + run.stderr


def test_the_linters_notice_what_they_are_for(tmp_path: Path) -> None:
    create(tmp_path / "acme", "acme", ClusterKind.LOCAL, PIN)
    (tmp_path / "acme/.github/workflows/greet.yml").write_text(
        "on: pull_request_target\njobs:\n  greet:\n    runs-on: ubuntu-24.04\n    steps:\n"
        "      - run: echo ${{ github.event.pull_request.title }}\n      - run: ${{ nonsense.here }}\n"
    )
    actionlint, zizmor = (
        subprocess.run(command, cwd=tmp_path / "acme", capture_output=True, text=True, check=False)
        for command in workflows.commands(ensure(["actionlint"]).path("actionlint"))
    )
    assert actionlint.returncode
    assert zizmor.returncode
    assert "nonsense" in actionlint.stdout
    assert {"dangerous-triggers", "template-injection"} <= set(re.findall(r"\[([a-z-]+)\]", zizmor.stdout))


def gitlab() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(GITLAB.read_text())
    return document


def gitlab_jobs() -> dict[str, dict[str, Any]]:
    """Return the jobs of the example for GitLab with what they extend."""
    words = {"stages", "workflow", "default", "variables"}
    document = {name: part for name, part in gitlab().items() if name not in words}
    return {
        name: {**document.get(job.get("extends", ""), {}), **job} for name, job in document.items() if name[0] != "."
    }


def test_the_example_for_gitlab_has_jobs_that_gitlab_accepts() -> None:
    known = {
        "after_script", "artifacts", "before_script", "cache", "environment", "extends", "id_tokens", "interruptible",
        "resource_group", "rules", "script", "stage", "timeout", "variables",
    }  # fmt: skip
    for name, job in gitlab_jobs().items():
        assert set(job) <= known, name
        assert job["stage"] in gitlab()["stages"]
        lines = [*job["script"], *job.get("before_script", []), *job.get("after_script", [])]
        assert all(isinstance(line, str) for line in lines), name
        assert all(set(rule) <= {"if", "when", "allow_failure"} for rule in job["rules"])


def test_in_gitlab_a_merge_request_sees_no_token_and_its_code_no_writing_identity() -> None:
    for name, job in gitlab_jobs().items():
        for rule in job["rules"]:
            if "merge_request_event" in rule["if"]:
                assert "NOTE_TOKEN" not in str(job)
                assert not re.search(r"AWS_ROLE_(DRIFT|DEPLOY)", str(job))
                assert name == "review" or "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID" in rule["if"]
            else:
                assert "$CI_DEFAULT_BRANCH" in rule["if"] or '$CI_COMMIT_REF_PROTECTED == "true"' in rule["if"]


def test_in_gitlab_the_same_make_targets_run() -> None:
    rules = "\n".join((PROJECT_ROOT / file).read_text() for file in ("Makefile", ".github/pull-requests.mk"))
    for job in gitlab_jobs().values():
        for target in re.findall(r"make (?:-C \S+ )?([a-z-]+)", "\n".join(job["script"])):
            assert re.search(rf"^{target}:", rules, re.MULTILINE), target
