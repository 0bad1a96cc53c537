from typing import Any

import pytest
from pydantic import TypeAdapter

from components.contract.certificates import EXAMPLE, Certificates

READ = TypeAdapter(Certificates)


@pytest.mark.parametrize(
    "given",
    [
        EXAMPLE,
        EXAMPLE.replace("\n", "\r\n"),
        f"subject=CN = Corp Root\n{EXAMPLE}\n\n",
        EXAMPLE.strip(),
        EXAMPLE.replace("\n", " "),  # a folded text of YAML
    ],
    ids=["plain", "line breaks of Windows", "with comments", "without the last line break", "on one line"],
)
def test_a_certificate_has_one_form_however_it_is_written(given: Any) -> None:
    assert READ.validate_python([given]) == (EXAMPLE,)
