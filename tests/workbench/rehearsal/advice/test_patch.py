import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from components.stack_files import yaml_source
from infra.config import KeyPath
from workbench.rehearsal.advice.edits import Edit, inline
from workbench.rehearsal.advice.patch import PatchError, edited, patch_of, read_text
from workbench.stacks import CHOICES_PATH, read, stack_files
from workbench.system.paths import PROJECT_ROOT

TEXT = """\
# A cluster.
config:
  igz-clusters:stack:
    pools:
      initial: # core services
        role: initial
        size: { min: 2, max: 2 } # static
        instanceTypes: [m6i.2xlarge]
      spot:   # cheap
        role: workload
        lifecycle: spot # yours
        size:
          min: 0   # idle
          max: 20
        instanceTypes:
          - m6i.2xlarge # first
          - "m5.2xlarge"
      # The last comment.
    namespaces:
      mlrun:
        quota: {cpu: '64', memory: 256Gi}
"""


def after(value: Any, *path: str | int, text: str = TEXT) -> str:
    return edited(text, [Edit(path, value)], CHOICES_PATH)


def changed_lines(value: Any, *path: str | int) -> tuple[list[str], list[str]]:
    """Return the lines that an edit removes and adds."""
    old, new = TEXT.splitlines(), after(value, *path).splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("path", "value", "removed", "added"),
    [
        (("pools", "initial", "size", "max"), 3, "{ min: 2, max: 2 } # static", "{ min: 2, max: 3 } # static"),
        (("pools", "spot", "size", "min"), 4, "          min: 0   # idle", "          min: 4   # idle"),
        (("pools", "spot", "lifecycle"), "on-demand", "lifecycle: spot # yours", "lifecycle: on-demand # yours"),
        (
            ("pools", "initial", "instanceTypes"),
            ["m6i.2xlarge", "m5.2xlarge"],
            "[m6i.2xlarge]",
            "[m6i.2xlarge, m5.2xlarge]",
        ),
        (("pools", "initial", "instanceTypes"), ["m6i.4xlarge"], "[m6i.2xlarge]", "[m6i.4xlarge]"),
        (("namespaces", "mlrun", "quota", "cpu"), "96", "{cpu: '64', memory: 256Gi}", '{cpu: "96", memory: 256Gi}'),
    ],
)
def test_a_value_changes_and_its_line_stays_otherwise(path: KeyPath, value: Any, removed: str, added: str) -> None:
    old, new = changed_lines(value, *path)
    assert [len(old), len(new)] == [1, 1]
    assert removed in old[0]
    assert added in new[0]


@pytest.mark.parametrize(
    ("path", "value", "line", "before"),
    [
        (("pools", "spot", "zonal"), True, "        zonal: true", "        lifecycle: spot # yours"),
        (
            ("namespaces", "mlrun", "quota", "gpus"),
            2,
            "        quota: {cpu: '64', memory: 256Gi, gpus: 2}",
            "        size:",
        ),
        (
            ("pools", "spot", "instanceTypes"),
            ["m6i.2xlarge", "m5.2xlarge", "m5a.2xlarge"],
            "          - m5a.2xlarge",
            "      # The last comment.",
        ),
    ],
)
def test_a_new_key_or_item_is_one_line(path: KeyPath, value: Any, line: str, before: str) -> None:
    _, new = changed_lines(value, *path)
    assert new == [line]
    assert before in after(value, *path)


def test_a_new_pool_follows_the_last_one_in_the_file_s_own_indentation() -> None:
    pool = {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["g5.2xlarge"]}
    text = after(pool, "pools", "gpu")
    assert (
        '          - "m5.2xlarge"\n      gpu:\n        role: gpu\n        size: { min: 0, max: 4 }\n'
        "        instanceTypes: [g5.2xlarge]\n      # The last comment.\n"
    ) in text


def test_a_new_pool_in_a_flow_mapping_stays_in_its_line() -> None:
    text = "a: {x: 1}\n"
    assert edited(text, [Edit(("a", "k"), {"z": 2})]) == "a: {x: 1, k: { z: 2 }}\n"
    assert edited("a: {}\n", [Edit(("a", "k"), 2)]) == "a: { k: 2}\n"


def test_a_mapping_that_is_missing_is_added_with_its_key() -> None:
    assert edited("works:\n  train:\n    kind: pod\n", [Edit(("works", "train", "volume", "size"), "1Gi")]) == (
        'works:\n  train:\n    kind: pod\n    volume:\n      size: "1Gi"\n'
    )


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        ("a:\n  b: 1 # gone\n  c: 2\n", ("a", "b"), "a:\n  c: 2\n"),
        ("a: { b: 1, c: 2 }\n", ("a", "b"), "a: { c: 2 }\n"),
        ("a: { b: 1, c: 2 }\n", ("a", "c"), "a: { b: 1 }\n"),
        ("a:\n  b:\n    x: 1\n    y: [1,\n      2]\n  c: 2\n", ("a", "b"), "a:\n  c: 2\n"),
    ],
)
def test_a_removed_key_takes_its_value_along(text: str, path: KeyPath, result: str) -> None:
    assert edited(text, [Edit(path, None)]) == result


@pytest.mark.parametrize("indent", ["", "  "])
def test_another_list_stands_on_the_line_of_its_key(indent: str) -> None:
    text = f"a:\n{indent}- x: 1\n{indent}  y: 2\n{indent}- x: 3\n# end\nb: 1\n"
    assert edited(text, [Edit(("a",), [{"x": 4}])]) == "a: [{ x: 4 }]\n# end\nb: 1\n"


def test_line_ends_of_other_systems_and_a_missing_last_one_stay() -> None:
    windows = TEXT.replace("\n", "\r\n")
    assert after(7, "pools", "spot", "size", "max", text=windows) == TEXT.replace("max: 20", "max: 7").replace(
        "\n", "\r\n"
    )
    with_pool = after({"role": "gpu"}, "pools", "gpu", text=windows)
    assert "\r\n      gpu:\r\n        role: gpu\r\n" in with_pool
    assert "\n" not in with_pool.replace("\r\n", "")
    assert edited("a:\n  b: 1", [Edit(("a", "c"), 2)]) == "a:\n  b: 1\n  c: 2"
    assert edited("\ufeffa: 1\n", [Edit(("a",), 2)]) == "\ufeffa: 2\n"


def test_edits_apply_one_after_the_other() -> None:
    size = ("pools", "initial", "size")
    text = edited(TEXT, [Edit((*size, "max"), 4), Edit((*size, "min"), 4)], CHOICES_PATH)
    assert "size: { min: 4, max: 4 } # static" in text


def test_an_alias_is_not_changed_behind_the_back_of_its_anchor() -> None:
    text = "a: &size { max: 1 }\nb: *size\nc:\n  <<: *size\n"
    for path in (("b", "max"), ("a", "max")):
        with pytest.raises(PatchError, match="cannot be written into the file"):
            edited(text, [Edit(path, 2)])
    assert edited(text, [Edit(("c", "max"), 2)]).endswith("c:\n  <<: *size\n  max: 2\n")


@pytest.mark.parametrize("name", sorted(stack_files(PROJECT_ROOT)))
def test_every_number_of_every_stack_file_can_be_edited(name: str) -> None:
    text = read_text(stack_files(PROJECT_ROOT)[name])
    pools = yaml_source.parse(text).document["config"]["igz-clusters:stack"]["pools"]
    for pool in pools:
        for key in ("min", "max"):
            assert text.count("\n") == after(77, "pools", pool, "size", key, text=text).count("\n")
        assert pool in after({"role": "gpu", "size": {"min": 0, "max": 1}}, "pools", f"{pool}-2", text=text)


@pytest.mark.parametrize(
    "value",
    ["yes", "64", "a b", "", "x: y", "#no", "tab\t", 'quo"te', "null", "1:30", " lead", "-dash", "m6i.xlarge", "ü"],
)
def test_every_text_is_read_back_as_it_is(value: str) -> None:
    assert yaml_source.parse(f"a: {inline(value)}\nb: [{inline(value)}]\n").document == {"a": value, "b": [value]}


def git(folder: Path, *arguments: str, given: str | None = None) -> str:
    program = shutil.which("git")
    assert program
    command = [program, "-C", str(folder), "-c", "core.autocrlf=false", *arguments]
    return subprocess.run(command, check=True, text=True, input=given, capture_output=True).stdout


@pytest.mark.parametrize("where", ["Pulumi.dev.yaml", "examples/a b/Pulumi.x.yaml"])
@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), TEXT.rstrip("\n")])
def test_git_applies_the_patch_to_exactly_the_edited_text(tmp_path: Path, where: str, text: str) -> None:
    git(tmp_path, "init", "-q")
    file = tmp_path / where
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    pool = {"role": "gpu", "size": {"min": 0, "max": 4}}
    edits = [Edit(("namespaces", "mlrun", "quota", "gpus"), 4), Edit(("pools", "gpu"), pool)]
    wanted = edited(text, edits, CHOICES_PATH)
    patch = patch_of(file, text, wanted)
    (tmp_path / "a.patch").write_bytes(patch.encode())
    git(tmp_path, "apply", "--whitespace=nowarn", "a.patch")
    assert file.read_bytes().decode() == wanted


def test_equal_texts_have_no_patch(tmp_path: Path) -> None:
    assert patch_of(tmp_path / "a.yaml", TEXT, TEXT) == ""


BASE = """\
schemaVersion: 1
layers:
  - settings:
      pools:
        initial: { role: initial, size: { min: 2, max: 2 }, instanceTypes: [m6i.2xlarge] }
        work: { role: workload, size: { min: 0, max: 3 }, instanceTypes: [m6i.2xlarge] }
"""


@pytest.mark.parametrize("own", ["", "    pools:\n      work: { labels: { a: b } }\n"])
def test_an_edit_of_an_inherited_value_refines_it_in_the_stack_file(own: str, tmp_path: Path) -> None:
    head = "config:\n  igz-clusters:stack:\n    schemaVersion: 1\n    base: acme\n    environment: dev\n"
    file = tmp_path / "Pulumi.one.yaml"
    (tmp_path / "Base.acme.yaml").write_text(BASE)
    file.write_text(
        edited(
            f"{head}    cluster: {{ kind: local }}\n{own}", [Edit(("pools", "work", "size", "max"), 6)], CHOICES_PATH
        )
    )
    pools = read(file).config.pools
    assert (pools["work"].size.min, pools["work"].size.max, len(pools)) == (0, 6, 2)
    assert pools["work"].labels == ({"a": "b"} if own else {})
