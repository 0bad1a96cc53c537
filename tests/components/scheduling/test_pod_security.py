import pytest

from components.contract.namespaces import UserNamespace
from components.contract.policy_choices import AdmissionMode
from components.scheduling.pod_security import PodSecurity, PodSecurityArgs
from support.recorder import record

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
LEVEL = "pod-security.kubernetes.io"


@pytest.mark.parametrize(
    ("core_services", "mode", "enforced"),
    [(False, "deny", "baseline"), (True, "deny", "privileged"), (False, "warn", "privileged")],
)
def test_pod_security_refuses_only_where_no_pod_needs_an_exception(
    core_services: bool, mode: str, enforced: str
) -> None:
    marks = UserNamespace.model_validate({"coreServices": core_services}).marks(AdmissionMode(mode))
    assert marks[f"{LEVEL}/enforce"] == enforced
    warns = {key: marks.get(f"{LEVEL}/{key}") for key in ("warn", "audit")}
    assert set(warns.values()) == ({None} if enforced == "baseline" else {"baseline"})


@pytest.mark.parametrize(
    ("mode", "actions", "failure"), [("deny", ["Deny"], "Fail"), ("warn", ["Warn", "Audit"], "Ignore")]
)
def test_our_baseline_holds_where_pod_security_enforces_nothing(mode: str, actions: list[str], failure: str) -> None:
    recorder = record(lambda: PodSecurity("x", PodSecurityArgs(admission=AdmissionMode(mode))) and None)
    policies, bindings = recorder.of_type(POLICY), recorder.of_type(f"{POLICY}Binding")
    selectors = [each["spec"]["matchConstraints"]["namespaceSelector"]["matchLabels"] for each in policies.values()]
    marks = UserNamespace.model_validate({"coreServices": True}).marks(AdmissionMode(mode))
    assert all(selector.items() <= marks.items() for selector in selectors)
    assert bindings["igz-pod-security"]["spec"]["validationActions"] == actions
    assert policies["igz-pod-security"]["spec"]["failurePolicy"] == failure
    assert bindings["igz-pod-security-foretold"]["spec"]["validationActions"] == ["Warn", "Audit"]
