from typing import Any

import pytest

from workbench.rehearsal.scenario.places import Place

NODE: dict[str, Any] = {"pool": "gpu", "role": "gpu", "lifecycle": "spot", "zone": "eu-west-1a"}


@pytest.mark.parametrize(
    ("place", "holds"),
    [
        ({}, True),
        ({"pool": "gpu"}, True),
        ({"pool": "workload"}, False),
        ({"role": "gpu", "lifecycle": "spot"}, True),
        ({"role": "gpu", "lifecycle": "on-demand"}, False),
        ({"zone": "eu-west-1a"}, True),
        ({"zone": "eu-west-1b", "pool": "gpu"}, False),
    ],
)
def test_a_place_holds_the_nodes_that_have_all_its_properties(place: dict[str, str], *, holds: bool) -> None:
    assert Place.model_validate(place).holds(**NODE) is holds


def test_a_node_without_a_known_zone_is_in_no_zone() -> None:
    assert not Place(zone="eu-west-1a").holds(**{**NODE, "zone": None})
    assert Place(pool="gpu").holds(**{**NODE, "zone": None})


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({}, "any node"),
        ({"pool": "gpu"}, "pool gpu"),
        ({"role": "workload", "lifecycle": "spot"}, "role workload, spot"),
        ({"zone": "eu-west-1a"}, "zone eu-west-1a"),
    ],
)
def test_a_place_reads_as_people_say_it(place: dict[str, str], text: str) -> None:
    assert Place.model_validate(place).text == text
