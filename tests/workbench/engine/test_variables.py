import pytest

from workbench.engine.variables import callers
from workbench.system.errors import UserError


@pytest.mark.parametrize(
    "name",
    [
        *("PULUMI_OPTION_TARGET", "PULUMI_OPTION_REFRESH", "PULUMI_OPTION_POLICY_PACK"),
        *("PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY", "PULUMI_K8S_AWAIT_ALL"),
        *("PYTHONWARNINGS", "PYTHONHOME", "PYTHONOPTIMIZE"),
    ],
)
def test_a_variable_that_changes_or_breaks_a_run_does_not_reach_the_engine(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "error")
    assert name not in callers()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_PROFILE", "dev"),
        ("PULUMI_ACCESS_TOKEN", "token"),
        ("PULUMI_OPTION_PARALLEL", "4"),
        ("PULUMI_K8S_DELETE_UNREACHABLE", "true"),
        ("PULUMI_K8S_CLIENT_QPS", "12.5"),
        ("PULUMI_K8S_CLIENT_BURST", "200"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ],
)
def test_any_other_variable_does(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert callers()[name] == value


@pytest.mark.parametrize("name", ["PULUMI_K8S_CLIENT_BURST", "PULUMI_K8S_CLIENT_QPS", "PULUMI_K8S_CLIENT_TIMEOUT"])
def test_a_number_that_the_plug_in_cannot_read_is_refused_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "x")
    with pytest.raises(UserError) as caught:
        callers()
    assert caught.value.message == f"{name} must be a number, but is 'x'."
