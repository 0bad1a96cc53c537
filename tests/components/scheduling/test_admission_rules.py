import json
import subprocess
import sys
from dataclasses import fields, replace
from inspect import cleandoc
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from components.contract.clusters import spot_taint
from components.contract.environments import ClusterKind, Environment, PlatformProfile
from components.contract.groups import resolve_groups
from components.contract.policy_choices import PolicyChoices
from components.contract.policy_parameters import (
    PolicyParameters,
    parameters_schema,
    parameters_spec,
    policy_parameters,
    rule_variables,
)
from components.contract.pools import NodePool
from components.scheduling.admission_rules import SUBJECTS, AdmissionRule, AdmissionRules, AdmissionRulesArgs
from policies.rule import Subject
from support.admission import local_groups, rules_at_admission
from support.recorder import Recorder, record
from support.scratch_rules import LABEL, SCRATCH

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
BINDING = f"{POLICY}Binding"
PARAMETERS = "kubernetes:igz-clusters.io/v1:PolicyParameters"
DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"


def declared(rules: tuple[AdmissionRule, ...], **choices: Any) -> Recorder:
    arguments = AdmissionRulesArgs(
        environment=Environment.DEV,
        groups=local_groups(),
        choices=PolicyChoices.model_validate(choices),
        rules=rules,
    )
    return record(lambda: AdmissionRules("rules", arguments) and None)


def test_a_hundred_rules_need_no_more_objects_than_ten() -> None:
    rules = rules_at_admission(SCRATCH)
    many = tuple(AdmissionRule(**{**vars(rule), "id": f"{rule.id}-{n}"}) for rule in rules for n in range(20))
    assert len(declared(many).resources) == len(declared(rules).resources) == 13


def test_what_a_policy_needs_is_made_before_it_and_goes_after_it() -> None:
    recorder = declared(rules_at_admission(SCRATCH))
    assert (DEFINITION, "policyparameters.igz-clusters.io") in recorder.needs((PARAMETERS, "igz-clusters"))
    for name in recorder.of_type(POLICY):
        reads = "paramKind" in recorder.of_type(POLICY)[name]["spec"]
        assert ((PARAMETERS, "igz-clusters") in recorder.needs((POLICY, name))) is reads, name
    for name, binding in recorder.of_type(BINDING).items():
        assert (POLICY, binding["spec"]["policyName"]) in recorder.needs((BINDING, name))


def test_without_parameters_nothing_that_reads_them_lets_a_request_pass() -> None:
    recorder = declared(rules_at_admission(SCRATCH))
    policies = recorder.of_type(POLICY)
    for binding in recorder.of_type(BINDING).values():
        if "paramKind" in policies[binding["spec"]["policyName"]]["spec"]:
            assert binding["spec"]["paramRef"] == {"name": "igz-clusters", "parameterNotFoundAction": "Deny"}
    assert "paramKind" not in policies["igz-nodes-mandatory"]["spec"]


@pytest.mark.parametrize(
    ("mode", "action", "failure"), [("deny", ["Deny"], "Fail"), ("warn", ["Warn", "Audit"], "Ignore")]
)
def test_the_stack_file_decides_between_a_refusal_and_a_warning(mode: str, action: list[str], failure: str) -> None:
    recorder = declared(rules_at_admission(SCRATCH), admission=mode)
    assert recorder.of_type(BINDING)["igz-pods-mandatory"]["spec"]["validationActions"] == action
    assert recorder.of_type(POLICY)["igz-pods-mandatory"]["spec"]["failurePolicy"] == failure
    assert recorder.of_type(BINDING)["igz-pods-advisory"]["spec"]["validationActions"] == ["Warn", "Audit"]
    assert recorder.of_type(POLICY)["igz-pods-advisory"]["spec"]["failurePolicy"] == "Ignore"


def test_a_rule_that_is_off_in_the_environment_is_in_no_policy() -> None:
    (rule,) = rules_at_admission([LABEL])
    off = AdmissionRule(**{**vars(rule), "level": {"dev": "off", "prod": "mandatory"}})
    assert declared((off,)).of_type(POLICY) == {}


def test_every_subject_that_a_rule_can_have_is_known() -> None:
    assert set(SUBJECTS) == set(Subject)


def test_the_schema_describes_every_parameter_and_the_object_fits_it() -> None:
    names = {to_camel(field.name) for field in fields(PolicyParameters)}
    schema = parameters_schema()
    assert set(schema["properties"]) == set(schema["required"]) == names
    assert all(said["description"] and said["type"] for said in schema["properties"].values())
    assert set(parameters_spec(policy_parameters(local_groups(), PolicyChoices.model_validate({})))) == names


SPOT = {
    "role": "workload",
    "lifecycle": "spot",
    "size": {"min": 0, "max": 3},
    "instanceTypes": ["m6i.2xlarge"],
}
GPU = {"role": "gpu", "size": {"min": 1, "max": 1}, "instanceTypes": ["g5.2xlarge"], "gpuResource": "example.com/gpu"}
INITIAL = {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}


@pytest.mark.parametrize("profile", PlatformProfile)
def test_the_parameters_follow_from_pools_and_choices(profile: PlatformProfile) -> None:
    pools = {
        name: NodePool.model_validate(pool) for name, pool in {"initial": INITIAL, "spot": SPOT, "gpu": GPU}.items()
    }
    groups = resolve_groups(pools, spot_taint(ClusterKind.LOCAL, profile))
    choices = PolicyChoices.model_validate(
        {"approvedRegistries": ["a/"], "platformRegistries": ["c/"], "jupyterServices": ["b"]}
    )
    parameters = policy_parameters(groups, choices)
    tainted = profile is PlatformProfile.MLRUN_CE
    assert parameters.user_pools == ("spot", "gpu")
    assert parameters.elastic_pools == ("spot",)
    assert parameters.gpu_resources == ("example.com/gpu",)
    assert parameters.spot_taint_keys == (("app.iguazio.com/lifecycle",) if tainted else ())
    assert parameters.has_untainted_spot is not tainted
    assert (parameters.approved_registries, parameters.jupyter_services) == (("a/",), ("b",))
    assert rule_variables(groups, choices) == {"gpuPools": '["gpu"]', "platformRegistries": '["c/"]'}


def test_the_parameter_object_has_the_fields_of_the_schema_in_living_clusters() -> None:
    """The preview of an update validates the object with the schema that is there, and fails for a new field."""
    assert set(parameters_schema()["properties"]) == {
        "approvedRegistries",
        "elasticPools",
        "gpuResources",
        "hasUntaintedSpot",
        "jupyterServices",
        "maxUserPriority",
        "spotTaintKeys",
        "userClasses",
        "userPools",
    }


def test_a_pool_in_several_zones_is_one_pool() -> None:
    groups = local_groups()
    assert policy_parameters([*groups, *groups], PolicyChoices.model_validate({})) == policy_parameters(
        groups, PolicyChoices.model_validate({})
    )


def test_a_rejection_links_to_the_documentation_of_the_stack_file_or_to_its_rules_source() -> None:
    rules = tuple(replace(rule, source="https://example.com/practices") for rule in rules_at_admission(SCRATCH))

    def text(**choices: Any) -> str:
        policies = declared(rules, **choices).of_type(POLICY)
        return json.dumps([policy["spec"] for policy in policies.values()])

    assert text().count("See https://example.com/practices") >= len(SCRATCH)
    linked = text(documentation="https://wiki.example.com/policies")
    assert "https://example.com/practices" not in linked
    assert all(f"See https://wiki.example.com/policies#{rule.id.lower()}" in linked for rule in SCRATCH)


def test_the_schema_is_the_same_in_an_interpreter_without_docstrings() -> None:
    module = parameters_schema.__module__
    code = f"import json; from {module} import parameters_schema; print(json.dumps(parameters_schema()))"
    run = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == parameters_schema()
    assert parameters_schema()["description"] == cleandoc(PolicyParameters.__doc__ or "")
