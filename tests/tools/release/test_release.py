"""Parts of the release command. `test_installed.py` builds and installs a whole one."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import cyclonedx.schema
import pytest
import yaml
from jsonschema import Draft7Validator
from referencing import Registry, Resource

from tools.release import builds, changelog, checks, notes, sbom, signing
from tools.release.__main__ import keep, main
from tools.release.checks import Release
from tools.release.notes import SUMS
from tools.release.wheel import ENVIRONMENT, FOLDER, PATH_FILE, files
from tools.supply_chain import go_modules
from tools.supply_chain.runtime import dependencies
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

VERSION = version("igz-clusters")
RELEASE = Release("1.2.3", "0123456789" * 4, datetime(2026, 1, 31, tzinfo=UTC))
CHANGELOG = (
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n### Added\n- More.\n\n## [1.2.2] - 2026-01-01\n- x\n"
)


# The changelog.


def test_the_section_of_a_version_is_its_notes(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    assert list(changelog.problems(CHANGELOG, "1.2.3")) == []
    assert "\n### Added\n- More.\n\n## Verify\n" in notes.document(RELEASE, tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("[Unreleased]\n", "[Unreleased]\n- New.\n", "[Unreleased] is not empty"),
        ("[1.2.3]", "[1.2.4]", "no section `## [1.2.3] - YYYY-MM-DD`"),
        ("[1.2.2] - 2026-01-01", "[1.2.2]", None),
        ("## [1.2.3] - 2026-01-31", "## [1.3.0] - 2026-02-01\n- x\n\n## [1.2.3] - 2026-01-31", "is not the newest"),
        ("\n### Added\n- More.\n", "", "[1.2.3] is empty"),
        (" - 2026-01-31", "", "needs its date"),
        ("2026-01-31", "2026-02-31", "(given: '2026-02-31')"),
    ],
)
def test_a_changelog_that_does_not_describe_the_release_is_a_problem(before: str, after: str, says: str | None) -> None:
    found = list(changelog.problems(CHANGELOG.replace(before, after), "1.2.3"))
    assert [says in each for each in found] == ([True] if says else [])


def test_the_changelog_of_this_repository_can_be_read() -> None:
    found = changelog.sections((PROJECT_ROOT / "CHANGELOG.md").read_text())
    assert {"0.1.0", "0.2.0"} <= found.keys()
    assert all(section.text for section in found.values())


# The commit.


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Make a checkout of version ``VERSION`` that can be released; return Git in it."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.invalid")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    contents = {
        "pyproject.toml": f'[project]\nversion = "{VERSION}"\n',
        "CHANGELOG.md": f"## [{VERSION}] - 2026-01-31\n- More.\n",
        "docs/upgrading.md": f"## {VERSION}\n",
        f"tests/upgrade/releases/v{VERSION}/state.json": "{}",
    }
    for name, text in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "First")
    return git


def test_a_commit_that_can_be_released_has_no_problem_before_and_after_its_tag(
    tmp_path: Path, checkout: Callable[..., str]
) -> None:
    release = checks.current(tmp_path)
    assert release.commit == checkout("rev-parse", "HEAD").strip()
    assert list(checks.problems(release, tmp_path)) == []
    checkout("tag", "--annotate", release.tag, "--message", "One")
    assert list(checks.problems(release, tmp_path)) == []


def test_everything_that_keeps_a_commit_from_being_released_is_named_at_once(
    tmp_path: Path, checkout: Callable[..., str]
) -> None:
    checkout("tag", "v9.9.9")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "9.9.9"\n')
    (tmp_path / "docs" / "upgrading.md").write_text("## Unreleased\n")
    checkout("commit", "--quiet", "--all", "--message", "Second")
    (tmp_path / "forgotten").touch()
    found = list(checks.problems(checks.current(tmp_path), tmp_path))
    assert [line.partition(":")[0] for line in found] == [
        "1 files are changed or not in Git",
        f"the tag v9.9.9 is another commit, {checkout('rev-parse', 'v9.9.9')[:12]}",
        f"pyproject.toml says 9.9.9, but {VERSION} is installed",
        "CHANGELOG.md",
        "docs/upgrading.md",
        "tests/upgrade/releases/v9.9.9",
    ]


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    shutil.copy(PROJECT_ROOT / "pyproject.toml", tmp_path)
    with pytest.raises(UserError, match="is not a Git checkout"):
        checks.current(tmp_path)


def test_a_commit_with_problems_is_neither_checked_further_nor_built(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tools.release.checks.problems", lambda _: ["the day is wrong"])
    monkeypatch.setattr("tools.release.__main__.write", lambda *_: pytest.fail("was built"))
    assert main([]) == 1
    assert "the day is wrong" in capsys.readouterr().err


def test_a_checkout_that_changes_meanwhile_is_not_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = list[str]()
    monkeypatch.setattr("tools.release.checks.problems", lambda _: found)
    monkeypatch.setattr("tools.release.checks.current", lambda: RELEASE)
    monkeypatch.setattr("tools.release.__main__.check", lambda: None)
    monkeypatch.setattr("tools.release.__main__.DIST", tmp_path / "dist")

    def edited(*_: object) -> str:
        found.append("uncommitted: CHANGELOG.md")
        return ""

    def committed(*_: object) -> str:
        monkeypatch.setattr("tools.release.checks.current", lambda: replace(RELEASE, commit="f" * 40))
        return ""

    for write, says in ((edited, "uncommitted: CHANGELOG.md"), (committed, "HEAD is ffffffffffff")):
        found.clear()
        monkeypatch.setattr("tools.release.__main__.write", write)
        with pytest.raises(UserError, match=says):
            main(["--unsigned"])
    assert not (tmp_path / "dist").exists()


# The wheel.


def test_the_project_files_in_a_wheel_name_the_environment_that_it_is_in(tmp_path: Path) -> None:
    found = files(PROJECT_ROOT)
    assert found.pop(PATH_FILE) == f"{FOLDER}\n"
    packs = {
        file.relative_to(PROJECT_ROOT).as_posix() for file in PROJECT_ROOT.glob("policies/packs/*/PulumiPolicy.yaml")
    }
    assert found.keys() == {f"{FOLDER}/{name}" for name in {"Pulumi.yaml", "infra/package/PulumiPlugin.yaml", *packs}}
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name, text in found.items():
        ours, theirs = (
            yaml.safe_load((PROJECT_ROOT / name.removeprefix(f"{FOLDER}/")).read_text()),
            yaml.safe_load(text),
        )
        assert (packages / name).parent.joinpath(theirs["runtime"]["options"].pop("virtualenv")).resolve() == tmp_path
        ours["runtime"]["options"].pop("virtualenv")
        assert theirs == ours


def test_a_project_file_without_an_environment_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: igz-clusters\nruntime: python\n")
    with pytest.raises(ValueError, match="virtualenv"):
        files(tmp_path)
    assert ENVIRONMENT.count("..") == 4


def test_two_builds_that_differ_are_no_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_: Release, __: Path, place: Path, variables: dict[str, str]) -> list[Path]:
        out = place / variables["PYTHONHASHSEED"]
        out.mkdir()
        (out / "same.whl").touch()
        (out / "other.tar.gz").write_text(variables["TZ"])
        return sorted(out.iterdir())

    monkeypatch.setattr(builds, "_build", build)
    with pytest.raises(UserError, match=r"Two builds of the same commit differ in other\.tar\.gz\."):
        builds.build(RELEASE, tmp_path)
    assert list(tmp_path.iterdir()) == []


# The bill of materials.


SCHEMAS = Path(cyclonedx.schema.__file__).parent / "_res"


def schema(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((SCHEMAS / name).read_text())
    return content


def test_the_bill_of_materials_is_valid_and_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_modules, "folders", lambda: [go_modules.TOOLCHAIN / "actionlint"])  # the others take seconds
    text = sbom.document(RELEASE)
    assert text == sbom.document(RELEASE)
    document, whole = json.loads(text), schema("bom-1.6.SNAPSHOT.schema.json")
    names = ("spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json")
    others = [(urljoin(whole["$id"], name), Resource.from_contents(schema(name))) for name in names]
    Draft7Validator(whole, registry=Registry().with_resources(others)).validate(document)

    assert document["metadata"]["timestamp"].startswith("2026-01-31T00:00:00")
    assert document["metadata"]["component"]["version"] == "1.2.3"
    found = {component["purl"]: component for component in document["components"]}
    python = [each for url, each in found.items() if url.startswith("pkg:pypi/")]
    assert {each["name"] for each in python} == dependencies().keys() - {"igz-clusters"}
    assert all(each["licenses"] and each["externalReferences"][0]["hashes"] for each in python)
    linter = next(each for url, each in found.items() if url.startswith("pkg:golang/github.com/rhysd/actionlint@"))
    assert [each["name"] for each in linter["properties"]] == [sbom.SUM, sbom.SUM, sbom.USED_BY]
    links = {each["ref"]: each.get("dependsOn", []) for each in document["dependencies"]}
    assert links.keys() == {"igz-clusters", *found}
    assert linter["purl"] in links["igz-clusters"]


# Signatures.


@pytest.fixture
def key(tmp_path: Path) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(tmp_path / "key")]
    subprocess.run(command, check=True)
    return tmp_path / "key"


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    (tmp_path / SUMS).write_text("00  file\n")
    return tmp_path / SUMS


@pytest.fixture
def signers(tmp_path: Path, key: Path) -> Path:
    public = key.with_suffix(".pub").read_text()
    (tmp_path / "signers").write_text(f'me@example.invalid namespaces="{signing.NAMESPACE}" {public}')
    return tmp_path / "signers"


def test_a_signature_names_its_signer_until_the_file_changes(sums: Path, key: Path, signers: Path) -> None:
    signature = signing.sign(sums, key, signers)
    assert signing.verify(sums, signature, signers) == "me@example.invalid"
    sums.write_text("11  file\n")
    with pytest.raises(UserError, match=r"SHA256SUMS\.sig is not a signature of SHA256SUMS"):
        signing.verify(sums, signature, signers)


def test_a_key_that_may_not_sign_leaves_no_signature(sums: Path, key: Path, signers: Path) -> None:
    signers.write_text(signers.read_text().replace("namespaces", 'valid-after="20400101",namespaces'))
    with pytest.raises(UserError, match=r"is not in|is not a signature of"):
        signing.sign(sums, key, signers)
    signers.unlink()
    with pytest.raises(UserError, match="is missing: it names who may sign"):
        signing.sign(sums, key, signers)
    assert not sums.with_name(f"{SUMS}.sig").exists()


def test_a_signature_for_something_else_is_refused(sums: Path, key: Path, signers: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "git", sums], check=True, capture_output=True)
    signers.write_text(signers.read_text().replace(signing.NAMESPACE, f"git,{signing.NAMESPACE}"))
    with pytest.raises(UserError, match="is not a signature of"):
        signing.verify(sums, sums.with_name(f"{SUMS}.sig"), signers)


def test_a_key_may_be_in_the_home_folder_and_have_only_its_public_half_there(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert signing.key_file(Path("~/key")) == key
    key.unlink()
    assert signing.key_file(Path("~/key")) == key


@pytest.mark.parametrize(
    ("of_git", "said"),
    [
        (None, "There is no key to sign with."),
        ("~/missing", "Git's user.signingKey: '~/missing' is not the file of an SSH key."),
        ("3AA5C34371567BD2", "Git's user.signingKey: '3AA5C34371567BD2' is not the file of an SSH key."),
        ("ssh-rsa " + "A" * 700, "Git's user.signingKey: 'ssh-rsa AAA"),
        ("key::ssh-ed25519 AAAA", "Git's user.signingKey: 'key::ssh-ed25519 AAAA' is not the file of an SSH key."),
    ],
)
def test_a_key_that_is_no_file_is_refused(of_git: str | None, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.release.signing.git", lambda *_: of_git)
    with pytest.raises(UserError, match=f"^{re.escape(said)}") as caught:
        signing.key_file(None)
    assert caught.value.hint.startswith("Name the file of an SSH key with --key FILE")
    with pytest.raises(UserError, match=r"^--key: '/missing' is not the file"):
        signing.key_file(Path("/missing"))


# The folder of the release.


def test_a_finished_release_is_kept_and_another_one_never_replaces_it(tmp_path: Path) -> None:
    made, target = tmp_path / "made", tmp_path / "dist" / RELEASE.tag
    made.mkdir()
    (made / SUMS).write_text("00  file\n")
    assert keep(made, target) == target
    (target / f"{SUMS}.sig").touch()
    assert keep(made, target) == target
    assert (target / f"{SUMS}.sig").exists()
    (made / "file").write_text("built")
    (target / "file").write_text("edited")
    with pytest.raises(UserError, match="has files of another build"):
        keep(made, target)
    (target / "file").write_text("built")
    assert keep(made, target) == target
    (made / SUMS).write_text("11  file\n")
    with pytest.raises(UserError, match="has files of another build"):
        keep(made, target)
    assert (target / SUMS).read_text() == "00  file\n"


def test_the_command_signs_once_keeps_the_files_and_prints_what_is_next(
    tmp_path: Path, key: Path, signers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = list[str]()

    def write(_: Release, place: Path) -> str:
        return str((place / SUMS).write_text("00  file\n"))

    monkeypatch.setattr("tools.release.checks.problems", lambda _: [])
    monkeypatch.setattr("tools.release.checks.current", lambda: RELEASE)
    monkeypatch.setattr("tools.release.__main__.check", lambda: done.append("make check"))
    monkeypatch.setattr("tools.release.__main__.write", write)
    monkeypatch.setattr("tools.release.__main__.DIST", tmp_path / "dist")
    monkeypatch.setattr("tools.release.signing.SIGNERS", signers)
    assert main(["--key", str(key)]) == 0
    target = tmp_path / "dist" / "v1.2.3"
    before = (target / f"{SUMS}.sig").read_bytes()
    assert signing.verify(target / SUMS, target / f"{SUMS}.sig", signers)
    assert main([]) == 0
    assert (target / f"{SUMS}.sig").read_bytes() == before
    assert done == ["make check"] * 2
    said = capsys.readouterr()
    assert f'  git tag --sign --message "igz-clusters 1.2.3" v1.2.3 {RELEASE.commit}\n' in said.out
    assert [line.partition("s  ")[2] for line in said.err.splitlines()[:4]] == [
        "checking v1.2.3 at 012345678901", "make check", "building twice", "signing",
    ]  # fmt: skip


@pytest.mark.parametrize("missing", ["key", "signers"])
def test_what_signing_lacks_is_known_before_the_long_steps(
    tmp_path: Path, key: Path, signers: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def long_step() -> None:
        raise InterruptedError

    monkeypatch.setattr("tools.release.checks.problems", lambda _: [])
    monkeypatch.setattr("tools.release.checks.current", lambda: RELEASE)
    monkeypatch.setattr("tools.release.__main__.check", long_step)
    monkeypatch.setattr("tools.release.__main__.DIST", tmp_path / "dist")
    monkeypatch.setattr("tools.release.signing.SIGNERS", signers)
    with pytest.raises(InterruptedError):
        main(["--key", str(key)])
    for file in {"key": (key, key.with_suffix(".pub")), "signers": (signers,)}[missing]:
        file.unlink()
    with pytest.raises(UserError, match=r"is not the file of an SSH key|is missing: it names who may sign"):
        main(["--key", str(key)])
    with pytest.raises(InterruptedError):
        main(["--key", str(key), "--unsigned"])


def test_the_notes_name_the_commit_and_the_tag() -> None:
    text = notes.document(replace(RELEASE, version="0.2.0"))
    assert RELEASE.commit in text
    assert "`v0.2.0`" in text
