"""Links of the documents lead to files that exist, and the README's numbers are today's."""

import re
import subprocess
from pathlib import Path

import pytest

from policies.admission import entries
from policies.registry import RULES
from workbench.system.paths import PROJECT_ROOT

_LISTING = subprocess.run(["git", "ls-files", "*.md"], cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
DOCUMENTS = [file for file in _LISTING.stdout.split() if "/comments/" not in file and "/releases/" not in file]
README = (PROJECT_ROOT / "README.md").read_text()


@pytest.mark.parametrize("file", DOCUMENTS)
def test_its_links_lead_to_files(file: str) -> None:
    path = PROJECT_ROOT / file
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    targets = {target for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text) if "://" not in target}
    assert [target for target in sorted(targets) if not Path(path.parent, target).exists()] == []


def test_the_readme_counts_the_rules() -> None:
    assert f"{len(RULES)} policy rules" in README
    assert f"{len(entries())} of them also at admission" in README
