"""What CONTRIBUTING says about a new cloud is all that a new cloud takes: a pretended one is added to a copy."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from workbench.system.paths import PROJECT_ROOT

FILES: Final = Path(__file__).with_name("fifth_kind")
FILES_MAX: Final = 8

EDITS: Final[Mapping[str, Mapping[str, str]]] = {
    "components/contract/environments.py": {
        '    EXISTING = "existing"\n': '    EXISTING = "existing"\n    PRETEND = "pretend"\n',
        '    AZURE = "azure"\n': '    AZURE = "azure"\n    PRETEND = "pretend"\n',
    },
    "components/contract/clusters.py": {
        "from components.contract.taints": "from components.contract.pretend.config import PretendConfig\n"
        "from components.contract.pretend.descriptor import PRETEND\nfrom components.contract.taints",
        "AksConfig | ExistingConfig": "AksConfig | ExistingConfig | PretendConfig",
        "(LOCAL, EKS, AKS, EXISTING)": "(LOCAL, EKS, AKS, EXISTING, PRETEND)",
    },
    "components/contract/kubernetes_minors.py": {
        'Literal["eks", "aks"]': 'Literal["eks", "aks", "pretend"]',
        '"aks": Support(date(2027, 3, 31)),': '"aks": Support(date(2027, 3, 31)), "pretend": Support(None),',
    },
    "infra/program.py": {
        "from components.contract.local.config": "from components.contract.pretend.config import PretendConfig\n"
        "from components.contract.local.config",
        "        case ExistingConfig():": """\
        case PretendConfig():
            from components.clusters.pretend import PretendCluster, PretendClusterArgs

            return PretendCluster(name, PretendClusterArgs(groups=config.groups), below).handle
        case ExistingConfig():""",
    },
    "policies/views/node_groups/__init__.py": {
        "import aks, eks\n": "import aks, eks, pretend\n",
        "(eks.TYPES, aks.TYPES)": "(eks.TYPES, aks.TYPES, pretend.TYPES)",
    },
    "workbench/engine/clouds/find.py": {
        "from infra.config": "from components.contract.pretend.config import PretendConfig\n"
        "from workbench.engine.clouds import pretend\nfrom infra.config",
        "    EksConfig: KnownCloud": "    PretendConfig: KnownCloud(cloud=pretend.Pretend, "
        'components=pretend.components, folder="pretend"),\n'
        "    EksConfig: KnownCloud",
    },
}
"""The edits of existing files: what is replaced, and by what."""

ELSEWHERE: Final = {"pyproject.toml"}
"""A real cloud also brings an SDK."""

NOT_EDITED: Final = {"README.md", "docs/site/mkdocs.yml", "requirements.txt", "tests/test_fifth_kind.py"}
"""What the list mentions beside the edited files: documentation, what is generated, and this test."""


def edit(root: Path, edits: Mapping[str, Mapping[str, str]]) -> None:
    for name, replacements in edits.items():
        text = (root / name).read_text()
        for old, new in replacements.items():
            assert text.count(old) == 1, f"{name} has {old!r} {text.count(old)} times"
            text = text.replace(old, new)
        (root / name).write_text(text)


def test_a_pretended_cloud_is_known_everywhere_after_the_edits_of_the_list(tmp_path: Path) -> None:
    left_out = shutil.ignore_patterns("__pycache__", ".*", "fifth_kind", "node_modules", "sdks")
    for name in ("components", "infra", "policies", "workbench", "examples", "tools"):
        shutil.copytree(PROJECT_ROOT / name, tmp_path / name, ignore=left_out)
    for file in ("Pulumi.yaml", "pyproject.toml", *(each.name for each in PROJECT_ROOT.glob("Pulumi.*.yaml"))):
        shutil.copy(PROJECT_ROOT / file, tmp_path / file)
    for name in ("components", "policies", "workbench", "examples", "tools"):
        shutil.copytree(FILES / name, tmp_path / name, dirs_exist_ok=True)
    edit(tmp_path, EDITS)
    path = f"{tmp_path}:{PROJECT_ROOT / 'tests'}"
    ran = subprocess.run(
        [sys.executable, FILES / "check.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "every reader knows the pretended cloud\n"


def test_the_list_names_exactly_the_files_to_edit() -> None:
    text = (PROJECT_ROOT / "CONTRIBUTING.md").read_text()
    section = text.partition("## Add a cloud\n")[2].partition("\n## ")[0]
    edited, _, new = section.partition("New files:")
    listed = set(re.findall(r"^\d+\. `([^`]+)`", edited, re.MULTILINE))
    assert listed == EDITS.keys() | ELSEWHERE
    assert len(listed) <= FILES_MAX
    mentioned = {name for name in re.findall(r"`([^`]+\.\w+)`", section) if (PROJECT_ROOT / name).is_file()}
    assert mentioned - listed == NOT_EDITED
    assert all((PROJECT_ROOT / name).is_file() for name in listed)
    named = {name.replace("KIND", "pretend").replace("CLOUD", "pretend") for name in re.findall(r"`([^`]+)`", new)}
    added = {name for name in named if "pretend" in name and "/" in name and not name.startswith("tests/")}
    assert {name for name in added if not (FILES / name).exists()} == set()
    files = {file.relative_to(FILES).as_posix() for file in FILES.rglob("*.*") if file.is_file()} - {"check.py"}
    assert {file for file in files if not file.startswith(tuple(added))} == set()
