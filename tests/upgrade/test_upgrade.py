"""The present program over the state that each release left: nothing is replaced, nothing is deleted.

The engine previews without refresh and the API server is out of reach, so the verdict is the engine's and the
Kubernetes provider's own, from recorded state and new inputs alone. For stacks that need an account the providers speak
that stand in for the real ones, by facts of those. What only a live API server refuses is seen by
`test_live_upgrade.py`.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from infra.config import CONFIG_KEY
from tools.recording import KUBECONFIG, RELEASES, STATE, current_version
from workbench.engine.render import TOOLS, install, offline, passed_on, project_of, with_noop_providers
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import ensure
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

RECORDINGS = sorted(RELEASES.glob(f"*/*/{STATE}"))
LATEST = max(RELEASES.iterdir()).name
ONE_OF_EACH_KIND = {"local", "dev", "aks-dev", "existing"}
PARAMS = [
    pytest.param(file, marks=[] if release == LATEST and stack in ONE_OF_EACH_KIND else pytest.mark.full)
    for file in RECORDINGS
    for release, stack in [file.parts[-3:-1]]
]
FIRST = RELEASES / "v0.1.0" / "local" / STATE
HARMLESS = {"same", "update", "create"}
LIVE = '"__fieldManager"'
"""Key of an object that the real plug-in of Kubernetes created."""

CHANGED = Path(__file__).parent / "changed"


@dataclass(frozen=True)
class Previewer:
    """Previews a program over recorded state, in a backend of its own."""

    folder: Path
    environment: dict[str, str]

    def pulumi(self, *arguments: str, **variables: str) -> str:
        result = subprocess.run(
            ["pulumi", *arguments, "--non-interactive"],
            cwd=project_of(self.folder),
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def steps(self, recording: Path, program: Path, **variables: str) -> dict[str, list[str]]:
        """Return what the preview would do: URNs without the stack's part, by operation."""
        stack, state = recording.parent.name, self.folder / STATE
        # The recorded path stands for a file of the user. The provider reads it to tell whether the cluster is another.
        state.write_text(recording.read_text().replace(KUBECONFIG, self.environment["KUBECONFIG"]))
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}}
        project = {"name": "igz-clusters", "main": str(program), "runtime": runtime}
        (project_of(self.folder) / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        self.pulumi("stack", "init", stack, "--no-select")
        self.pulumi("stack", "import", "--file", str(state))
        preview = json.loads(self.pulumi("preview", "--refresh=false", "--show-sames", "--json", **variables))
        steps: dict[str, list[str]] = {}
        for step in preview["steps"]:
            steps.setdefault(step["op"], []).append(step["urn"].split("::", 2)[2])
        return steps


@pytest.fixture
def recording(request: pytest.FixtureRequest) -> Path:
    file: Path = getattr(request, "param", FIRST)
    return file


@pytest.fixture
def previewer(tmp_path: Path, recording: Path) -> Previewer:
    toolchain = ensure(TOOLS, hermetic=True)
    choices = yaml.safe_load((recording.parent / f"Pulumi.{recording.parent.name}.yaml").read_text())
    made = with_noop_providers(offline(recording.parent.name, choices["config"][CONFIG_KEY], toolchain, tmp_path))
    if LIVE in recording.read_text():  # the cluster is a real one, so the real plug-in judges
        plugin = str(toolchain.path("pulumi-resource-kubernetes"))
        install(tmp_path / "pulumi", "kubernetes", KUBERNETES_VERSION, plugin)
    return Previewer(tmp_path, {**passed_on(), **made, "PYTHONPATH": str(PROJECT_ROOT)})


def name(recording: Path) -> str:
    """Return release and stack."""
    return "-".join(recording.parts[-3:-1])


def harm(steps: dict[str, list[str]]) -> dict[str, list[str]]:
    return {operation: urns for operation, urns in steps.items() if operation not in HARMLESS}


@pytest.mark.engine
@pytest.mark.parametrize("recording", PARAMS, ids=name, indirect=True)
def test_the_present_program_replaces_and_deletes_nothing_that_a_release_made(
    previewer: Previewer, recording: Path
) -> None:
    recorded = json.loads(recording.read_text())["deployment"]["resources"]
    steps = previewer.steps(recording, PROJECT_ROOT / "infra")
    assert harm(steps) == {}
    assert len(steps["same"] + steps.get("update", [])) == len(recorded)


@pytest.mark.engine
def test_a_changed_label_is_an_update_and_so_no_harm(previewer: Previewer) -> None:
    steps = previewer.steps(FIRST, CHANGED, CHANGE="relabel")
    assert harm(steps) == {}
    assert len([urn for urn in steps["update"] if "core/v1:Node::" in urn]) == 2


@pytest.mark.engine
@pytest.mark.parametrize(
    ("change", "operation", "object_"),
    [
        ("rename_object", "replace", "PriorityClass::igz-workload-low"),
        pytest.param("change_the_clusters_identity", "replace", "Node::initial-0", marks=pytest.mark.full),
        pytest.param("rename_component_type", "delete", "Namespace::mlrun", marks=pytest.mark.full),
    ],
)
def test_a_careless_change_is_harm(previewer: Previewer, change: str, operation: str, object_: str) -> None:
    steps = previewer.steps(FIRST, CHANGED, CHANGE=change)
    assert [urn for urn in harm(steps).get(operation, []) if urn.endswith(object_)], steps


def test_the_version_of_this_checkout_is_recorded() -> None:
    assert current_version() in {recording.parts[-3] for recording in RECORDINGS}


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_a_recording_names_no_place_of_the_machine_that_made_it(recording: Path) -> None:
    text = recording.read_text()
    places = set(re.findall(r"/(?:home|root|tmp|usr|var|work|Users)/[\w./-]*", text))
    assert places <= {"/var/lib/kubelet/device-plugins"}  # of nodes
