from pathlib import Path

import pytest

from tools.supply_chain.requirements import REQUIREMENTS, RUNTIME, files, pins, problems, unlocked
from tools.supply_chain.runtime import PACKAGE, dependencies
from workbench.system.paths import PROJECT_ROOT

HASH = f"--hash=sha256:{'0123456789abcdef' * 4}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "requirements.txt"


@pytest.mark.parametrize("of_repository", files(), ids=lambda file: str(file.relative_to(PROJECT_ROOT)))
def test_every_requirements_file_of_the_repository_is_pinned_and_hashed(of_repository: Path) -> None:
    assert len(pins(of_repository)) > 10
    assert list(problems(of_repository)) == []


def test_the_component_package_has_the_pins_of_what_runs_and_none_of_development() -> None:
    needed = dependencies().keys() - {PACKAGE}
    assert pins(RUNTIME) == {name: pin for name, pin in pins().items() if name in needed}, "run `make lock`"


def test_the_pins_meet_the_dependencies_of_the_project() -> None:
    assert list(unlocked(PROJECT_ROOT / "pyproject.toml", pins(REQUIREMENTS))) == []


def test_a_pin_has_its_version_its_hashes_and_its_text(file: Path) -> None:
    file.write_text(
        f"# made by make lock\nSix_Pack==1.2 ; python_version >= '3' \\\n    {HASH} \\\n    {HASH}\n    # via x\n"
    )
    found = pins(file)["six-pack"]
    assert (found.version, found.hashes, found.is_installed_here) == ("1.2", (HASH[7:],) * 2, True)
    assert found.text == f"Six_Pack==1.2 ; python_version >= '3' \\\n    {HASH} \\\n    {HASH}"
    assert list(problems(file)) == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("six==1.17.0", "six==1.17.0: needs SHA-256 hashes and no others"),
        ("six==1.17.0 --hash=md5:00", "needs SHA-256 hashes and no others"),
        (f"six==1.17.0 --hash=md5:00 {HASH}", "needs SHA-256 hashes and no others"),
        (f"six>=1.17 {HASH}", "no exact version"),
        (f"six==1.* {HASH}", "no exact version"),
        (f"six==1.17,!=1.18 {HASH}", "no exact version"),
        ("--extra-index-url https://example.invalid/simple", "an option; only packages are allowed"),
        ("-e .", "an option; only packages are allowed"),
        (f"six @ https://example.invalid/six.whl {HASH}", "not a package by name"),
        ("./six.whl", "not a package by name"),
    ],
)
def test_what_installs_something_unreviewed_is_a_problem(file: Path, line: str, says: str) -> None:
    file.write_text(f"{line}\n")
    [found] = problems(file)
    assert says in found


def test_a_dependency_without_a_pin_or_with_an_old_one_is_a_problem(file: Path, tmp_path: Path) -> None:
    file.write_text(f"six==1.17.0 \\\n    {HASH}\n")
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\ndependencies = ["six>=1.18"]\noptional-dependencies.dev = ["pytest"]\n')
    assert list(unlocked(project, pins(file))) == [
        "pyproject.toml: six>=1.18: requirements.txt has 1.17.0; run `make lock`",
        "pyproject.toml: pytest: requirements.txt has no pin of it; run `make lock`",
    ]
