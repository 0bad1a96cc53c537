"""The house rules that no single module can check of itself."""

import ast
import os
import pkgutil
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from components.contract import autoscaler
from components.contract.labels import IGUAZIO_DOMAIN, OWN_DOMAIN, AnnotationKey
from tools.tracked import tracked
from workbench.system.paths import PROJECT_ROOT

PACKAGES = ("infra", "components", "policies", "workbench")
PLANTED = {
    "components/addons/storage.py": "infra.outputs",
    "workbench/toolchain/events.py": "workbench.cli.console",
    "workbench/system/files.py": "emulators.core.refusal",
    "policies/values.py": "components.scheduling.namespaces",
    "infra/outputs.py": "policies.values",
    "components/contract/tags.py": "pulumi_azure_native",
    "components/clusters/eks/kubeconfig.py": "components.clusters.aks.kubeconfig",
    "components/contract/eks/access.py": "components.contract.aks.access",
    "workbench/engine/clouds/eks/conditions.py": "workbench.engine.clouds.aks.conditions",
    "workbench/recovery/cloud/aws/queries.py": "workbench.recovery.cloud.azure.ids",
    "workbench/offline/aws/inputs.py": "workbench.offline.azure.inputs",
    "tests/emulators/aws/provider.py": "emulators.azure.provider",
}
"""A wrong import for each contract, in the order of pyproject.toml: file, and the module that it may not import."""
SOURCES = [file for package in PACKAGES for file in sorted((PROJECT_ROOT / package).rglob("*.py"))]


def test_imports_go_one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT_ROOT)
    assert lint_imports(cache_dir=None) == 0


def test_a_wrong_import_breaks_each_contract(tmp_path: Path) -> None:
    contracts = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert len(PLANTED) == len(contracts)
    shutil.copy(PROJECT_ROOT / "pyproject.toml", tmp_path)
    only_python = shutil.ignore_patterns("__pycache__", "*.yaml", "*.json", "*.md")
    for package in (*PACKAGES, "tools", "tests/emulators"):
        shutil.copytree(PROJECT_ROOT / package, tmp_path / package, ignore=only_python)
    for file, module in PLANTED.items():
        with (tmp_path / file).open("a") as planted:
            planted.write(f"\nimport {module}\n")
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(tmp_path / "tests")])}
    run = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **paths}, capture_output=True, text=True, timeout=600, check=False
    )
    kept = {contract["name"] for contract in contracts if f"{contract['name']} BROKEN" not in run.stdout}
    assert kept == set()
    assert run.returncode == 1


def string_constants(file: Path) -> set[str]:
    tree = ast.parse(file.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    }


def test_words_of_the_contract_stand_in_the_contract_only() -> None:
    words = (
        f"{IGUAZIO_DOMAIN}/",
        f"{OWN_DOMAIN}/",
        "igz-workload-",
        autoscaler.CONFIG,
        autoscaler.TEMPLATES,
        *AnnotationKey,
    )
    offenders = {
        f"{file.relative_to(PROJECT_ROOT)}: {constant!r}"
        for file in SOURCES
        if "contract" not in file.parts
        for constant in string_constants(file)
        if any(word in constant for word in words)
    }
    assert offenders == set()


def test_no_module_beside_an_entry_point_shadows_another_package() -> None:
    installed = {name for dist in metadata.packages_distributions() for name in [dist]}
    taken = (installed | set(sys.stdlib_module_names)) - set(PACKAGES)
    entry_folders = {file.parent for file in PROJECT_ROOT.glob("infra/**/__main__.py")} | {
        file.parent for file in PROJECT_ROOT.glob("policies/packs/*/__main__.py")
    }
    assert entry_folders
    shadowing = {
        module.name
        for folder in entry_folders
        for module in pkgutil.iter_modules([str(folder)])
        if module.name in taken
    }
    assert shadowing == set()


def test_the_root_stays_small_enough_to_read() -> None:
    entries = {name.partition("/")[0] for name in tracked(and_new=True)}
    assert len([name for name in entries if not name.startswith(".")]) < 20
