from typing import Any

import pytest

from workbench.engine.pending import UnresolvableError, operations, resolved

PREFIX = "urn:pulumi:local::igz-clusters::"


def resource(token: str, name: str, namespace: str | None = None, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"urn": f"{PREFIX}{token}::{name}", "type": token, "custom": True, "inputs": {"metadata": metadata}, **more}


def deployment(*pending: dict[str, Any], resources: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"manifest": {"version": "1"}, "resources": list(resources), "pending_operations": list(pending)}


NAMESPACE = resource("kubernetes:core/v1:Namespace", "mlrun")
QUOTA = resource("kubernetes:core/v1:ResourceQuota", "quota", "mlrun")


def test_operations_are_told_in_words() -> None:
    given = deployment({"type": "creating", "resource": NAMESPACE}, {"type": "deleting", "resource": QUOTA})
    assert operations(given) == ["creating Namespace mlrun", "deleting ResourceQuota quota"]
    assert operations({}) == []


def test_what_was_being_made_enters_the_state_under_the_id_that_it_must_have() -> None:
    given = deployment({"type": "creating", "resource": NAMESPACE}, {"type": "creating", "resource": QUOTA})
    result = resolved(given)
    assert [(each["urn"], each["id"]) for each in result["resources"]] == [
        (NAMESPACE["urn"], "mlrun"),
        (QUOTA["urn"], "mlrun/quota"),
    ]
    assert "pending_operations" not in result
    assert result["manifest"] == given["manifest"]


@pytest.mark.parametrize("operation", ["creating", "updating", "deleting", "reading"])
def test_what_is_in_the_state_stays_there_once(operation: str) -> None:
    known = {**NAMESPACE, "id": "mlrun"}
    result = resolved(deployment({"type": operation, "resource": NAMESPACE}, resources=(known,)))
    assert result["resources"] == [known]


@pytest.mark.parametrize(
    "inside",
    [
        {"urn": "x", "type": "igz-clusters:scheduling:UserNamespace", "custom": False, "inputs": {}},
        {"urn": "x", "type": "pulumi:providers:kubernetes", "custom": True, "inputs": {}},
    ],
)
def test_what_lives_in_the_state_only_is_made_again_by_the_next_update(inside: dict[str, Any]) -> None:
    assert resolved(deployment({"type": "creating", "resource": inside}))["resources"] == []


def test_a_resource_whose_id_cannot_be_told_is_not_guessed() -> None:
    cloud = {"urn": "urn:bucket", "type": "aws:s3/bucket:Bucket", "custom": True, "inputs": {}}
    with pytest.raises(UnresolvableError, match="urn:bucket"):
        resolved(deployment({"type": "creating", "resource": cloud}))


def test_the_given_deployment_is_not_changed() -> None:
    given = deployment({"type": "creating", "resource": NAMESPACE})
    resolved(given)
    assert given == deployment({"type": "creating", "resource": NAMESPACE})
