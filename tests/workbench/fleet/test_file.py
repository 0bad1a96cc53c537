"""The file of the waves: what it means, and every mistake in it at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.fleet import file
from workbench.fleet.file import Plan, Planned
from workbench.stacks import StackFileError
from workbench.system.errors import UserError

Folder = Callable[..., Path]

LABEL = "must be 1 to 63 lower-case letters, digits or '-', no '-' at the ends"
BOTH = "allowed: acme-dev, acme-prod"

WAVES = """\
atOnce: 4
waves:
  - name: canary
    stacks: [acme-dev, "*-canary"]
    bake: 30m
    verify: true
  - name: rest
    stacks: ["*"]
    failures: 1
"""


def mistakes(folder: Path) -> list[str]:
    with pytest.raises(StackFileError) as refused:
        file.read()
    assert str(folder) not in str(refused.value), "paths are relative to the folder"
    return refused.value.lines


def test_each_stack_is_in_the_first_wave_that_takes_it(folder: Folder) -> None:
    place = folder("acme-dev", "acme-prod", "b-canary", "b-prod", fleet=WAVES)
    assert file.read() == Plan(
        (
            Planned("canary", ("acme-dev", "b-canary"), bake=1800, verify=True),
            Planned("rest", ("acme-prod", "b-prod"), failures=1),
        ),
        at_once=4,
        file=place / "fleet.yaml",
    )


def test_without_a_file_one_wave_has_all_stacks(folder: Folder) -> None:
    folder("b", "a")
    assert file.read() == Plan((Planned("all", ("a", "b")),), at_once=2)


def test_stacks_in_no_wave_are_left_out_by_name(folder: Folder) -> None:
    folder("a", "b", "c", fleet="waves: [{name: one, stacks: [b]}]")
    assert file.read().left_out == ("a", "c")


def test_another_file_can_be_named(folder: Folder) -> None:
    other = folder("a", "b", fleet=WAVES) / "other.yaml"
    other.write_text("waves: [{name: one, stacks: [b]}]")
    assert file.read(other).stacks == ("b",)


def test_all_mistakes_are_named_with_their_lines(folder: Folder) -> None:
    place = folder(
        "acme-dev",
        "acme-prod",
        fleet="""\
atOnce: 0
wave: 1
waves:
  - name: Canary
    stacks: [acme-dev]
    bake: 30
  - name: rest
    stacks: []
    failures: -1
""",
    )
    assert mistakes(place) == [
        "fleet.yaml:1: atOnce: must be at least 1 (given: 0; allowed: 1 to 32)",
        "fleet.yaml:2: wave: unknown key, did you mean 'waves'? (allowed: atOnce, waves)",
        f"fleet.yaml:4: waves[0].name: {LABEL} (given: 'Canary')",
        "fleet.yaml:6: waves[0].bake: needs a unit, such as 30s or 30m (given: 30)",
        "fleet.yaml:8: waves[1].stacks: must have at least 1 entry",
        "fleet.yaml:9: waves[1].failures: must be at least 0 (given: -1; allowed: 0 to 100)",
    ]


def test_stacks_that_do_not_exist_or_are_taken_are_named(folder: Folder) -> None:
    place = folder(
        "acme-dev",
        "acme-prod",
        fleet="""\
waves:
  - name: canary
    stacks:
      - acme-dve
      - eu-*
      - acme-dev
  - name: second
    stacks: [acme-dev]
  - name: rest
    stacks: ["*"]
  - name: none
    stacks: ["acme-*"]
""",
    )
    assert mistakes(place) == [
        f"fleet.yaml:4: waves[0].stacks[0]: unknown stack, did you mean 'acme-dev'? (given: 'acme-dve'; {BOTH})",
        f"fleet.yaml:5: waves[0].stacks[1]: matches no stack (given: 'eu-*'; {BOTH})",
        "fleet.yaml:8: waves[1].stacks[0]: is in the wave 'canary' already; keep one (given: 'acme-dev')",
        "fleet.yaml:12: waves[3].stacks: all of these stacks are in earlier waves; remove it",
    ]


def test_two_waves_of_one_name_are_refused(folder: Folder) -> None:
    place = folder("a", "b", fleet="waves:\n- {name: one, stacks: [a]}\n- {name: one, stacks: [b]}\n")
    assert mistakes(place) == ["fleet.yaml:3: waves[1].name: is the name of an earlier wave (given: 'one')"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "fleet.yaml:1: the file must be a mapping (given: a list; allowed: atOnce, waves)"),
        ("waves: [", "fleet.yaml:1: invalid YAML: "),
    ],
)
def test_a_file_that_is_no_mapping_is_refused(folder: Folder, text: str, message: str) -> None:
    place = folder("a", fleet=text)
    assert mistakes(place)[0].startswith(message)


def test_a_file_that_is_named_must_exist(folder: Folder) -> None:
    place = folder("a")
    with pytest.raises(StackFileError, match="the file cannot be read: No such file or directory"):
        file.read(place / "no.yaml")


def test_a_folder_without_stacks_is_refused(folder: Folder) -> None:
    folder()
    with pytest.raises(UserError, match="There is no stack in"):
        file.read()


def test_an_unknown_wave_is_named_with_the_known_ones(folder: Folder) -> None:
    folder("acme-dev", "a-canary", "c", fleet=WAVES)
    plan = file.read()
    assert plan.only(["rest"]).stacks == ("c",)
    assert plan.only([]) == plan
    with pytest.raises(UserError) as refused:
        plan.only(["canry", "rest"])
    assert str(refused.value) == ("--wave: no such wave: 'canry'.\nDid you mean 'canary'? Waves: canary, rest.")
