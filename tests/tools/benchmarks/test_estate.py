import pytest

from policies.examples import Given
from policies.registry import RULES
from tools.benchmarks.estate import looked_at, manifests, multiplied, state, terraform_plan, terraform_type

GROUP = Given(
    "aws:eks/nodeGroup:NodeGroup",
    "gpu",
    {
        "scalingConfig": {"minSize": 0},
        "labels": {"camelCase/key": "x"},
        "taints": [{"key": "k", "effect": "NO_SCHEDULE"}],
        "instanceTypes": ["g5.2xlarge"],
    },
    {},
)
CLASS = Given("kubernetes:scheduling.k8s.io/v1:PriorityClass", "low", {"metadata": {"name": "low"}, "value": 1}, {})
NAMESPACE = Given("kubernetes:core/v1:Namespace", "ml", {"metadata": {"name": "ml"}}, {})
ESTATE = [GROUP, CLASS, NAMESPACE]


def test_copies_have_names_of_their_own_and_the_first_keeps_its_own() -> None:
    made = multiplied(ESTATE, 3)
    assert made[:3] == ESTATE
    assert len({(each.type, each.name) for each in made}) == 9
    assert [each.props["metadata"]["name"] for each in made if each.type == CLASS.type] == [
        "low",
        "low-copy-1",
        "low-copy-2",
    ]
    assert CLASS.props["metadata"]["name"] == "low"


def test_a_state_holds_every_resource_with_its_inputs_and_a_provider_that_is_in_it() -> None:
    resources = state(ESTATE)["deployment"]["resources"]
    urns = {each["urn"] for each in resources}
    shown = [each for each in resources if "inputs" in each]
    assert [(each["type"], each["inputs"]) for each in shown] == [(each.type, each.props) for each in ESTATE]
    assert all(each["provider"].rpartition("::")[0] in urns and each["parent"] in urns for each in shown)


def test_a_plan_holds_the_cloud_in_terraforms_words() -> None:
    plan = terraform_plan(ESTATE)
    [planned] = plan["planned_values"]["root_module"]["resources"]
    assert planned["address"] == "aws_eks_node_group.gpu"
    assert planned["values"] == {
        "scaling_config": [{"min_size": 0}],
        "labels": {"camelCase/key": "x"},
        "taint": [{"key": "k", "effect": "NO_SCHEDULE"}],
        "instance_types": ["g5.2xlarge"],
    }
    [change] = plan["resource_changes"]
    assert change["change"]["after"] == planned["values"]


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("aws:ec2/launchTemplate:LaunchTemplate", "aws_launch_template"),
        ("aws:autoscaling/tag:Tag", "aws_autoscaling_group_tag"),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "aws_vpc_security_group_ingress_rule"),
        ("aws:kms/key:Key", "aws_kms_key"),
    ],
)
def test_a_type_is_named_as_terraform_names_it(token: str, kind: str) -> None:
    assert terraform_type(token) == kind


def test_manifests_hold_the_objects_of_the_cluster_with_version_and_kind() -> None:
    assert [(each["apiVersion"], each["kind"]) for each in manifests(ESTATE)] == [
        ("scheduling.k8s.io/v1", "PriorityClass"),
        ("v1", "Namespace"),
    ]


def test_what_a_rule_looks_at_grows_with_the_estate_and_a_rule_about_the_stack_looks_once() -> None:
    once, thrice = looked_at(ESTATE), looked_at(multiplied(ESTATE, 3))
    assert set(once) == {rule.id for rule in RULES}
    assert (once["NG-17"], thrice["NG-17"]) == (1, 3)
    assert (once["NG-02"], thrice["NG-02"]) == (1, 1)
    assert once["HN-01"] == 0
