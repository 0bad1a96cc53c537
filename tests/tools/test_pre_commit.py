import re

import yaml

from workbench.system.paths import PROJECT_ROOT

RECIPE = re.compile(r"^check:.*\n((?:\t.*\n)+)", re.MULTILINE)


def test_the_hooks_run_what_make_check_runs_and_download_nothing() -> None:
    (recipe,) = RECIPE.findall((PROJECT_ROOT / ".github" / "development.mk").read_text())
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe.splitlines()]
    repositories = yaml.safe_load((PROJECT_ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [each["repo"] for each in repositories] == ["local"]
    hooks = repositories[0]["hooks"]
    assert [hook["entry"].removeprefix("env ") for hook in hooks] == commands
    assert {hook["language"] for hook in hooks} == {"system"}
