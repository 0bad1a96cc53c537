"""Settings of the stacks of a change, read without its code."""

from pathlib import Path

from support.stack_files import VALID
from workbench.review.own import choices_of

REFINING = VALID.replace("environment: dev", "environment: dev\n    base: acme")


def test_the_settings_of_a_base_are_those_of_the_stack(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(REFINING)
    (tmp_path / "Base.acme.yaml").write_text("schemaVersion: 1\nlayers: [{ settings: { policyGuard: off } }]\n")
    assert choices_of(file)["policyGuard"] == "off"
    assert "base" not in choices_of(file)


def test_a_stack_whose_base_is_wrong_has_no_settings(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(REFINING)
    assert choices_of(file) == {}
    (tmp_path / "Base.acme.yaml").symlink_to(tmp_path.parent)
    assert choices_of(file) == {}
