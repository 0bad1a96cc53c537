"""Stack files as they lie on the disk: what is wrong with them, and in which line."""

import json
import re
from pathlib import Path

import pytest
import yaml

from infra.config import CONFIG_KEY
from support.eks import document
from support.stack_cases import CaseFileError
from support.stack_files import VALID, BadFile, bad_files
from workbench import stacks
from workbench.stacks import StackFileError
from workbench.system.errors import UserError


def problems(file: Path) -> list[str]:
    """Return the lines about a file, without its name in front."""
    with pytest.raises(StackFileError) as caught:
        stacks.read(file)
    return [line.removeprefix(f"{caught.value.file}:").lstrip() for line in caught.value.lines]


@pytest.mark.parametrize("bad", bad_files(), ids=lambda bad: bad.name)
def test_a_bad_file_is_answered_with_all_its_problems_and_their_lines(bad: BadFile, tmp_path: Path) -> None:
    file = tmp_path / f"{bad.name}.yaml"
    file.write_bytes(bad.content)
    assert problems(file) == list(bad.problems)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x: {text: a, after: b, problems: [c]}", "bad.yaml: x: has the keys text, after, problems; needs 'text', or "),
        ("x: {text: a}", "bad.yaml: x: 'problems' must list at least one message"),
        ("x: {text: a, problems: [c]}\nx: {}", "bad.yaml: 'x' is given twice"),
    ],
)
def test_a_mistake_in_the_cases_says_where_it_is(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(CaseFileError, match=f"^{re.escape(message)}"):
        bad_files(tmp_path)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("# comment\n", "the file is larger than the limit of 1024 KiB"),
        ("      - x\n", "the file is larger than the limit of 1024 KiB"),
    ],
)
def test_a_megabyte_is_refused(tmp_path: Path, row: str, said: str) -> None:
    file = tmp_path / "Pulumi.large.yaml"
    file.write_text(VALID + row * (2**20 // len(row)))
    assert problems(file) == [said]


def test_half_a_megabyte_of_pools_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.large.yaml"
    rows = "".join(f"      p{number}: {{ role: workload, size: 1, spare: [a, b, c] }}\n" for number in range(10_000))
    file.write_text(VALID + rows)
    (line,) = problems(file)
    assert line.endswith(": the file contains more than 5000 values (each use of an alias counts)")


def test_many_problems_are_counted_and_not_all_printed(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.many.yaml"
    file.write_text(VALID + "".join(f"      p{number}: {{}}\n" for number in range(100)))
    with pytest.raises(StackFileError) as caught:
        stacks.read(file)
    assert len(caught.value.problems) == 300
    assert len(str(caught.value).splitlines()) == 1 + stacks.PROBLEMS_SHOWN + 1
    assert str(caught.value).endswith(f"... and 250 more: `igz-clusters config check {file}`")


@pytest.mark.parametrize("kind", ["folder", "missing", "unreadable"])
def test_a_file_that_cannot_be_read_is_a_problem_of_that_file(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "Pulumi.x.yaml"
    if kind == "folder":
        file.mkdir()
    if kind == "unreadable":
        file.symlink_to(file)  # a circle, which not even the superuser can read
    (line,) = problems(file)
    assert line.startswith("the file cannot be read: ")


@pytest.mark.parametrize(
    "more",
    [
        "  aws:region: eu-central-1\n  kubernetes:context: x\n  pulumi:tags: { a: b }\n  aws-native:x: 1\n",
        "  other:secret: { secure: v1:x }\nencryptionsalt: v1:abc\nsecretsprovider: passphrase\nencryptedkey: x\n",
        "environment:\n  - base\n",
        "      more: &more { role: data, size: { min: 1, max: 1 }, instanceTypes: [i4i.xlarge] }\n      again: *more\n",
        "      merged: { <<: { role: data, size: { min: 1, max: 1 } }, instanceTypes: [i3en.2xlarge] }\n",
        "      on: { role: workload, size: { min: 0, max: 1 }, instanceTypes: [m6i.2xlarge] }\n",
    ],
    ids=["other namespaces", "the engine's keys", "environments", "aliases", "merges", "a key that looks like a flag"],
)
def test_what_is_none_of_our_business_and_what_yaml_offers_is_accepted(tmp_path: Path, more: str) -> None:
    file = tmp_path / "Pulumi.good.yaml"
    file.write_text(VALID + more)
    assert stacks.read(file).name == "good"
    assert stacks.read(file).document == yaml.safe_load(file.read_text().replace(" on:", ' "on":'))


def test_no_encrypted_value_and_no_value_of_an_unknown_key_is_ever_shown() -> None:
    texts = [problem for bad in bad_files() for problem in bad.problems]
    given = [bad.content for bad in bad_files()]
    for secret in ("bm90IHNob3du", "hunter2"):
        assert any(secret.encode() in content for content in given)
        assert [text for text in texts if secret in text] == []


def test_a_stack_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(UserError) as caught:
        stacks.find("locla")
    known = ", ".join(sorted(stacks.stack_files()))
    assert (
        str(caught.value)
        == f"Stack 'locla' not found in {stacks.folder()}.\nDid you mean 'local'? Known stacks: {known}."
    )


def test_problems_are_listed_by_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    for bad in bad_files():
        file.write_bytes(bad.content)
        with pytest.raises(StackFileError) as caught:
            stacks.read(file)
        lines = [problem.line or 0 for problem in caught.value.problems]
        assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("aws:secretKey: x", "config['aws:secretKey']: is a credential in plain text"),
        ("aws:accessKey: x", "config['aws:accessKey']: is a credential in plain text"),
        ("aws:endpoints: []", "config['aws:endpoints']: would send the stack's calls elsewhere"),
        ("kubernetes:kubeconfig: x", "config['kubernetes:kubeconfig']: is not used"),
        ("pulumi:autonaming: {}", "config['pulumi:autonaming']: would rename resources"),
        ("pulumi:disable-default-providers: []", "config['pulumi:disable-default-providers']: would disable"),
        ("aws:region: eu-west-1", ""),
        (
            "aws:region: us-east-1",
            "config['aws:region']: is not cluster.region; remove it (given: 'us-east-1'; allowed: eu-west-1)",
        ),
        ("aws:secretKey: {secure: x}", ""),
    ],
)
def test_a_setting_of_a_provider_that_contradicts_ours_is_refused(tmp_path: Path, line: str, problem: str) -> None:
    file = tmp_path / "Pulumi.mine.yaml"
    choices = json.dumps(document())
    file.write_text(f"config:\n  {line}\n  {CONFIG_KEY}: {choices}\n")
    if not problem:
        assert stacks.read(file).name == "mine"
        return
    with pytest.raises(stacks.StackFileError) as caught:
        stacks.read(file)
    (said,) = caught.value.lines
    assert f":2: {problem}" in said


def test_a_link_to_a_file_elsewhere_is_refused_without_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("password: hidden\n")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.mine.yaml").symlink_to("../secret")
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path / "stacks"))
    with pytest.raises(StackFileError) as caught:
        stacks.find("mine")
    assert caught.value.lines == [
        f"Pulumi.mine.yaml: is a link to a file outside of {tmp_path}/stacks; copy that file here"
    ]
