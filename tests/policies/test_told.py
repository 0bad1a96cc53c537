"""What MLRun and Nuclio are told, read from the objects that tell them."""

from datetime import timedelta
from typing import Any

import pytest

from components.contract.environments import Environment
from components.contract.groups import resolve_groups
from components.contract.mlrun import MlrunVariable, account_environment, override_environment, threshold_variable
from components.contract.mlrun_choices import STATE_THRESHOLDS, MlrunChoices
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.pools import NodePool
from components.contract.taints import OWN_SPOT_TAINT
from policies.resource import Resource
from policies.values import UNKNOWN, NotJudgeableError, Value
from policies.views.mlrun import MlrunSettingsFacts, mlrun_settings
from policies.views.nuclio import NuclioSettingsFacts, nuclio_settings
from policies.views.thresholds import parse_duration, thresholds

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
OVERRIDE = {"name": "mlrun-override-env", "namespace": "mlrun"}
SPOT = {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 9}, "instanceTypes": ["m6i.2xlarge"]}


def mlrun(kind: str, props: Any) -> list[MlrunSettingsFacts]:
    return list(mlrun_settings(Resource(kind, "thing", "urn", Value(props))))


def api(container: dict[str, Any], name: str = "mlrun-api-chief") -> list[MlrunSettingsFacts]:
    spec = {"template": {"spec": {"containers": [{"name": "mlrun-api", **container}]}}}
    return mlrun("kubernetes:apps/v1:Deployment", {"metadata": {"name": name}, "spec": spec})


def nuclio(name: Any, data: Any) -> list[NuclioSettingsFacts]:
    return list(
        nuclio_settings(Resource(CONFIG_MAP, "thing", "urn", Value({"metadata": {"name": name}, "data": data})))
    )


def test_the_settings_that_we_make_are_read_as_they_were_made() -> None:
    groups = resolve_groups({"spot": NodePool.model_validate(SPOT)}, OWN_SPOT_TAINT)
    chosen = MlrunChoices.model_validate(
        {
            "autoMount": {"type": "pvc", "parameters": {"pvc_name": "shared"}},
            "registry": {"url": "registry.example.com/ml", "secret": "registry-credentials"},
        }
    )
    made = {
        **override_environment(groups, OWN_SPOT_TAINT, DEFAULT_POD_RESOURCES[Environment.PROD], chosen),
        **account_environment("igz-jobs"),
    }
    [settings] = mlrun(CONFIG_MAP, {"metadata": OVERRIDE, "data": made})
    assert {variable: settings.get(variable) for variable in settings.variables()} == made
    assert set(MlrunVariable) <= set(settings.variables())
    assert {t.variable: t.text for t in thresholds(settings)} == {
        threshold_variable(state): threshold for state, threshold in STATE_THRESHOLDS.items()
    }


def test_an_api_with_an_environment_of_its_own_tells_its_variables() -> None:
    [settings] = api({"env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"secretKeyRef": {}}}]})
    assert (settings.variables(), settings.get("A"), settings.get("C")) == (("A", "B"), "1", None)
    with pytest.raises(NotJudgeableError, match="another object"):
        settings.get("B")


@pytest.mark.parametrize(
    "found",
    [
        api({"envFrom": [{"configMapRef": {"name": "mlrun-override-env"}}]}),
        api({}, name="mlrun-ui"),
        mlrun(CONFIG_MAP, {"metadata": {"name": "other"}, "data": {}}),
        mlrun(CONFIG_MAP, {"metadata": UNKNOWN, "data": {}}),
        nuclio("settings", {"platform.yaml": "kube: {}"}),
        nuclio(UNKNOWN, {"platform.yaml": "kube: {}"}),
        nuclio("platform-config", {"other.yaml": "kube: {}"}),
    ],
)
def test_anything_else_tells_nothing(found: list[Any]) -> None:
    assert found == []


@pytest.mark.parametrize("name", ["platform-config", "nuclio-platform-config"])
def test_nuclios_settings_are_found_under_both_names(name: str) -> None:
    text = "kube: {preemptibleNodes: {nodeSelector: {a: b}, tolerations: [{key: c}]}}"
    [settings] = nuclio(name, {"platform.yaml": text})
    assert (settings.spot_selector, settings.spot_tolerations) == ({"a": "b"}, [{"key": "c"}])


@pytest.mark.parametrize(
    ("text", "expected"), [("kube: {}", None), ("kube: {preemptibleNodes: {tolerations: []}}", [])]
)
def test_no_tolerations_are_not_an_empty_list(text: str, expected: Any) -> None:
    [settings] = nuclio("platform-config", {"platform.yaml": text})
    assert settings.spot_tolerations == expected


@pytest.mark.parametrize("text", ["- [", UNKNOWN])
def test_a_file_that_cannot_be_read_is_not_judgeable(text: Any) -> None:
    with pytest.raises(NotJudgeableError, match=r"platform\.yaml"):
        nuclio("platform-config", {"platform.yaml": text})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1h", timedelta(hours=1)),
        ("30 minutes 5h 1day", timedelta(days=1, hours=5, minutes=30)),
        ("1 minute and 30s", timedelta(seconds=90)),
        ("1.5 hours, 2 mins", timedelta(minutes=92)),
        ("1000s", timedelta(seconds=1000)),
        ("2W", timedelta(weeks=2)),
    ],
)
def test_a_duration_is_the_sum_of_its_pairs(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "3", "h", "1 moon", "1h until noon", "-1h", "1hello"])
def test_anything_beside_pairs_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="must be a duration"):
        parse_duration(text)


@pytest.mark.parametrize(("given", "text"), [("1h", "1h"), ('"-1"', "-1"), ("-1", None), ("3600", None), ("", "")])
def test_mlrun_takes_a_bare_number_for_a_number(given: str, text: str | None) -> None:
    [settings] = mlrun(CONFIG_MAP, {"metadata": OVERRIDE, "data": {threshold_variable("executing"): given}})
    assert [threshold.text for threshold in thresholds(settings)] == [text]
