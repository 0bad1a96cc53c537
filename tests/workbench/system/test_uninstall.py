"""docs/uninstall.md names everything that is written outside of the checkout."""

import re

from workbench.cli.commands import COMMANDS
from workbench.system.paths import PROJECT_ROOT
from workbench.system.temporary import _PREFIX

PAGE = (PROJECT_ROOT / "docs" / "uninstall.md").read_text()
WRITTEN = re.compile(r'\b(?:data_dir|cache_dir)\(\) / "([^"]+)"')


def test_every_folder_and_file_of_data_and_cache_is_on_the_page() -> None:
    sources = (PROJECT_ROOT / "workbench").rglob("*.py")
    written = {name for file in sources for name in WRITTEN.findall(file.read_text())}
    assert "state" in written
    assert {name for name in written if f"`{name}`" not in PAGE} == set()
    assert f"`{_PREFIX}*`" in PAGE


def test_its_commands_exist() -> None:
    commands = re.findall(r"^igz-clusters ([a-z]+)", PAGE, re.MULTILINE)
    assert commands
    assert set(commands) <= set(COMMANDS)
