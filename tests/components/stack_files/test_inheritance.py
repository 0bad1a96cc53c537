"""Where the base of a stack is, and what keeps it from being read."""

from pathlib import Path

import pytest

from components.stack_files.inheritance import BaseFileError, base_name, folder_of_the_run, inherit

BASE = "schemaVersion: 1\nlayers: [{ settings: { policies: { admission: warn } } }]\n"


def refused(settings: object, folder: Path) -> str:
    with pytest.raises(BaseFileError) as caught:
        inherit(settings, folder)
    (problem,) = caught.value.problems
    return f"{caught.value.file.name if caught.value.file else 'stack'}: {problem}"


@pytest.mark.parametrize("settings", [None, "text", [], {}, {"environment": "dev"}])
def test_settings_without_a_base_stay_the_very_same(settings: object, tmp_path: Path) -> None:
    assert inherit(settings, tmp_path).settings is settings


def test_null_is_no_base(tmp_path: Path) -> None:
    assert inherit({"base": None, "environment": "dev"}, tmp_path).settings == {"environment": "dev"}


def test_the_settings_of_the_base_are_below_those_of_the_stack_file(tmp_path: Path) -> None:
    (tmp_path / "Base.acme.yaml").write_text(BASE)
    found = inherit({"base": "acme", "policies": {"requiredTags": ["team"]}}, tmp_path)
    assert found.settings == {"policies": {"admission": "warn", "requiredTags": ["team"]}}
    assert found.in_base(("policies", "admission")) == ("layers", 0, "settings", "policies", "admission")
    assert found.in_base(("policies", "requiredTags", 0)) is None
    assert found.in_base(("policies", "admission", "missing")) == ("layers", 0, "settings", "policies", "admission")
    assert found.in_base(("policies", "missing")) is None


@pytest.mark.parametrize("name", ["../acme", "/etc/passwd", "Base.acme.yaml", "a/b", "", "Acme", 3, ["acme"], "a" * 64])
def test_a_base_is_named_and_cannot_be_elsewhere(name: object, tmp_path: Path) -> None:
    assert refused({"base": name}, tmp_path).startswith("stack: base: must be the NAME of a file Base.NAME.yaml beside")


def test_a_base_that_is_missing_is_answered_with_those_that_exist(tmp_path: Path) -> None:
    (tmp_path / "Base.acme.yaml").write_text(BASE)
    said = "there is no Base.acmee.yaml beside the stack file, did you mean 'acme'? (allowed: acme)"
    assert refused({"base": "acmee"}, tmp_path) == f"stack: base: {said}"


def test_a_base_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "Base.acme.yaml"
    file.mkdir()
    assert refused({"base": "acme"}, tmp_path) == "Base.acme.yaml: the file cannot be read: not a regular file"
    file.rmdir()
    file.write_text("layers: [")
    assert refused({"base": "acme"}, tmp_path).startswith("Base.acme.yaml: invalid YAML: ")


def test_a_link_to_a_file_elsewhere_is_refused_without_its_content(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("password: hidden\n")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Base.acme.yaml").symlink_to("../secret")
    said = "is a link to a file outside of its folder; copy that file here"
    assert refused({"base": "acme"}, tmp_path / "stacks") == f"Base.acme.yaml: {said}"


@pytest.mark.parametrize(
    ("file", "name"),
    [("Base.acme.yaml", "acme"), ("Pulumi.acme.yaml", ""), ("a/Base.acme.yaml", ""), ("Base.a/b.yaml", "")],
)
def test_bases_are_known_by_their_names(file: str, name: str) -> None:
    assert base_name(file) == name


def test_programs_of_the_engine_look_beside_its_stack_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PULUMI_OPTION_CONFIG_FILE", raising=False)
    assert (folder_of_the_run() / "Pulumi.yaml").exists()
    monkeypatch.setenv("PULUMI_OPTION_CONFIG_FILE", str(tmp_path / "Pulumi.dev.yaml"))
    assert folder_of_the_run() == tmp_path
