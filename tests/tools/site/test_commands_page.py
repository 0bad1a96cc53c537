from tools.site.commands import page
from workbench.cli.commands import COMMANDS

PAGE = page()


def test_every_command_has_a_section_with_its_usage() -> None:
    groups = {"backup", "config", "existing", "fleet", "local", "operator", "passport", "policy", "prices", "toolchain"}
    sections = [line.removeprefix("## ") for line in PAGE.splitlines() if line.startswith("## ")]
    assert {each.split()[0] for each in sections} == COMMANDS.keys()
    assert {each.split()[0] for each in sections if " " in each} == groups
    assert PAGE.count("```text\nigz-clusters ") == len(sections)


def test_what_markdown_would_read_as_its_own_is_escaped_outside_of_code() -> None:
    assert "| `--diff` | Show every changed property. |" in PAGE
    assert "STACK <str>" in PAGE
    outside = "".join(part for index, part in enumerate(PAGE.split("`")) if index % 2 == 0)
    assert "\\<" not in PAGE.partition("## ")[0]
    assert not [line for line in outside.splitlines() if "<" in line.replace("\\<", "")]
