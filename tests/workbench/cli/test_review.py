"""What a review says while it is at work."""

import pytest

from workbench.cli.review import _Teller


def test_what_the_changes_own_code_said_is_obeyed_by_no_terminal_and_no_runner(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _Teller()("prod: it failed:\n\x1b[2J[bold]x\r\n::add-mask::o\x1b]0;t\x07")
    assert capsys.readouterr().err == (
        "    0 s  prod: it failed:\n         | \\x1b[2J[bold]x\n         | ::add-mask::o\\x1b]0;t\\x07\n"
    )
