from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.engine_marks import MARK, SECRET_KIND, SENTINELS
from workbench.report.values import (
    MISSING,
    NOT_SHOWN,
    SECRET,
    UNKNOWN,
    Place,
    at,
    both_shown,
    parts,
    safe,
)

MARKED = {MARK: SECRET_KIND, "ciphertext": "x"}
ANY = "a:b/c:D"


def shown(path: str, value: Any, token: str = ANY) -> str | None:
    return both_shown(Place(token, parts(path)), MISSING, value)[1]


def test_a_path_is_read_as_the_engine_writes_it() -> None:
    assert parts('spec.rules[0]["a.b/c"].x') == ("spec", "rules", 0, "a.b/c", "x")
    assert at({"spec": {"rules": [{"a.b/c": {"x": 1}}]}}, parts('spec.rules[0]["a.b/c"].x')) == 1
    assert at({"spec": []}, parts("spec[3].x")) is MISSING


@pytest.mark.parametrize(
    ("token", "path", "value", "wanted"),
    [
        (ANY, "tags.marked", MARKED, SECRET),
        (ANY, "list", [1, MARKED], '[1, "[secret]"]'),
        (ANY, "arn", min(SENTINELS), UNKNOWN),
        (ANY, "password", "abc", NOT_SHOWN),
        (ANY, "clientSecret", "abc", NOT_SHOWN),
        (ANY, "masterPassword", "abc", NOT_SHOWN),
        (ANY, "kubeconfig", "abc", NOT_SHOWN),
        (ANY, "userData", "abc", NOT_SHOWN),
        (ANY, 'metadata.annotations["example.com/token"]', "abc", NOT_SHOWN),
        (ANY, "spec.containers[0].env[1].value", "abc", NOT_SHOWN),
        (ANY, "spec.containers[0].env[1].name", "LEVEL", "LEVEL"),
        (ANY, "spec.containers[0]", {"image": "a", "env": [{"value": "abc"}]}, '{"image": "a", "env": "[not shown]"}'),
        ("kubernetes:core/v1:Secret", "data.x", "abc", NOT_SHOWN),
        ("kubernetes:core/v1:Secret", "stringData", {"x": "abc"}, NOT_SHOWN),
        ("kubernetes:core/v1:ConfigMap", "data.x", "abc", NOT_SHOWN),
        ("kubernetes:core/v1:Secret", "metadata.name", "abc", "abc"),
        (ANY, "text", "-----BEGIN RSA PRIVATE KEY-----", SECRET),
        (ANY, "text", "users: [{user: {token: abc}}]", SECRET),
        (ANY, "text", "https://user:abc@example.com", SECRET),
        (ANY, "text", "AKIAIOSFODNN7EXAMPLE", SECRET),
        (ANY, "metadataOptions.httpTokens", "required", "required"),
        (ANY, "automountServiceAccountToken", False, "false"),
        (ANY, "encryptionConfig.provider.keyArn", "arn:aws:kms:x", "arn:aws:kms:x"),
        (ANY, "size", 3, "3"),
    ],
)
def test_secrets_are_not_shown_and_choices_are(token: str, path: str, value: Any, wanted: str) -> None:
    assert shown(path, value, token) == wanted


def test_a_copy_of_a_secret_under_the_same_name_is_secret() -> None:
    place = Place(ANY, ("tagsAll", "key"), frozenset({"key"}))
    assert both_shown(place, "abc", "def") == (SECRET, SECRET)


def test_long_texts_are_shown_from_where_they_differ() -> None:
    before, after = both_shown(Place(ANY, ("x",)), "a" * 1000 + "b", "a" * 1000 + "c")
    assert (before, after) == ("..." + "a" * 20 + "b", "..." + "a" * 20 + "c")


@given(st.text())
def test_every_text_is_one_printable_line(text: str) -> None:
    for found in (safe(text), shown("x", text) or ""):
        assert found.isprintable()
        assert len(found) < 2000
