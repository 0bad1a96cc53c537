"""`check` says what a render says, for every stack file and for weakened ones."""

import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from support.edits import edited
from support.features import changes, compatible
from support.sampled import sampled
from support.weakenings import WEAKENINGS, together
from workbench import stacks
from workbench.engine import check
from workbench.engine.render import TOOLS, rendering
from workbench.offline import declared
from workbench.report.events import read
from workbench.report.findings import FAILING, own_findings
from workbench.report.model import Finding
from workbench.stacks import CONFIG_KEY
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import ensure

pytestmark = pytest.mark.engine

WEAKENED_PROGRAM = PROJECT_ROOT / "tests" / "engine" / "weakened"

EDITS: dict[str, tuple[str, dict[str, Any]]] = {
    "prod without tags and with a bound": ("prod", {"cluster.tags": None, "policies.largestPool": 10}),
    "aks-prod without tags and with a bound": ("aks-prod", {"cluster.tags": None, "policies.largestPool": 10}),
    "dev without tags": ("dev", {"cluster.tags": None}),
    "local-prod with too large a quota": ("local-prod", {"namespaces.mlrun.quota": {"cpu": "1000", "memory": "1Gi"}}),
    "existing as prod": ("existing", {"environment": "prod"}),
}
"""Stacks whose files are valid and break rules: the file that each changes, and the changes."""

WAIVED = "prod with a waived, a remedied and an expired bound"
OVERRIDES = """\
waivers:
  - {{ rule: NG-11, stack: prod, resource: '*::prod-spot', reason: r, owner: o, ticket: T-1, expires: {later} }}
  - {{ rule: HT-01, stack: prod, resource: '*::prod-*', reason: r, owner: o, ticket: T-2, expires: {before} }}
"""


def in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, changes: dict[str, Any]) -> stacks.Stack:
    """Write an edited stack file into a folder of its own and return the stack."""
    file = stacks.stack_files(PROJECT_ROOT)[name]
    document = yaml.safe_load(file.read_text())
    document["config"][CONFIG_KEY] = edited(document["config"][CONFIG_KEY], changes)
    (folder / file.name).write_text(yaml.safe_dump(document, sort_keys=False))
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folder))
    return stacks.find(name)


def rendered(stack: stacks.Stack, folder: Path, *weakenings: str) -> list[Finding]:
    """Return what the real engine's render says."""
    log, project = folder / "events.jsonl", folder / "project"
    project.mkdir()
    definition = yaml.safe_load((PROJECT_ROOT / "Pulumi.yaml").read_text())
    definition["main"] = str(WEAKENED_PROGRAM if weakenings else PROJECT_ROOT / "infra")
    definition["runtime"]["options"]["virtualenv"] = str(PROJECT_ROOT / ".venv")
    (project / "Pulumi.yaml").write_text(yaml.safe_dump(definition))
    with rendering(stack, ensure(TOOLS, hermetic=True)) as session:
        if stack.base:
            shutil.copy(stack.base, Path(session.environment["PULUMI_OPTION_CONFIG_FILE"]).parent)
        own = {"WEAKENINGS": " ".join(weakenings), "PYTHONPATH": str(PROJECT_ROOT / "tests")}
        debugging = {"PULUMI_DEBUG_COMMANDS": "true"}
        done = subprocess.run(
            [session.pulumi, "preview", "--non-interactive", "--event-log", str(log)],
            cwd=project,
            env={**session.whole_environment(), **own, **debugging},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    stream = read(log.read_bytes())
    assert stream.steps, done.stdout + done.stderr
    findings = own_findings(stream)
    assert bool(done.returncode) == any(each.standing in FAILING for each in findings), done.stdout + done.stderr
    return findings


def assert_alike(stack: stacks.Stack, by_engine: list[Finding]) -> None:
    by_check = set(check.findings(stack))
    alone, by_engine_alone = by_check - set(by_engine), set(by_engine) - by_check
    assert (sorted(map(str, alone)), sorted(map(str, by_engine_alone))) == ([], [])


BASE = """\
schemaVersion: 1
layers:
  - settings:
      policies: { requiredTags: [team, planet] }
  - environments: [dev]
    settings:
      pools:
        spare: { role: workload, size: { min: 0, max: 2 }, instanceTypes: [m6i.2xlarge] }
"""


def test_program_and_packs_of_the_engine_read_the_base_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Base.acme.yaml").write_text(BASE)
    stack = in_folder(tmp_path, monkeypatch, "dev", {"base": "acme"})
    assert "spare" in stack.config.pools
    as_written = replace(stack, document=yaml.safe_load(stack.file.read_text()))
    by_engine = rendered(as_written, tmp_path)
    assert any(each.rule == "HT-01" and "spare" in each.urn for each in by_engine)
    assert_alike(stack, by_engine)


OF_EACH_KIND = ("aks-prod", "existing", "local-prod")
"""With dev, a stack of each kind of cluster; `make proofs` judges the others, test_render.py renders all."""
EACH_FILE = [
    pytest.param(name, marks=[] if name == "dev" else pytest.mark.full if name in OF_EACH_KIND else pytest.mark.proofs)
    for name in stacks.stack_files(PROJECT_ROOT)
]


@pytest.mark.parametrize("name", EACH_FILE)
def test_every_stack_file_is_judged_as_by_a_render(name: str, tmp_path: Path) -> None:
    stack = stacks.find(name)
    assert_alike(stack, rendered(stack, tmp_path))


@pytest.mark.parametrize("name", sampled([*EDITS, WAIVED], [WAIVED]))
def test_a_valid_file_that_breaks_rules_is_judged_as_by_a_render(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack_name, changes = EDITS[next(iter(EDITS)) if name == WAIVED else name]
    if name == WAIVED:
        today = datetime.now(tz=UTC).date()
        (tmp_path / "policies").mkdir()
        days = {"later": today + timedelta(days=30), "before": today - timedelta(days=1)}
        (tmp_path / "policies" / "overrides.yaml").write_text(OVERRIDES.format(**days))
    stack = in_folder(tmp_path, monkeypatch, stack_name, changes)
    by_engine = rendered(stack, tmp_path)
    assert_alike(stack, by_engine)
    assert by_engine or name == "existing as prod"


@pytest.mark.full
@pytest.mark.parametrize("name", ["dev", "aks-dev"])
def test_all_features_at_once_are_judged_as_by_a_render(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = in_folder(tmp_path, monkeypatch, name, changes(name, compatible(name)))
    assert_alike(stack, rendered(stack, tmp_path))


TOGETHER = {", ".join(names): names for names in together(WEAKENINGS)}


@pytest.mark.full
@pytest.mark.parametrize("names", TOGETHER)
def test_a_weakened_component_is_judged_as_by_a_render(
    names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weakenings = [WEAKENINGS[name] for name in TOGETHER[names]]
    stack = stacks.find(weakenings[0].stack)
    take = declared._Engine._register

    def weakened(engine: declared._Engine, urn: str, request: Any) -> Struct:
        props = MessageToDict(request.object)
        for weakening in weakenings:
            weakening.change.apply(request.type, request.name, props)
        request.object.Clear()
        request.object.update(props)
        return take(engine, urn, request)

    by_engine = rendered(stack, tmp_path, *TOGETHER[names])
    monkeypatch.setattr(declared._Engine, "_register", weakened)
    assert_alike(stack, by_engine)
    shutil.rmtree(tmp_path / "project")
