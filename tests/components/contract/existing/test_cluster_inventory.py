import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.existing.cluster_inventory import ClusterInventory, SharedKind, SharedObject

NAMES = st.text(min_size=1, max_size=20)
SIGHTINGS = st.builds(
    ClusterInventory,
    NAMES,
    st.dictionaries(NAMES, st.lists(NAMES).map(tuple)),
    st.frozensets(st.builds(SharedObject, st.sampled_from(SharedKind), NAMES)),
    st.booleans(),
)


@settings(deadline=None)
@given(SIGHTINGS)
def test_a_file_says_what_was_seen(seen: ClusterInventory) -> None:
    assert ClusterInventory.from_json(seen.to_json()) == seen


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"clusterId": "x", "nodes": [], "adopted": []}', '{"clusterId": 1}'])
def test_any_other_file_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it is not a cluster inventory"):
        ClusterInventory.from_json(text)
