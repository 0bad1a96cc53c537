import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.report.foreign_managed_fields import CONTROLLERS, added_by_others

DECLARED: dict[str, Any] = {
    "metadata": {"name": "deny", "labels": {"app": "a"}},
    "spec": {
        "podSelector": {},
        "egress": [{"ports": [{"port": 53}]}],
        "policyTypes": ["Egress"],
        "containers": [{"name": "main", "image": "i:1"}],
    },
}
FILLED_IN = {
    **DECLARED,
    "spec": {**DECLARED["spec"], "egress": [{"ports": [{"port": 53, "protocol": "TCP"}]}]},
}


def live(fields: dict[str, Any], manager: str = "kubectl-edit", subresource: str = "", **spec: Any) -> dict[str, Any]:
    """An object as the API server gives it, with ``spec`` changed and ``fields`` written by ``manager``."""
    entry = {"manager": manager, "operation": "Update", "fieldsV1": fields}
    ours = {"manager": "igz-clusters", "operation": "Apply", "fieldsV1": {"f:spec": {"f:podSelector": {}}}}
    managed = [ours, entry | ({"subresource": subresource} if subresource else {})]
    return {
        "metadata": {**DECLARED["metadata"], "managedFields": managed},
        "spec": {**FILLED_IN["spec"], **spec},
        "__fieldManager": "igz-clusters",
    }


def added(found: dict[str, Any]) -> list[str]:
    return added_by_others(DECLARED, FILLED_IN, found)


def test_a_field_that_nobody_declares_is_found_by_its_writer() -> None:
    assert added(live({"f:spec": {"f:ingress": {}}}, ingress=[{}])) == ["spec.ingress"]


def test_a_default_that_nobody_wrote_is_none() -> None:
    assert added(live({}, ingress=[{}])) == []


@pytest.mark.parametrize("manager", sorted(CONTROLLERS))
def test_what_kubernetes_writes_by_its_office_is_none(manager: str) -> None:
    assert added(live({"f:spec": {"f:ingress": {}}}, manager, ingress=[{}])) == []


def test_neither_a_status_nor_what_we_wrote_is_one() -> None:
    assert added(live({"f:spec": {"f:ingress": {}}}, subresource="status", ingress=[{}])) == []
    assert added(live({"f:spec": {"f:ingress": {}}}, "igz-clusters", ingress=[{}])) == []


def test_further_elements_of_a_declared_list_are_found_and_defaults_in_the_first_are_not() -> None:
    widened = [*FILLED_IN["spec"]["egress"], {"to": []}]
    assert added(live({"f:spec": {"f:egress": {}}}, egress=widened)) == ["spec.egress[1]"]


def test_a_key_in_an_element_of_a_list_is_found() -> None:
    widened = [{"ports": [{"port": 53, "protocol": "TCP", "endPort": 65535}]}]
    assert added(live({"f:spec": {"f:egress": {}}}, egress=widened)) == ["spec.egress[0].ports[0].endPort"]


def test_a_value_that_was_put_back_is_no_addition_though_its_writer_owns_it_since() -> None:
    assert added(live({"f:spec": {"f:egress": {}, "f:policyTypes": {}}})) == []


def test_a_container_is_added_as_a_whole_and_wherever_it_stands_ours_is_still_ours() -> None:
    spy, ours = {"name": "spy", "image": "x", "args": ["-v"]}, DECLARED["spec"]["containers"][0]
    fields = {
        "f:containers": {
            'k:{"name":"spy"}': {".": {}, "f:name": {}, "f:image": {}, "f:args": {}},
            'k:{"name":"main"}': {"f:image": {}},
        }
    }
    assert added(live({"f:spec": fields}, containers=[spy, ours])) == ["spec.containers[0]"]


def test_an_element_is_recognised_by_keys_that_have_defaults() -> None:
    fields = {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}}}
    declared = {"spec": {"ports": [{"port": 80}]}}
    found = live({"f:spec": fields}, ports=[{"port": 80, "protocol": "TCP"}])
    assert added_by_others(declared, {}, found) == []


def test_keys_with_dots_are_spelled_as_the_engine_does_it() -> None:
    found = live({"f:metadata": {"f:labels": {"f:example.com/team": {}}}})
    found["metadata"]["labels"] = {"app": "a", "example.com/team": "x"}
    assert added(found) == ['metadata.labels["example.com/team"]']


def test_notes_of_kubectl_about_its_own_working_are_none() -> None:
    found = live({"f:metadata": {"f:annotations": {".": {}, "f:kubectl.kubernetes.io/restartedAt": {}, "f:who": {}}}})
    found["metadata"]["annotations"] = {"kubectl.kubernetes.io/restartedAt": "now", "who": "me"}
    assert added(found) == ["metadata.annotations.who"]


def test_an_object_that_waits_for_its_end_is_found() -> None:
    found = live({})
    found["metadata"]["deletionTimestamp"] = "2026-11-21T00:00:00Z"
    assert added(found) == ["metadata.deletionTimestamp"]


KEYS = st.sampled_from(["f:spec", "f:egress", 'k:{"name":"main"}', "k:[", "v:1", 'v:"a"', ".", "", "f:", "i:0"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(ANYTHING, ANYTHING, ANYTHING)
def test_whatever_a_stream_holds_it_is_read_without_an_error(fields: Any, manager: Any, spec: Any) -> None:
    found = {"metadata": {"managedFields": [{"manager": manager, "fieldsV1": fields}, fields]}, "spec": spec}
    assert json.dumps(added_by_others(DECLARED, {"spec": spec}, found))
    assert added_by_others({}, {}, {"metadata": manager, "spec": spec}) in ([], ["metadata.deletionTimestamp"])
