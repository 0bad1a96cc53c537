from typing import Any

import pytest

from components.contract.admission import GUARDED_CONTROLLERS, Check
from components.contract.placement import (
    _OWNERS,
    Placement,
    PlacementEngine,
    excused,
    offers_mutation,
    placement_variables,
)


@pytest.mark.parametrize(
    ("section", "offers"),
    [
        ({"kind": "local"}, True),
        ({"kind": "eks", "version": "1.35"}, False),
        ({"kind": "eks", "version": "1.36"}, True),
        ({"kind": "aks", "version": "1.40"}, True),
        ({"kind": "aks", "version": "2.0"}, None),
        ({"kind": "existing"}, None),
        ({"kind": "existing", "mutatingAdmission": None}, None),
        ({"kind": "existing", "mutatingAdmission": True}, True),
        ({"kind": "existing", "mutatingAdmission": False}, False),
        ({}, None),
    ],
)
def test_the_version_says_whether_the_api_server_can_add_places(section: dict[str, Any], offers: bool | None) -> None:
    assert offers_mutation(section) is offers


def test_every_guarded_kind_can_own_pods() -> None:
    plurals = {plural for kinds in GUARDED_CONTROLLERS.values() for plural in kinds}
    assert {f"{kind.lower()}s" for kind in _OWNERS} == plurals


def test_given_pods_choose_a_lifecycle_only_where_spot_nodes_carry_no_taint() -> None:
    given = placement_variables(Placement())["given"]
    untainted = placement_variables(Placement(has_untainted_spot=True))["given"]
    assert ("non-preemptible" in given, "non-preemptible" in untainted) == (False, True)


def test_pods_without_a_place_get_the_role_for_plain_jobs_unless_they_have_other_needs() -> None:
    given = placement_variables(Placement(job_role="workload", gpu_resources=("nvidia.com/gpu",)))["given"]
    assert "? optional.none() : optional.of('workload')" in given
    assert all(need in given for need in ("resourceClaims", "'nvidia.com/gpu'", "'nvidia.com/mig-'"))
    assert "workload" not in placement_variables(Placement())["given"].replace("user-workloads", "")


def test_without_core_namespaces_nobody_gets_the_mark() -> None:
    assert "request.namespace in []" in placement_variables(Placement())["becomesCore"]


def test_only_authors_that_are_judged_excuse_a_pod_without_user_pools_from_choosing_a_lifecycle() -> None:
    check = Check("false", "choose")
    assert excused([check], Placement()) == ({}, (check,))
    needed, (other,) = excused([check], Placement(engine=PlacementEngine.AUTHORS, core_namespaces=("mlrun",)))
    assert other.expression == "variables.settled && (variables.initial || !variables.chosen) || (false)"
    assert {"template", "chosen", "initial", "settled"} <= set(needed)
