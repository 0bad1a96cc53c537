import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from policies import waivers
from support.stack_files import VALID
from workbench import stacks
from workbench.stacks import StackFileError, policy_overrides

ROW = """\
  - rule: NG-17
    stack: mine
    resource: aws:eks/nodeGroup:NodeGroup::legacy*
    reason: goes with the migration
    owner: ml-platform
    ticket: OPS-1
    expires: {expires}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(waivers, "today", lambda: date(2026, 11, 21))
    (tmp_path / "Pulumi.mine.yaml").write_text(VALID)
    (tmp_path / "policies").mkdir()
    return tmp_path


def attached(folder: Path) -> dict[str, str]:
    configuration = policy_overrides.pack_configuration("mine")
    return policy_overrides.attaching([Path("a"), Path("b")], configuration, folder / "packs.json")


def write(folder: Path, text: str) -> None:
    (folder / policy_overrides.FILE).write_text(text)


def test_without_the_file_the_packs_get_an_empty_configuration_instead_of_another_stacks(
    folder: Path, tmp_path: Path
) -> None:
    given = attached(tmp_path)
    assert given["PULUMI_OPTION_POLICY_PACK"] == "a,b"
    assert given["IGZ_CLUSTERS_POLICY_GUARD"] == "attached"
    assert policy_overrides.detached({**given, "HOME": "/home/me"}) == {"HOME": "/home/me"}
    assert [json.loads(Path(file).read_text()) for file in given["PULUMI_OPTION_POLICY_PACK_CONFIG"].split(",")] == [
        {},
        {},
    ]


def test_a_file_without_rows_hands_nothing_on(folder: Path) -> None:
    write(folder, "waivers: []\n")
    assert policy_overrides.pack_configuration("mine") == {}


def test_a_stack_gets_its_own_rows_at_the_rules_own_level(folder: Path) -> None:
    write(folder, "waivers:\n" + ROW.format(expires="2026-12-31") + ROW.format(expires="2026-11-01"))
    [(name, entry)] = policy_overrides.pack_configuration("mine").items()
    assert name == "ng-17-gpu-group-is-tainted"
    assert entry["enforcementLevel"] == "mandatory"
    assert [row["expires"] for row in entry["waivers"]] == ["2026-12-31", "2026-11-01"]
    assert policy_overrides.pack_configuration("other") == {}


def test_the_engine_gets_one_file_for_each_pack(folder: Path, tmp_path: Path) -> None:
    write(folder, "waivers:\n" + ROW.format(expires="2026-12-31"))
    given = attached(tmp_path)
    first, second = given["PULUMI_OPTION_POLICY_PACK_CONFIG"].split(",")
    assert first == second
    assert json.loads(Path(first).read_text()) == policy_overrides.pack_configuration("mine")


def refused(folder: Path, text: str) -> list[str]:
    write(folder, text)
    with pytest.raises(StackFileError) as caught:
        policy_overrides.read()
    return caught.value.lines


def test_all_mistakes_are_named_at_once_with_their_lines(folder: Path) -> None:
    text = ROW.format(expires="2027-03-01").replace("NG-17", "NG-99").replace("mine", "yours")
    assert refused(folder, "remediate: [NG-01]\nwaivers:\n" + text) == [
        "policies/overrides.yaml:1: remediate[0]: cannot remediate violations automatically (given: NG-01; allowed: "
        + ", ".join(policy_overrides._WITH_REMEDY)
        + ")"
        if policy_overrides._WITH_REMEDY
        else "policies/overrides.yaml:1: remediate[0]: cannot remediate violations automatically (given: NG-01)",
        "policies/overrides.yaml:3: waivers[0].rule: unknown; `igz-clusters policy list` lists all rules (given: NG-99)",  # noqa: E501
        "policies/overrides.yaml:4: waivers[0].stack: unknown stack (given: yours; allowed: mine)",
        "policies/overrides.yaml:9: waivers[0].expires: is too late, at most 2027-02-19 (given: 2027-03-01)",
    ]


APPROVAL = ROW.replace("rule: NG-17", "operation: replace")


def test_approvals_are_read_and_never_handed_to_the_packs(folder: Path) -> None:
    write(folder, "approvals:\n" + APPROVAL.format(expires="2026-12-05"))
    [approval] = policy_overrides.read().approvals
    assert approval.label == "the approval OPS-1 of ml-platform to replace aws:eks/nodeGroup:NodeGroup::legacy*"
    assert policy_overrides.pack_configuration("mine") == {}


def test_an_approval_is_for_one_stack_one_operation_and_what_its_pattern_names(folder: Path) -> None:
    write(folder, "approvals:\n" + APPROVAL.format(expires="2026-11-20"))
    [approval] = policy_overrides.read().approvals
    group = "aws:eks/nodeGroup:NodeGroup"
    assert approval.allows("mine", "replace", group, "legacy-a")
    assert not approval.allows("other", "replace", group, "legacy-a")
    assert not approval.allows("mine", "delete", group, "legacy-a")
    assert not approval.allows("mine", "replace", group, "initial")
    assert approval.has_expired


def test_all_mistakes_of_approvals_are_named_beside_those_of_waivers(folder: Path) -> None:
    wrong = APPROVAL.format(expires="2026-12-06").replace("mine", "yours")
    text = "waivers:\n" + ROW.format(expires="2027-02-20") + "approvals:\n" + wrong
    assert refused(folder, text) == [
        "policies/overrides.yaml:8: waivers[0].expires: is too late, at most 2027-02-19 (given: 2027-02-20)",
        "policies/overrides.yaml:11: approvals[0].stack: unknown stack (given: yours; allowed: mine)",
        "policies/overrides.yaml:16: approvals[0].expires: is too late, at most 2026-12-05 (given: 2026-12-06)",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("approvals:\n  - operation: remove\n", "approvals[0].operation: unknown value"),
        ("approvals:\n  - rule: NG-17\n", "approvals[0].rule: unknown key"),
        ("approvals:\n  - stack: mine\n", "approvals[0].ticket: is required"),
        ("waivers:\n  - rule: ng-17\n", "waivers[0].rule: must match"),
        ("waivers:\n  - rule: NG-17\n", "waivers[0].owner: is required"),
        ("waivers:\n  - because\n", "waivers[0]: must be a mapping with the keys stack, resource"),
        ("waiver: []\n", "waiver: unknown key, did you mean 'waivers'? (allowed: waivers, approvals, remediate)"),
        ("waivers: {}\n", "waivers: must be a list of mappings"),
        ("- 1\n", "must be a mapping with the keys waivers, approvals, remediate"),
        ("# nothing yet\n", "the file is empty"),
        ("waivers: [\n", "policies/overrides.yaml:"),
        ("waivers:\n" + ROW.format(expires="soon"), "waivers[0].expires: "),
    ],
)
def test_what_is_no_override_is_answered(folder: Path, text: str, said: str) -> None:
    assert any(said in line for line in refused(folder, text))


def test_an_expired_row_is_left_to_the_packs(folder: Path) -> None:
    write(folder, "waivers:\n" + ROW.format(expires="2020-01-01"))
    assert policy_overrides.pack_configuration("mine")["ng-17-gpu-group-is-tainted"]["waivers"]


def test_what_the_engine_is_handed_is_what_the_packs_read(folder: Path) -> None:
    write(folder, "waivers:\n" + ROW.format(expires="2026-12-31"))
    rows: list[Any] = policy_overrides.pack_configuration("mine")["ng-17-gpu-group-is-tainted"]["waivers"]
    read = waivers.Waivers()
    read.add("NG-17", json.loads(json.dumps(rows)))
    assert (len(read.rows), read.refused) == (1, [])
