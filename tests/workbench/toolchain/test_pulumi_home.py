import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, ensure, without_logs
from workbench.toolchain.pulumi_home import PLUGIN, environment, prepare

Program = Callable[[str, str], Path]

# Writes its arguments down and does what the real one does with the file: put it into its home.
INSTALLER = """
echo "$@" >> {calls}
folder=$PULUMI_HOME/plugins/resource-kubernetes-v4.25.0
mkdir -p $folder && cp $7 $folder/pulumi-resource-kubernetes
"""


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))

    def make(key: str) -> Path:
        path = tmp_path / f"kubernetes-provider-{key}" / "bin" / PLUGIN
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(key)
        return path

    return make


@pytest.fixture
def toolchain(program: Program, calls: Path, plugin: Callable[[str], Path]) -> Toolchain:
    return Toolchain({"pulumi": program("pulumi", INSTALLER.format(calls=calls)), PLUGIN: plugin("a")})


def test_a_home_loses_its_logs_and_takes_no_new_ones(tmp_path: Path) -> None:
    logs = tmp_path / "home" / "logs"
    logs.mkdir(parents=True)
    (logs / "pulumi.log").touch()
    for _ in range(2):
        assert without_logs(tmp_path / "home") == tmp_path / "home"
        with pytest.raises(FileExistsError):
            logs.mkdir(exist_ok=True)


def test_the_plug_in_is_installed_once(toolchain: Toolchain, calls: Path, tmp_path: Path) -> None:
    assert prepare(toolchain) == prepare(toolchain) == tmp_path / "data" / "pulumi-home"
    plugin = toolchain.path(PLUGIN)
    assert calls.read_text() == f"plugin install resource kubernetes v4.25.0 -f {plugin} --reinstall\n"


def test_another_build_of_the_plug_in_is_installed_over_the_old_one(
    toolchain: Toolchain, plugin: Callable[[str], Path]
) -> None:
    prepare(toolchain)
    home = prepare(Toolchain({**toolchain.binaries, PLUGIN: plugin("b")}))
    assert (home / "plugins" / "resource-kubernetes-v4.25.0" / PLUGIN).read_text() == "b"


def test_a_plug_in_that_somebody_deleted_is_installed_again(toolchain: Toolchain) -> None:
    installed = prepare(toolchain) / "plugins" / "resource-kubernetes-v4.25.0" / PLUGIN
    installed.unlink()
    prepare(toolchain)
    assert installed.exists()


def test_a_refused_plug_in_is_told_in_pulumis_words(toolchain: Toolchain, program: Program) -> None:
    program("pulumi", "echo error: no room >&2; exit 255")
    with pytest.raises(UserError) as caught:
        prepare(toolchain)
    home = Path(os.environ["IGZ_CLUSTERS_DATA"]) / "pulumi-home"
    assert str(caught.value) == (
        f"Pulumi could not install the Kubernetes plug-in into {home}:\nerror: no room\n"
        "Delete that folder and run the same command again."
    )


def test_a_local_stack_gets_a_home_of_its_own_and_downloads_nothing(toolchain: Toolchain) -> None:
    variables = environment(toolchain)
    assert variables.pop("PATH").split(os.pathsep)[0] == str(toolchain.pulumi.parent)
    assert variables == {
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_HOME": str(prepare(toolchain)),
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }


def test_a_stack_in_a_cloud_keeps_the_users_home(toolchain: Toolchain, calls: Path) -> None:
    assert set(environment(toolchain, local=False)) == {"PATH", "PULUMI_SKIP_UPDATE_CHECK"}
    assert not calls.exists()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


GRPC = """
import grpc
from concurrent import futures
server = grpc.server(futures.ThreadPoolExecutor(1))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
try:
    grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/a/b")(b"", timeout=60)
except grpc.RpcError as error:
    print(error.code().name)
"""


@pytest.mark.parametrize(
    "given",
    [
        {"http_proxy": "http://127.0.0.1:1"},
        {"http_proxy": "http://127.0.0.1:1", "no_proxy": "*"},
        {"https_proxy": "http://127.0.0.1:1", "NO_PROXY": "corp.example.com"},
        {"grpc_proxy": "http://127.0.0.1:1", "no_grpc_proxy": "corp.example.com"},
    ],
)
def test_loopback_never_goes_through_a_proxy(
    toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch, given: dict[str, str]
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    variables = environment(toolchain, local=False)
    for name, value in given.items():
        assert name.lower().startswith("no_") <= variables.get(name, "").startswith(f"{value},")
    command, reached = [sys.executable, "-c", GRPC], {}
    for name, added in {"without": {}, "with": variables}.items():
        run = subprocess.run(command, env=os.environ | added, capture_output=True, text=True, check=True)
        reached[name] = run.stdout.strip()
    assert reached == {"without": "UNAVAILABLE", "with": "UNIMPLEMENTED"}


@pytest.mark.engine
def test_the_built_engine_previews_an_empty_program_without_a_warning_or_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    toolchain = ensure(["pulumi", PLUGIN], hermetic=True)
    variables = os.environ | environment(toolchain)
    variables |= {"PULUMI_BACKEND_URL": f"file://{tmp_path}", "PULUMI_CONFIG_PASSPHRASE": ""}
    options = f"{{toolchain: pip, virtualenv: {PROJECT_ROOT / '.venv'}}}"
    (tmp_path / "Pulumi.yaml").write_text(f"name: empty\nruntime: {{name: python, options: {options}}}\n")
    (tmp_path / "__main__.py").touch()

    def pulumi(*arguments: str) -> str:
        run = subprocess.run(
            ["pulumi", *arguments],
            cwd=tmp_path,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stdout
        return run.stdout

    assert pulumi("version") == "3.259.0\n"
    assert "kubernetes  resource  4.25.0" in pulumi("plugin", "ls")
    pulumi("stack", "init", "test")
    preview = pulumi("preview", "--non-interactive")
    assert "pulumi:pulumi:Stack empty-test create" in preview
    assert "warning" not in preview
    assert (Path(variables["PULUMI_HOME"]) / "logs").read_bytes() == b""
