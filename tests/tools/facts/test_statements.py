from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tools.facts.statements import Calls, Says, row

SAYS: TypeAdapter[Any] = TypeAdapter(Says)


def test_a_statement_with_two_keys_answers_two_questions() -> None:
    kept, cleared = SAYS.validate_python([{"keeps": True, "cleared_with": "[]", "of": ["routes"], "source": "sdk"}])
    assert (kept.question, kept.answer, cleared.question, cleared.answer) == ("absent", "keeps", "cleared", "[]")


def test_the_text_of_an_answer_is_its_condition() -> None:
    (found,) = SAYS.validate_python([{"not_read_back": "a secret", "of": ["password"], "assumed": "GET it"}])
    assert row(found) == {
        "assumed": "GET it",
        "question": "read",
        "answer": "not read back",
        "of": ("password",),
        "note": "a secret",
    }


def test_a_change_to_false_is_not_lost() -> None:
    (found,) = SAYS.validate_python([{"refused": True, "to": False, "of": ["enabled"], "source": "aks-oidc"}])
    assert row(found)["to"] is False


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"of": ["routes"], "source": "sdk"}, "must have one of declared, updates"),
        ({"keeps": True, "of": ["routes"]}, "either a source or"),
        ({"keeps": True, "of": ["routes"], "source": "sdk", "assumed": "try"}, "either a source or"),
        ({"keep": True, "resets": True, "of": ["routes"], "source": "sdk"}, "keep"),
    ],
)
def test_a_statement_of_another_form_is_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        SAYS.validate_python([given])


def test_calls_are_named_by_their_operation() -> None:
    (call,) = TypeAdapter(Calls).validate_python({"delete": {"answer": ["DELETE id"], "source": "plugin"}})
    assert (call.operation, call.answer) == ("delete", ("DELETE id",))
