"""A release that was installed as the container recipe does it works without the checkout as with it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from infra.package.schema import SCHEMA
from support.programs import served_schema
from tools.release.__main__ import write
from tools.release.checks import Release
from tools.release.wheel import CONTENTS, FOLDER, PATH_FILE
from tools.tracked import tracked
from workbench.system.git import git
from workbench.system.paths import FOLDER_VARIABLE, PROJECT_ROOT, cache_dir
from workbench.toolchain import Toolchain, ensure

pytestmark = [pytest.mark.full, pytest.mark.control_plane, pytest.mark.xdist_group("installed")]

MIRRORS = re.compile(r"PIP_.*|SSL_CERT_(FILE|DIR)|(HTTPS?|NO|ALL)_PROXY", re.IGNORECASE)
RECIPE = PROJECT_ROOT / "examples" / "container"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def files(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("release")
    write(release, place)
    return place


@pytest.fixture(scope="module")
def environment(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the release by the recipe's script, with no variable but those that lead to an index."""
    place = tmp_path_factory.mktemp("clean") / "igz-clusters"
    leading = {name: value for name, value in os.environ.items() if MIRRORS.fullmatch(name)}
    command = [str(RECIPE / "install.sh"), str(files), str(place)]
    variables = {"PATH": f"{sys.base_prefix}/bin:{os.defpath}", "HOME": str(place.parent), **leading}
    subprocess.run(command, env=variables, cwd=place.parent, check=True)
    return place


@pytest.fixture(scope="module")
def tools() -> Toolchain:
    return ensure()


@pytest.fixture(scope="module")
def run(environment: Path, tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run the installed command in a folder, by default an empty one, with the built tools."""
    assert tools.binaries
    home = tmp_path_factory.mktemp("home")
    (home / "empty").mkdir()
    variables = {
        "PATH": f"{environment / 'bin'}:{os.defpath}",
        "HOME": str(home),
        "IGZ_CLUSTERS_CACHE": str(cache_dir()),
        "IGZ_CLUSTERS_DATA": str(home / "data"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }

    def run(
        *arguments: str, folder: Path = home / "empty", code: int = 0, program: str = "igz-clusters"
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [program, *arguments], cwd=folder, env={**variables, "TMPDIR": str(home)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def test_a_wheel_holds_all_tracked_files_of_its_folders_and_nothing_else(files: Path) -> None:
    [wheel] = files.glob("*.whl")
    held = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == {PATH_FILE, *(f"{FOLDER}/{name}" for name in tracked("Pulumi.yaml", *CONTENTS))}


def test_the_package_is_that_of_the_wheel(run: Run, release: Release, environment: Path) -> None:
    assert run("--version").stdout == f"igz-clusters {release.version}\n"
    listed = run("-c", "import workbench.system.paths as paths; print(paths.PROJECT_ROOT)", program="python").stdout
    assert Path(listed.strip()).is_relative_to(environment)
    assert "a wheel" in run("doctor").stdout


def test_the_component_package_starts_from_the_wheel(environment: Path, tmp_path: Path) -> None:
    [package] = environment.glob(f"lib/python*/site-packages/{FOLDER}/infra/package")
    assert served_schema(environment / "bin" / "python", package, tmp_path) == json.loads(SCHEMA.read_text())


def test_stack_files_examples_and_rules_come_along(run: Run) -> None:
    assert json.loads(run("fleet", "list", "--json").stdout)["stacks"]
    assert json.loads(run("config", "show", "local", "--json").stdout)
    assert "The files are valid." in run("config", "check").stderr
    assert re.search(r"^dev: no violations, .* \(\d+ rules, \d+ resources\)$", run("check", "dev").stdout, re.MULTILINE)


def test_a_stack_of_a_cloud_is_rendered_with_the_packs(run: Run) -> None:
    assert "Rendered offline from an empty state" in run("preview", "dev", "--render").stderr


def test_the_main_job_runs_in_an_empty_folder(run: Run, release: Release, tmp_path: Path) -> None:
    run("up", "local", "--yes")
    try:
        assert json.loads(run("status", "local", "--json").stdout)["groups"]
        assert re.search(r"^nothing changes; \d+ unchanged; \d+ rules", run("preview", "local").stdout, re.MULTILINE)
        nodes = run("kubectl", "local", "get", "nodes", "--no-headers").stdout.splitlines()
        assert {line.split()[1] for line in nodes} == {"Ready"}
        waves, passport = tmp_path / "fleet.yaml", tmp_path / "passport.json"
        waves.write_text("waves: [{name: one, stacks: [local]}]\n")
        (row,) = json.loads(run("fleet", "preview", "--fleet", str(waves), "--json").stdout)["stacks"]
        assert (row["stack"], row["result"]) == ("local", "ok")
        run("passport", "make", "local", "--unsigned", "--allow-dirty", "--output", str(passport))
        assert json.loads(passport.read_text())["predicate"]["package"]["version"] == release.version
        copy = Path(shutil.copy(PROJECT_ROOT / "Pulumi.local.yaml", tmp_path))
        assert f"now belong to {copy}" in run("preview", "local", folder=tmp_path).stderr
    finally:
        run("local", "delete", "local", "--yes")


def test_a_new_repository_pins_the_tag_at_the_source(run: Run, release: Release, tmp_path: Path) -> None:
    source, acme = tmp_path / "source", tmp_path / "acme"
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(source)]
    subprocess.run(["git", "init", "--quiet", str(source)], check=True)
    subprocess.run([*command, "commit", "--quiet", "--allow-empty", "--message", "One"], check=True)
    subprocess.run([*command, "tag", release.tag], check=True)
    assert "--source URL" in run("init", str(acme), code=1).stderr
    run("init", str(acme), "--source", str(source))
    commit = git(source, "rev-parse", "HEAD")
    assert f"PACKAGE_COMMIT := {commit}\n" in (acme / "package.mk").read_text()
    assert {file.name for file in (acme / ".github/workflows").iterdir()}.isdisjoint({"checks.yml", "release.yml"})


def test_a_project_file_beside_the_stack_file_is_enough_for_stack_init(run: Run, tmp_path: Path) -> None:
    [lines] = re.findall(r"^(printf '.*)\n", (PROJECT_ROOT / "docs" / "installing.md").read_text(), re.MULTILINE)
    subprocess.run(["sh", "-c", lines], cwd=tmp_path, check=True)
    acme = tmp_path / "Pulumi.acme.yaml"
    acme.write_text((PROJECT_ROOT / "Pulumi.dev.yaml").read_text())
    exports = re.findall(r"^export (\w+)=(.*)$", run("env", "acme", folder=tmp_path).stdout, re.MULTILINE)
    variables = {name: shlex.split(value)[0] for name, value in exports}
    backend = {"PULUMI_BACKEND_URL": f"file://{tmp_path}", "PULUMI_CONFIG_PASSPHRASE": "x", "HOME": str(tmp_path)}
    command = ["pulumi", "stack", "init", "acme", "--non-interactive"]
    subprocess.run(command, cwd=tmp_path, env={**variables, **backend}, check=True)
    written = yaml.safe_load(acme.read_text())
    assert written.pop("encryptionsalt")
    assert written == yaml.safe_load((PROJECT_ROOT / "Pulumi.dev.yaml").read_text())


@pytest.fixture
def other_software(environment: Path) -> Iterator[Path]:
    """Install a package `policies` of other software into the same environment."""
    [packages] = environment.glob("lib/python3*/site-packages")
    (packages / "policies").mkdir()
    (packages / "policies" / "__init__.py").touch()
    yield packages / "policies"
    (packages / "policies" / "__init__.py").unlink()


def test_other_software_in_the_environment_is_noticed(run: Run, other_software: Path) -> None:
    said = run("config", "check", code=1).stderr
    assert f"policies ({other_software})" in said
    assert "Traceback" not in said


def test_the_recipe_is_built_by_its_command_in_the_root() -> None:
    lines = (RECIPE / "Containerfile").read_text().replace("\\\n#", "")
    [command] = re.findall(r"^#   podman build (.*)$", lines, re.MULTILINE)
    words = shlex.split(command)
    assert PROJECT_ROOT / words[words.index("--file") + 1] == RECIPE / "Containerfile"
    assert "release=dist/v1.2.3" in words
    assert PROJECT_ROOT / words[-1] == RECIPE
    copied = re.findall(r"^COPY (\w\S+) ", lines, re.MULTILINE)
    assert copied
    assert all((RECIPE / name).is_file() for name in copied)


def test_the_recipe_runs_the_script_and_leaves_no_right_and_no_secret() -> None:
    recipe = (RECIPE / "Containerfile").read_text()
    assert "\nRUN /install.sh /release /opt/igz-clusters\n" in recipe
    assert re.search(r"^USER [1-9]\d+$", recipe, re.MULTILINE)
    assert "\nWORKDIR /stacks\n" in recipe
    assert re.search(rf"^    {FOLDER_VARIABLE}=/stacks ", recipe, re.MULTILINE)
    assert not re.search(r"^(ARG|ENV) .*(TOKEN|SECRET|PASSWORD|KEY)", recipe, re.MULTILINE)
    images = re.findall(r"^ARG \w+_IMAGE=(\S+)$", recipe, re.MULTILINE)
    assert len(images) == 2
    assert all(re.fullmatch(r"[\w./-]+:[\w.-]+(@sha256:[0-9a-f]{64})?", image) for image in images)
    assert not any(image.endswith(":latest") for image in images)
