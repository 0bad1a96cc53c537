"""Groups of reserved capacity: their machines come from the reservation and from nowhere else."""

from typing import Any

import pytest

from support.eks import LAUNCH_TEMPLATE, NODE_GROUP, build
from support.recorder import Recorder

RESERVED: dict[str, Any] = {
    "role": "gpu",
    "lifecycle": "reserved",
    "size": {"min": 0, "max": 2},
    "instanceTypes": ["p5.48xlarge"],
    "zone": "b",
    "reservation": {"id": "cr-0a91582543292e10a"},
}
BLOCK = {**RESERVED, "reservation": {**RESERVED["reservation"], "block": True}}


def made(pool: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any], Recorder]:
    """Return the name of the only reserved group, its inputs and those of its template."""
    recorder = build({"pools.train": pool})
    groups = recorder.of_type(NODE_GROUP)
    (name,) = (each for each in groups if "train" in each)
    return name, dict(groups[name]), dict(recorder.of_type(LAUNCH_TEMPLATE)[name]), recorder


def test_a_reservation_is_the_only_place_where_machines_start() -> None:
    _, group, template, _ = made(RESERVED)
    assert template["capacityReservationSpecification"] == {
        "capacityReservationPreference": "capacity-reservations-only",
        "capacityReservationTarget": {"capacityReservationId": "cr-0a91582543292e10a"},
    }
    assert not {"instanceType", "instanceMarketOptions"} & set(template)
    assert (group["capacityType"], group["instanceTypes"]) == ("ON_DEMAND", ["p5.48xlarge"])
    assert len(group["subnetIds"]) == 1


def test_an_update_needs_no_place_beside_those_of_the_reservation() -> None:
    assert made(RESERVED)[1]["updateConfig"] == {"maxUnavailablePercentage": 33, "updateStrategy": "MINIMAL"}
    strategies = [each["updateConfig"].get("updateStrategy") for each in build().of_type(NODE_GROUP).values()]
    assert set(strategies) == {None}


def test_a_group_of_reservations_is_named_by_its_arn() -> None:
    arn = "arn:aws:resource-groups:eu-west-1:111122223333:group/gpus"
    _, _, template, _ = made({**RESERVED, "reservation": {"id": arn}})
    target = template["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationResourceGroupArn": arn}


def test_the_template_of_a_block_says_all_that_eks_demands() -> None:
    name, group, template, recorder = made(BLOCK)
    assert template["instanceType"] == "p5.48xlarge"
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["capacityReservationSpecification"] == {
        "capacityReservationTarget": {"capacityReservationId": "cr-0a91582543292e10a"}
    }
    assert group["capacityType"] == "CAPACITY_BLOCK"
    assert "instanceTypes" not in group
    assert group["scalingConfig"]["minSize"] == group["scalingConfig"]["desiredSize"] == 0
    # EKS updates it only while it is empty.
    assert {"version", "launchTemplate"} <= set(recorder.options[NODE_GROUP, name].ignore_changes)


@pytest.mark.parametrize(
    "other",
    [
        {**BLOCK, "reservation": {**BLOCK["reservation"], "id": "cr-0b91582543292e10b"}},
        {**BLOCK, "instanceTypes": ["p5e.48xlarge"]},
    ],
    ids=["block", "machine type"],
)
def test_what_a_living_group_cannot_change_is_another_group(other: dict[str, Any]) -> None:
    assert made(BLOCK)[0] != made(other)[0]


def test_its_nodes_are_neither_spot_nor_plainly_on_demand() -> None:
    for pool in (RESERVED, BLOCK):
        labels = made(pool)[1]["labels"]
        assert labels["app.iguazio.com/lifecycle"] == "non-preemptible"
        assert labels["igz-clusters.io/lifecycle"] == "reserved"


def test_other_groups_say_nothing_of_reservations() -> None:
    recorder = build()
    for template in recorder.of_type(LAUNCH_TEMPLATE).values():
        assert not {"capacityReservationSpecification", "instanceMarketOptions", "instanceType"} & set(template)
    for group in recorder.of_type(NODE_GROUP).values():
        assert "igz-clusters.io/lifecycle" not in group["labels"]
