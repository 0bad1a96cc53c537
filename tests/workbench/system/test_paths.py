"""Which errors of the operating system the user can fix."""

import errno
import os
from email.message import Message
from urllib.error import HTTPError, URLError

import pytest

from workbench.system.paths import problem_of


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.ENOLCK, errno.EIO])
def test_errors_of_disks_are_said_also_without_the_name_of_the_file(code: int) -> None:
    problem = problem_of(OSError(code, os.strerror(code)))
    assert problem
    assert " a file: " in problem.message
    named = problem_of(OSError(code, os.strerror(code), "/data/state"))
    assert named
    assert " /data/state: " in named.message


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EPERM, "Operation not permitted"),
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        URLError("no network"),
        HTTPError("https://example.com", 403, "Forbidden", Message(), None),
    ],
    ids=lambda error: type(error).__name__,
)
def test_other_errors_are_no_problem_of_a_file(error: OSError) -> None:
    assert problem_of(error) is None
