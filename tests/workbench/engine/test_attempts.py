"""Options of the attempts of one engine command."""

from typing import Any

import pytest

from workbench.engine.attempts import APPROVED, Attempts
from workbench.system.errors import UserError

OLD = {"urn": "group", "id": "gpu", "created": "then"}
OTHER = {"urn": "other", "id": "spot", "created": "then"}
OPTIONS = ("--replace", "group", "--replace", "other", "--yes")


@pytest.mark.parametrize(
    "left",
    [
        [{**OLD, "id": "gpu-2"}],
        [{**OLD, "created": "now"}],
        [{**OLD, "created": "now"}, {**OLD, "delete": True}],
        [{**OLD, "delete": True}],
    ],
    ids=["another id", "the same name", "the old one is left", "only the old one is left"],
)
def test_what_an_attempt_replaced_is_not_replaced_again(left: list[dict[str, Any]]) -> None:
    states = iter([[OLD, OTHER], [*left, OTHER]])
    attempts = Attempts(OPTIONS, lambda: {"resources": next(states)})
    assert attempts.following() == ["--replace", "other", *APPROVED]


def test_what_stays_failed_is_accepted_as_it_is() -> None:
    attempts = Attempts(OPTIONS, lambda: {"resources": [OLD, OTHER]})
    assert attempts.following() == [*OPTIONS[:4], *APPROVED]
    assert attempts.following({"group"}) == ["--replace", "other", *APPROVED]


def test_pending_operations_end_only_the_replacement_that_they_are_about() -> None:
    pending = [{"type": "creating", "resource": OTHER}, {"type": "deleting", "resource": OLD}]
    attempts = Attempts(OPTIONS, lambda: {"resources": [OLD, OTHER], "pending_operations": pending})
    assert attempts.following() == ["--replace", "group", *APPROVED]
    pending.clear()
    assert attempts.following() == [*OPTIONS[:4], *APPROVED]


def test_a_state_that_cannot_be_read_replaces_nothing_more() -> None:
    def state() -> dict[str, Any]:
        if seen:
            raise UserError("no answer")
        seen.append(1)
        return {}

    seen = list[int]()
    assert Attempts(OPTIONS, state).following() == [*APPROVED]


def test_without_replacements_no_state_is_read() -> None:
    def state() -> dict[str, Any]:
        raise AssertionError

    assert Attempts(["--yes"], state).following() == [*APPROVED]
