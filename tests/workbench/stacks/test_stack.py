"""Stack files as they lie on the disk: what is wrong with them, and in which line."""

from pathlib import Path

import pytest
import yaml

from support.stack_files import VALID
from workbench import stacks
from workbench.stacks import StackFileError
from workbench.system.errors import UserError

BAD = sorted((Path(__file__).parent / "stack_files").glob("*.yaml"))


def problems(file: Path) -> list[str]:
    """Return the lines about a file, without its name in front."""
    with pytest.raises(StackFileError) as caught:
        stacks.read(file)
    return [line.removeprefix(f"{caught.value.file}:").lstrip() for line in caught.value.lines]


@pytest.mark.parametrize("file", BAD, ids=[file.stem for file in BAD])
def test_a_bad_file_is_answered_with_all_its_problems_and_their_lines(file: Path) -> None:
    assert problems(file) == file.with_suffix(".txt").read_text().splitlines()


def test_every_expectation_belongs_to_a_file() -> None:
    assert {file.stem for file in BAD} == {file.stem for file in BAD[0].parent.glob("*.txt")}


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
        file.symlink_to(file)  # a circle, which nobody can read, the superuser neither
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
    texts = [file.with_suffix(".txt").read_text() for file in BAD]
    given = [file.read_bytes() for file in BAD]
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


def test_problems_are_listed_by_line() -> None:
    for file in BAD:
        with pytest.raises(StackFileError) as caught:
            stacks.read(file)
        lines = [problem.line or 0 for problem in caught.value.problems]
        assert lines == sorted(lines)
