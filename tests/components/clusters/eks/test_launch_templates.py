from support.eks import LAUNCH_TEMPLATE, build, built


def test_root_disks_are_encrypted_gp3_of_the_chosen_size() -> None:
    for template in build({"cluster.rootVolumeGib": 200}).of_type(LAUNCH_TEMPLATE).values():
        (disk,) = template["blockDeviceMappings"]
        assert disk["ebs"] == {
            "volumeType": "gp3",
            "volumeSize": 200,
            "encrypted": "true",
            "deleteOnTermination": "true",
        }


def test_instances_and_volumes_carry_the_tags_of_the_stack() -> None:
    for template in built().of_type(LAUNCH_TEMPLATE).values():
        tags = {spec["resourceType"]: spec["tags"] for spec in template["tagSpecifications"]}
        assert set(tags) == {"instance", "volume"}
        for kind in tags.values():
            assert kind.items() >= {"team": "ml", "igz-clusters.io/cluster": "research"}.items()
