import pytest

from emulators.aws.server.eks.pages import PAGE_MAX, page
from emulators.aws.server.eks.store import Request
from emulators.aws.server.errors import AwsError
from emulators.core.fault_outcome import AS_USUAL


def pages(found: list[int], **params: object) -> dict[str, object]:
    return page(Request("ListClusters", params, AS_USUAL), "clusters", found)


def test_a_list_that_fits_is_one_page() -> None:
    assert pages([1, 2]) == {"clusters": [1, 2]}
    assert pages([]) == {"clusters": []}


def test_a_longer_list_goes_on_where_the_page_ended() -> None:
    everything = list(range(PAGE_MAX + 1))
    first = pages(everything)
    assert first["clusters"] == everything[:-1]
    assert pages(everything, nextToken=first["nextToken"]) == {"clusters": [PAGE_MAX]}


def test_a_token_that_nobody_gave_is_refused() -> None:
    with pytest.raises(AwsError, match="was not given by an earlier page"):
        pages([1], nextToken="x")
