import pytest

from workbench.offline.aws.facts import facts
from workbench.offline.aws.models import judge, places
from workbench.offline.aws.operations import OPERATIONS


@pytest.mark.parametrize("type_", facts().resources)
def test_every_type_has_a_request_whose_required_members_its_inputs_can_fill(type_: str) -> None:
    # Judging nothing at all names every required member; each must be the name of an input.
    known = set(places(type_))
    for problem in judge(type_, {}).problems:
        assert set(problem.path.split(" or ")) <= known, problem


def test_the_tables_of_facts_and_of_operations_hold_the_same_types() -> None:
    assert OPERATIONS.keys() == facts().resources.keys()


def test_the_words_of_the_operations_are_inputs_that_exist() -> None:
    for type_, requests in OPERATIONS.items():
        for request in requests:
            optional = {"tags", "description"}  # one word list serves several types
            assert set(request.members) - optional <= set(places(type_)), type_
