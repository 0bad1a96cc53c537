import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from components.contract.certificates import EXAMPLE
from components.stack_files import yaml_source
from infra.config import CONFIG_KEY, parse
from support.eks import ACCOUNT, document
from support.stack_files import VALID
from workbench import stacks
from workbench.cli import stack
from workbench.cli.app import app
from workbench.system.errors import NoVerdictError, UserError

BROKEN = VALID.replace("environment: dev", "environment: prd").replace("min: 2", "min: 1")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout with one sound and one broken stack."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "Pulumi.good.yaml").write_text(VALID)
    (tmp_path / "Pulumi.bad.yaml").write_text(BROKEN)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["config", *arguments])


STATIC = "NG-07: a pool of role 'initial' must have a fixed size, set size.min = size.max (given: '1..2')"
PROBLEMS = [
    "Pulumi.bad.yaml:4: environment: unknown value, did you mean 'prod'? (given: 'prd'; allowed: dev, prod)",
    f"Pulumi.bad.yaml:9: pools.initial.size: {STATIC}",
]
FOR_DESTROY = (
    "`destroy` deletes what the state has and applies nothing: put any allowed values in place of these, but keep the "
    "cluster's kind, name, region and account."
)


def test_check_looks_at_all_stacks_and_prints_a_line_a_problem(checkout: Path) -> None:
    result = run("check")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [*PROBLEMS, "Pulumi.good.yaml: ok"]


def test_check_looks_at_the_stacks_and_files_that_are_named(checkout: Path) -> None:
    assert run("check", "good").stdout == "Pulumi.good.yaml: ok\n"
    assert run("check", "good").exit_code == 0
    assert run("check", str(checkout / "Pulumi.bad.yaml"), "good").stdout.splitlines() == [
        *PROBLEMS,
        "Pulumi.good.yaml: ok",
    ]


def test_check_answers_a_file_and_a_stack_that_are_not_there(checkout: Path) -> None:
    result = run("check", "nothing.yaml", "good")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "nothing.yaml: the file cannot be read: No such file or directory",
        "Pulumi.good.yaml: ok",
    ]
    answer = f"Stack 'godo' not found in {checkout}.\nDid you mean 'good'? Known stacks: bad, good."
    assert str(run("check", "godo").exception) == answer


def test_check_as_json_lists_every_part_of_every_problem(checkout: Path) -> None:
    result = run("check", "--json")
    assert result.exit_code == 1
    first, second = json.loads(result.stdout)
    assert first == {
        "file": "Pulumi.bad.yaml",
        "line": 4,
        "column": 5,
        "path": ["environment"],
        "message": "unknown value, did you mean 'prod'?",
        "given": "'prd'",
        "allowed": ["dev", "prod"],
    }
    assert second["path"] == ["pools", "initial", "size"]
    assert json.loads(run("check", "good", "--json").stdout) == []


def test_check_warns_of_a_private_cluster_that_nothing_could_reach(checkout: Path) -> None:
    file = checkout / "Pulumi.prod.yaml"
    file.write_text(yaml.safe_dump({"config": {CONFIG_KEY: document()}}))
    result = run("check", "prod")
    assert (result.exit_code, result.stdout) == (0, "Pulumi.prod.yaml: ok\n")  # such a cluster may exist already
    assert result.stderr.startswith("warning: Pulumi.prod.yaml: cluster.apiClientCidrs: is required to create ")
    file.write_text(yaml.safe_dump({"config": {CONFIG_KEY: document({"cluster.apiClientCidrs": ["10.60.0.0/16"]})}}))
    assert "warning" not in run("check", "prod").stderr


def test_check_warns_of_what_may_not_be_meant(checkout: Path) -> None:
    choices = {"cluster.apiClientCidrs": ["10.60.0.0/16"], "namespaces": {"jobs": {"egressCidrs": ["0.0.0.0/0"]}}}
    (checkout / "Pulumi.prod.yaml").write_text(yaml.safe_dump({"config": {CONFIG_KEY: document(choices)}}))
    warning = "warning: Pulumi.prod.yaml: namespaces.jobs.egressCidrs: 0.0.0.0/0 is the internet or much of it"
    assert run("check", "prod").stderr.startswith(warning)


NOTEBOOKS = {
    "role": "jupyter",
    "size": {"min": 0, "max": 3},
    "instanceTypes": ["m6i.xlarge"],
    "zonal": False,
}


def test_check_notes_pools_whose_zone_the_autoscaler_does_not_know(checkout: Path) -> None:
    file = checkout / "Pulumi.prod.yaml"
    found = set[bool]()
    for choices in ({}, {"pools.notebooks": NOTEBOOKS}):
        file.write_text(yaml.safe_dump({"config": {CONFIG_KEY: document(choices)}}))
        result = run("check", "prod")
        assert result.exit_code == 0
        found.add("note: Pulumi.prod.yaml: pools.notebooks: may have no nodes, and its groups span" in result.stderr)
    assert found == {True, False}


@pytest.mark.parametrize(
    ("namespaces", "noted"),
    [
        ({"mlrun": {"coreServices": True}}, True),
        ({"default-tenant": {}}, True),
        ({"default-tenant": {"coreServices": True}}, False),
    ],
)
def test_check_notes_that_the_full_platform_would_not_read_the_settings(
    checkout: Path, namespaces: dict[str, object], *, noted: bool
) -> None:
    full = document({"profile": "iguazio", "servers": "pulumi", "namespaces": namespaces})
    (checkout / "Pulumi.prod.yaml").write_text(yaml.safe_dump({"config": {CONFIG_KEY: full}}))
    result = run("check", "prod")
    assert result.exit_code == 0
    assert (
        "note: Pulumi.prod.yaml: namespaces: the full platform runs MLRun in default-tenant" in result.stderr
    ) is noted


@pytest.mark.parametrize(
    ("cidrs", "noted"), [([], False), (["0.0.0.0/0"], False), (["10.9.0.0/16", "0.0.0.0/0"], True)]
)
def test_check_notes_that_egress_is_no_boundary_for_jobs_on_eks(
    checkout: Path, cidrs: list[str], *, noted: bool
) -> None:
    limited = document({"namespaces": {"jobs": {"egressCidrs": cidrs}}})
    (checkout / "Pulumi.prod.yaml").write_text(yaml.safe_dump({"config": {CONFIG_KEY: limited}}))
    text = (
        "note: Pulumi.prod.yaml: namespaces.jobs.egress: AWS does not support network policies on pods without an owner"
    )
    assert (text in run("check", "prod").stderr) is noted


@pytest.mark.parametrize("command", ["up", "preview", "destroy", "env", "status"])
def test_every_stack_command_says_the_same_before_anything_is_built(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def forbidden(*arguments: object, **options: object) -> None:
        pytest.fail("something was built or started for a stack file that is wrong")

    for name in ("ensure", "Instance", "open_session", "progress"):
        monkeypatch.setattr(stack, name, forbidden)
    result = CliRunner().invoke(app, [command, "bad"])
    assert isinstance(result.exception, UserError)
    more = [FOR_DESTROY] if command == "destroy" else []
    assert str(result.exception).splitlines() == ["2 problems in Pulumi.bad.yaml", *PROBLEMS, *more]


@pytest.mark.parametrize("name", sorted(stacks.stack_files()))
def test_show_prints_a_stack_file_that_means_the_same_and_leaves_no_default_unsaid(name: str) -> None:
    result = run("show", name)
    assert result.exit_code == 0
    source = yaml_source.parse(result.stdout)
    assert source.problems == ()
    shown = source.document["config"][CONFIG_KEY]
    assert parse(shown) == stacks.find(name).config
    assert shown == stacks.find(name).config.model_dump(mode="json", by_alias=True)


def test_show_keeps_text_that_looks_like_a_number_and_the_keys_of_the_engine(checkout: Path) -> None:
    tags = {"team": "0815", "cost-center": "1e3", "089": "1_000"}
    settings = document({"cluster.trustedCertificates": [EXAMPLE], "cluster.tags": tags})
    others = {"aws:profile": "0123", "acme:token": {"secure": "v1:abc="}}
    whole = {"encryptionsalt": "v1:abc=", "config": {**others, CONFIG_KEY: settings}}
    (checkout / "Pulumi.given.yaml").write_text(yaml_source.written(whole).replace(ACCOUNT, "089345678901"))
    printed = run("show", "given").stdout
    (checkout / "Pulumi.shown.yaml").write_text(printed)
    given, shown = stacks.find("given"), stacks.find("shown")
    assert shown.config == given.config
    assert shown.document["config"].pop(CONFIG_KEY)
    assert shown.document == {"encryptionsalt": "v1:abc=", "config": others}
    assert '      accountId: "089345678901"\n' in printed
    assert "      region: eu-west-1\n" in printed


def test_show_marks_what_was_not_given_and_says_why(checkout: Path) -> None:
    lines = {line.strip() for line in run("show", "good").stdout.splitlines()}
    assert "environment: dev" in lines
    assert "role: initial" in lines
    assert "profile: mlrun-ce  # default: The open-source platform runs on every kind of cluster." in lines
    assert "lifecycle: on-demand  # default: Spot nodes suit only work that survives an interruption." in lines
    assert any(line.startswith("defaultPodResources:  # default: Depends on the environment: ") for line in lines)


def test_show_prints_the_defaults_of_the_stacks_own_environment(checkout: Path) -> None:
    (checkout / "Pulumi.prod.yaml").write_text(VALID.replace("environment: dev", "environment: prod"))
    limits = [
        yaml.safe_load(run("show", name).stdout)["config"][CONFIG_KEY]["defaultPodResources"]["limits"]["cpu"]
        for name in ("good", "prod")
    ]
    assert limits == ["2", "1"]


def test_show_as_json_separates_values_from_reasons(checkout: Path) -> None:
    shown = json.loads(run("show", "good", "--json").stdout)
    assert parse(shown["config"]) == stacks.find("good").config
    reasons = {tuple(row["path"]): row["reason"] for row in shown["defaults"]}
    assert reasons[("profile",)] == "The open-source platform runs on every kind of cluster."
    assert ("environment",) not in reasons
    assert all(reasons.values())


@pytest.mark.parametrize("key", ["pools.*.size.min", "pools.gpu.size.min", "pools.size.min"])
def test_explain_tells_all_about_a_key(key: str) -> None:
    assert run("explain", key).stdout.splitlines() == [
        "pools.*.size.min",
        "  meaning   Minimum number of nodes.",
        "  type      whole number",
        "  allowed   0 to 1000",
        "  default   required",
        "  example   min: 1",
        "  decides   The autoscaler keeps at least this many nodes; with 0 an idle pool scales to zero.",
    ]


def test_explain_gives_the_default_with_its_reason() -> None:
    assert (
        "  default   on-demand: Spot nodes suit only work that survives an interruption."
        in run("explain", "pools.lifecycle").stdout.splitlines()
    )
    assert "Depends on the environment" in run("explain", "defaultPodResources").stdout


def test_explain_without_a_key_lists_every_key_once() -> None:
    lines = run("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines].count("instanceTypes") == 1
    assert lines[0].split() == ["schemaVersion", "Version", "of", "this", "format."]
    assert [row["key"] for row in json.loads(run("explain", "--json").stdout)][-2:] == ["policyGuard", "base"]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("pols.size", "Did you mean pools.size?"),
        ("minn", "Did you mean pools.size.min?"),
        ("orchard", "`igz-clusters config explain` lists all keys."),
        (".", "`igz-clusters config explain` lists all keys."),
    ],
)
def test_explain_suggests_the_nearest_keys(key: str, hint: str) -> None:
    result = run("explain", key)
    assert isinstance(result.exception, UserError)
    assert result.exception.hint == hint


@pytest.mark.parametrize("command", ["check", "explain", "show", "diff"])
def test_help_teaches_each_command(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "--json" in result.stdout


def test_what_a_file_holds_reaches_the_terminal_as_plain_text_only(checkout: Path) -> None:
    key = '"\\e[2J \\u202e [bold]:smile:[/] \\ud800"'
    (checkout / "Pulumi.bad.yaml").write_text(f"{VALID}    {key}: 1\n")
    text, parts = run("check", "bad").stdout, run("check", "bad", "--json").stdout
    assert r"['\x1b[2J \u202e [bold]:smile:[/] \ud800']: contains an unpaired Unicode surrogate" in text
    assert text.rstrip("\n").isprintable()
    assert parts.replace("\n", "").isprintable()
    assert json.loads(parts)[0]["path"] == ["\x1b[2J \u202e [bold]:smile:[/] \ud800"]


def test_nothing_is_coloured_or_cut_outside_a_terminal(checkout: Path) -> None:
    (checkout / "Pulumi.bad.yaml").write_text(VALID.replace("dev", "x" * 1000))
    printed = run("check").stdout
    assert "\x1b" not in printed
    assert printed.splitlines()[0].endswith("... (1000 characters); allowed: dev, prod)")


BASE = """\
schemaVersion: 1
layers:
  - environments: [dev]
    settings: { policies: { admission: warn } }
"""
REFINING = VALID.replace("environment: dev", "environment: dev\n    base: acme")


@pytest.fixture
def organisation(checkout: Path) -> Path:
    """A checkout with two stacks that refine a base."""
    (checkout / "Base.acme.yaml").write_text(BASE)
    for name in ("good", "bad"):
        (checkout / f"Pulumi.{name}.yaml").write_text(REFINING)
    return checkout


def committed(folder: Path) -> None:
    author = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    for command in (["init", "--quiet"], ["add", "--all"], [*author, "commit", "--quiet", "--message=x"]):
        subprocess.run(["git", "-C", folder, *command], check=True)


def test_check_looks_at_bases_too(organisation: Path) -> None:
    ok = ["Base.acme.yaml: ok", "Pulumi.bad.yaml: ok", "Pulumi.good.yaml: ok"]
    result = run("check")
    assert (result.exit_code, result.stdout.splitlines()) == (0, ok)
    assert run("check", str(organisation / "Base.acme.yaml")).stdout == "Base.acme.yaml: ok\n"


def test_check_names_the_problems_of_a_base_once(organisation: Path) -> None:
    (organisation / "Base.acme.yaml").write_text(BASE.replace("admission", "admision"))
    result = run("check")
    first, *others = result.stdout.splitlines()
    assert result.exit_code == 1
    assert first.startswith("Base.acme.yaml:4: layers[0].settings.policies.admision: unknown key, did you mean")
    assert others == [f"Pulumi.{name}.yaml: its base is invalid, see above" for name in ("bad", "good")]
    assert [row["line"] for row in json.loads(run("check", "--json").stdout)] == [4]


def test_check_answers_a_base_that_is_not_there(checkout: Path) -> None:
    said = "base: there is no Base.none.yaml beside the stack file"
    assert run("check", str(checkout / "Base.none.yaml")).stdout == f"Base.none.yaml: {said}\n"


def test_show_says_which_line_sets_a_value_if_there_is_a_base(organisation: Path) -> None:
    text = run("show", "good").stdout
    lines = {line.strip() for line in text.splitlines()}
    assert {"admission: warn  # Base.acme.yaml:4 (dev)", "environment: dev  # Pulumi.good.yaml:4"} <= lines
    assert parse(yaml.safe_load(text)["config"][CONFIG_KEY]) == stacks.find("good").config
    shown = json.loads(run("show", "good", "--json").stdout)
    assert shown["base"] == "Base.acme.yaml"
    origins = {tuple(row["path"]): (row["file"], row["line"], row["stacks"]) for row in shown["origins"]}
    assert origins["policies", "admission"] == ("Base.acme.yaml", 4, "dev")
    assert origins[("environment",)] == ("Pulumi.good.yaml", 4, "")


def test_diff_prints_a_row_a_difference_and_fails(organisation: Path) -> None:
    (organisation / "Pulumi.bad.yaml").write_text(VALID)
    result = run("diff", "good", "bad")
    assert result.exit_code == 1
    assert [line.split("  ") for line in result.stdout.splitlines()][1][0] == "policies.admission"
    assert "warn  (Base.acme.yaml:4 (dev))" in result.stdout
    (row,) = json.loads(run("diff", "good", "bad", "--json").stdout)["differences"]
    assert row["path"] == ["policies", "admission"]
    assert row["left"] == {"value": "warn", "origin": "Base.acme.yaml:4 (dev)"}
    assert row["right"]["origin"] == "default"


def test_diff_of_what_is_the_same_succeeds(organisation: Path) -> None:
    result = run("diff", "good", "bad")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "good and bad have the same configuration.\n"


def test_diff_compares_with_a_commit_and_its_base(organisation: Path) -> None:
    committed(organisation)
    assert run("diff", "good@HEAD", "good").exit_code == 0
    (organisation / "Base.acme.yaml").write_text(BASE.replace("warn", "deny"))
    (row,) = json.loads(run("diff", "good@HEAD", "good", "--json").stdout)["differences"]
    assert (row["left"]["value"], row["right"]["value"]) == ("warn", "deny")
    assert row["left"]["origin"] == row["right"]["origin"] == "Base.acme.yaml:4 (dev)"
    refused = run("diff", "good@nowhere", "good").exception
    assert str(refused).startswith("good@nowhere: 'nowhere' is neither a stack nor a commit")
    assert isinstance(refused, NoVerdictError)
    assert str(run("diff", "../good@HEAD", "good").exception).startswith("Stack '../good' not found")


def test_diff_compares_with_a_stack_that_was_renamed_or_deleted_since(organisation: Path) -> None:
    committed(organisation)
    (organisation / "Pulumi.good.yaml").rename(organisation / "Pulumi.better.yaml")
    assert run("diff", "good@HEAD", "better").exit_code == 0
    absent = run("diff", "godo@HEAD", "better").exception
    assert isinstance(absent, NoVerdictError)
    assert "has no file Pulumi.godo.yaml.\nName a commit that has it, or another stack." in str(absent)


def test_diff_names_the_base_of_a_commit_in_which_it_was_invalid(organisation: Path) -> None:
    (organisation / "Base.acme.yaml").write_text(BASE.replace("admission", "admision"))
    committed(organisation)
    (organisation / "Base.acme.yaml").write_text(BASE)
    said = str(run("diff", "good@HEAD", "good").exception).splitlines()
    assert said[1] == "1 problem in Base.acme.yaml"
    assert said[2].startswith("Base.acme.yaml:4: layers[0].settings.policies.admision: unknown key")


def test_diff_names_the_stack_file_of_a_commit_in_which_its_base_did_not_fit(organisation: Path) -> None:
    wrong = "schemaVersion: 1\nlayers: [{ settings: { pools: { spare: { role: workload } } } }]\n"
    (organisation / "Base.acme.yaml").write_text(wrong)
    committed(organisation)
    said = str(run("diff", "good@HEAD", "good").exception).splitlines()
    assert said[2].startswith("Base.acme.yaml:2: pools.spare.size: in Pulumi.good.yaml: is required")


ORGANISATION = Path(__file__).parents[3] / "examples" / "organisation"


def test_the_example_of_an_organisation_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(ORGANISATION))
    result = run("check")
    files = ["Base.acme", "Pulumi.acme-azure", "Pulumi.acme-dev", "Pulumi.acme-prod"]
    assert result.stdout.splitlines() == [f"{file}.yaml: ok" for file in files]
    prod = stacks.find("acme-prod").config.cluster.model_dump(by_alias=True)
    assert prod["tags"] == {"team": "ml-platform", "cost-center": "4712"}
    assert prod["zones"] == ("a", "b")
