from typing import Any

import pytest

from policies.resource import Resource
from policies.values import UNKNOWN, NotJudgeableError, Value
from policies.views.ingress import INGRESSES, Ingress
from policies.views.ranges import is_world
from policies.views.tags import TAGGED

GROUP = "aws:ec2/securityGroup:SecurityGroup"
SINGLE = "aws:ec2/securityGroupRule:SecurityGroupRule"
WORLD = ["0.0.0.0/0"]


def ingresses(kind: str, props: Any) -> list[Ingress]:
    return list(INGRESSES.find(Resource(kind, "thing", "urn", Value(props))))


def one(**rule: Any) -> Ingress:
    [ingress] = ingresses(GROUP, {"ingress": [{"protocol": "tcp", "cidrBlocks": WORLD, **rule}]})
    return ingress


@pytest.mark.parametrize(
    ("cidr", "world"),
    [
        ("0.0.0.0/0", True),
        ("::/0", True),
        ("128.0.0.0/1", True),
        ("10.0.0.0/8", False),
        ("203.0.113.7", False),
        ("0.0.0.0/32", False),
        ("2001:db8::/32", False),
    ],
)
def test_the_world_is_known_in_every_spelling(cidr: str, world: bool) -> None:
    assert is_world(Value(cidr)) is world


@pytest.mark.parametrize("cidr", ["", "office", "10.0.0.0/33", 3, UNKNOWN])
def test_what_is_no_range_is_not_judged(cidr: Any) -> None:
    with pytest.raises(NotJudgeableError):
        is_world(Value(cidr))


@pytest.mark.parametrize(
    ("rule", "open_"),
    [
        ({"fromPort": 22, "toPort": 22}, True),
        ({"fromPort": 0, "toPort": 65535}, True),
        ({"fromPort": 23, "toPort": 80}, False),
        ({"fromPort": 1, "toPort": 21}, False),
        ({"fromPort": 22, "toPort": 22, "protocol": "6"}, True),
        ({"fromPort": 22, "toPort": 22, "protocol": "udp"}, False),
        ({"fromPort": 0, "toPort": 0, "protocol": "-1"}, True),
        ({"protocol": "tcp"}, True),
    ],
)
def test_ports_and_protocols_say_what_is_open(rule: dict[str, Any], open_: bool) -> None:
    assert one(**rule).opens(22) is open_


def test_a_rule_for_security_groups_is_for_nobody_else() -> None:
    assert not one(cidrBlocks=None, securityGroups=["sg-0a"]).is_for_the_world()


def test_each_way_to_write_a_rule_is_read() -> None:
    inline = {"ingress": [{"protocol": "tcp"}, {"protocol": "udp"}]}
    assert [str(each) for each in ingresses(GROUP, inline)] == ["'thing' (ingress[0])", "'thing' (ingress[1])"]
    assert len(ingresses(SINGLE, {"type": "ingress"})) == 1
    assert ingresses(SINGLE, {"type": "egress"}) == []
    assert len(ingresses("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", {"ipProtocol": "tcp"})) == 1


def test_a_nodes_ssh_key_opens_ssh_unless_groups_are_named() -> None:
    def of(access: Any) -> list[Ingress]:
        return ingresses("aws:eks/nodeGroup:NodeGroup", {"remoteAccess": access})

    [opened] = of({"ec2SshKey": "key"})
    assert opened.opens(22)
    assert opened.is_for_the_world()
    assert not opened.opens(443)
    assert of(None) == of({}) == of({"ec2SshKey": "key", "sourceSecurityGroupIds": [UNKNOWN]}) == []


def test_a_tag_counts_wherever_it_stands() -> None:
    props = {"tags": {"team": "ml"}, "tagsAll": {"team": "ml", "environment": "dev", "empty": ""}}
    [thing] = TAGGED.find(Resource("aws:kms/key:Key", "key", "urn", Value(props)))
    assert [thing.says(key) for key in ("team", "environment", "empty", "owner")] == [True, True, False, False]


def test_a_launch_templates_machines_and_disks_have_tags_of_their_own() -> None:
    props = {"tags": {"team": "ml"}, "tagSpecifications": [{"resourceType": "instance", "tags": {"team": "ml"}}]}
    things = TAGGED.find(Resource("aws:ec2/launchTemplate:LaunchTemplate", "gpu", "urn", Value(props)))
    assert {str(thing): thing.says("team") for thing in things} == {
        "'gpu'": True,
        "'gpu' (tagSpecifications for instance)": True,
        "'gpu' (tagSpecifications for volume)": False,
    }
