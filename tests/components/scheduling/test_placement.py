from components.contract.environments import Environment
from components.contract.placement import Placement, PlacementEngine
from components.contract.policy_choices import PolicyChoices
from components.scheduling.admission import AdmissionGuard, AdmissionGuardArgs
from components.scheduling.admission_rules import AdmissionRules, AdmissionRulesArgs
from components.scheduling.placement import PodPlacement, PodPlacementArgs
from support.admission import local_groups
from support.recorder import Recorder, record

KINDS = "kubernetes:admissionregistration.k8s.io/v1"


def given(engine: PlacementEngine) -> Recorder:
    return record(lambda: PodPlacement("placement", PodPlacementArgs(placement=Placement(engine=engine))) and None)


def rules(engine: PlacementEngine, **choices: str) -> dict[str, dict[str, object]]:
    arguments = AdmissionRulesArgs(
        environment=Environment.DEV,
        groups=local_groups(),
        choices=PolicyChoices.model_validate(choices),
        placement=Placement(engine=engine, core_namespaces=("mlrun",)),
    )
    recorder = record(lambda: AdmissionRules("rules", arguments) and None)
    return {name: policy["spec"] for name, policy in recorder.of_type(f"{KINDS}:ValidatingAdmissionPolicy").items()}


def test_the_mutation_has_stable_names_and_is_bound_after_its_policy() -> None:
    recorder = given(PlacementEngine.MUTATION)
    policy = (f"{KINDS}:MutatingAdmissionPolicy", "igz-placement-mutation")
    binding = (f"{KINDS}:MutatingAdmissionPolicyBinding", "igz-placement-mutation")
    made = {(each.type, each.inputs["metadata"]["name"]) for each in recorder.resources if each.type.startswith(KINDS)}
    notice = {(f"{KINDS}:ValidatingAdmissionPolicy{each}", "igz-placement-notice") for each in ("", "Binding")}
    assert made == {policy, binding, *notice}
    assert policy in recorder.needs(binding)


def test_an_api_server_that_cannot_mutate_gets_no_such_object() -> None:
    recorder = given(PlacementEngine.AUTHORS)
    assert [each for each in recorder.resources if each.type.startswith("kubernetes:")] == []


def test_the_platform_role_may_not_write_mutations() -> None:
    recorder = record(lambda: AdmissionGuard("guard", AdmissionGuardArgs(groups=local_groups())) and None)
    roles = recorder.of_type("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole").values()
    verbs = {
        verb
        for role in roles
        for rule in role["rules"]
        if any(each.startswith("mutating") for each in rule["resources"])
        for verb in rule["verbs"]
    }
    assert verbs == {"get", "list", "watch"}


def test_authors_are_judged_only_where_the_api_server_cannot_mutate() -> None:
    assert "igz-placement-mandatory" not in rules(PlacementEngine.MUTATION)
    judged = rules(PlacementEngine.AUTHORS)
    assert "PL-01" in str(judged["igz-placement-mandatory"])
    assert "HK-02" not in str(judged["igz-placement-mandatory"])
    assert "PL-01" not in str(judged["igz-pods-mandatory"])


def test_no_message_asks_for_rights_which_its_expression_cannot() -> None:
    for name, spec in rules(PlacementEngine.AUTHORS).items():
        assert "authorizer" not in str([spec["variables"], spec["validations"]]), name


def test_with_admission_warn_no_controller_is_refused_either() -> None:
    arguments = {"admission": "warn"}
    assert rules(PlacementEngine.AUTHORS, **arguments)["igz-placement-mandatory"]["failurePolicy"] == "Ignore"
