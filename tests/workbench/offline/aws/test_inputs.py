import pytest

from workbench.offline.aws.inputs import children, inputs_of

GROUP = "aws:eks/nodeGroup:NodeGroup"


def test_inputs_are_found_by_their_path() -> None:
    assert inputs_of(GROUP)["taints[].effect"].required
    assert inputs_of(GROUP)["subnetIds"].change == "replace"


def test_an_object_and_the_objects_of_a_list_tell_what_is_in_them() -> None:
    assert set(children(GROUP, "scalingConfig")) == {"desiredSize", "maxSize", "minSize"}
    assert set(children(GROUP, "taints")) == {"effect", "key", "value"}
    assert "scalingConfig" in children(GROUP, "")
    assert children(GROUP, "labels") == {}


def test_a_type_that_is_not_in_the_table_is_no_empty_type() -> None:
    with pytest.raises(KeyError):
        inputs_of("aws:s3/bucket:Bucket")
