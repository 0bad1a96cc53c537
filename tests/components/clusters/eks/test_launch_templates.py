import base64

from components.contract.certificates import EXAMPLE
from support.eks import LAUNCH_TEMPLATE, NODE_GROUP, build, built, config


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


def test_instances_set_up_nothing_unless_they_must() -> None:
    assert not any("userData" in template for template in built().of_type(LAUNCH_TEMPLATE).values())


def test_instances_of_every_group_learn_of_proxy_and_certificates() -> None:
    changes = {
        "cluster.proxy": {"http": "http://proxy.corp.example:3128"},
        "cluster.trustedCertificates": [EXAMPLE],
    }
    recorder = build(changes)
    for name, template in recorder.of_type(LAUNCH_TEMPLATE).items():
        decoded = base64.b64decode(template["userData"]).decode()
        assert decoded == config(changes).cluster.user_data
        # The disks of data nodes end with them: their group never follows the template.
        ignored = "launchTemplate" in recorder.options[NODE_GROUP, name].ignore_changes
        assert ignored == name.startswith("test-data-")
