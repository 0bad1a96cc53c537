import subprocess
import sys

import pytest

from policies.watchdog import time_limit

HANGS = """
import time
from policies.watchdog import time_limit
with time_limit("t 'n'", 0.2):
    time.sleep(60)
"""


def test_a_process_that_does_not_come_to_an_end_is_ended_and_says_with_what() -> None:
    result = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 70
    assert result.stderr == "error: the policies did not finish checking t 'n' within 0.2 s\n"


def test_a_block_in_time_is_left_alone() -> None:
    with time_limit("t 'n'", 60):
        pass


def test_an_exception_passes() -> None:
    with pytest.raises(KeyError), time_limit("t 'n'", 60):
        raise KeyError
