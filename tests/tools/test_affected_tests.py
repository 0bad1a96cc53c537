import subprocess
import sys
from pathlib import Path

import pytest

from tools.affected_tests import WHOLE, needed
from tools.tracked import tracked
from workbench.system.paths import PROJECT_ROOT


@pytest.mark.parametrize(
    ("file", "subject"),
    [
        ("workbench/recovery/cloud/plan.py", "recovery"),
        ("workbench/engine/lock.py", "locks and runs"),
        ("tests/emulators/aws/client.py", "emulators"),
        ("components/scheduling/admission.py", "admission"),
        ("tools/release/wheel.py", "packaging"),
        ("infra/package/provider.py", "the component package"),
    ],
)
def test_a_change_where_more_goes_wrong_than_make_test_tries_needs_all_tests(file: str, subject: str) -> None:
    found = needed([file, "README.md"])
    assert found.target == "test-all"
    assert found.reasons == {subject: [file]}


def test_any_other_change_needs_those_of_every_change_and_tries_its_mirror_first() -> None:
    found = needed(["tools/affected_tests.py", "workbench/report/no_such_file.py", "docs/eks.md"])
    assert found.target == "test"
    assert found.first == ("tests/tools/test_affected_tests.py", "tests/workbench/report")


def test_every_pattern_matches_something() -> None:
    files = tracked()
    patterns = [pattern for group in WHOLE.values() for pattern in group]
    assert [each for each in patterns if not any(Path(file).match(each) or _below(file, each) for file in files)] == []


def _below(file: str, pattern: str) -> bool:
    return pattern.endswith("/*") and file.startswith(pattern[:-1])


def test_an_unknown_base_is_answered_without_a_traceback() -> None:
    command = [sys.executable, "-m", "tools.affected_tests", "--base", "no-such-branch"]
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "git cannot compare with no-such-branch" in done.stderr
    assert "Traceback" not in done.stderr
