"""A minor more is a row more: whatever knows versions takes a pretended one."""

import re
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import date, timedelta
from typing import Any

import pytest

from components.addons.images import autoscaler_image
from components.contract import kubernetes_minors as minors
from components.contract.aks.config import AksConfig
from components.contract.eks.config import EksConfig
from components.contract.kubernetes_minors import MINORS, READ_ON, KubernetesMinor, Support, calendar, offered
from emulators.aws.server.eks import versions as eks
from emulators.aws.server.eks.store import Cluster
from emulators.aws.server.errors import AwsError
from emulators.azure.server.aks import versions as aks
from emulators.core.refusal import Refusal
from infra.config.model import StackConfig
from infra.config.parse import ConfigurationError
from policies.examples import load
from support import aks as aks_stack
from support import eks as eks_stack
from support.minors import NEWEST, after, number
from support.policies import Wire


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        (after(NEWEST), f"must not be newer than version, {NEWEST}: nodes follow the control plane"),
        (NEWEST, ""),
        (after(NEWEST, -3), ""),
        (after(NEWEST, -4), f"must be at most 3 minor versions behind version, {NEWEST}"),
    ],
)
def test_nodes_may_be_three_minors_behind_the_control_plane(nodes: str, problem: str) -> None:
    refused = pytest.raises(ValueError, match=re.escape(problem)) if problem else nullcontext()
    with refused:
        minors.require_fitting_nodes(nodes, NEWEST)


def test_the_older_of_two_minors_is_the_lower_number() -> None:
    assert minors.older_of("1.9", "1.10") == minors.older_of("1.10", "1.9") == "1.9"


PRETENDED = after(NEWEST)
ENDS = date(2028, 1, 31)
CONFIGS = pytest.mark.parametrize("config", [eks_stack.config, aks_stack.config], ids=["eks", "aks"])


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> str:
    support = Support(ENDS, date(2026, 10, 1))
    row = KubernetesMinor(support={"eks": support, "aks": support}, autoscaler=f"v{PRETENDED}.0")
    monkeypatch.setitem(MINORS, PRETENDED, row)  # type: ignore[arg-type] a dict, which nothing else may change
    return PRETENDED


def test_rows_are_in_order_and_without_gaps() -> None:
    assert [*map(number, MINORS)] == [*range(number(min(MINORS, key=number)), number(NEWEST) + 1)]


def test_what_may_be_chosen_had_not_ended_when_the_calendar_was_read_and_has_an_autoscaler() -> None:
    for minor in {*offered("eks"), *offered("aks")}:
        assert (MINORS[minor].autoscaler or "").startswith(f"v{minor}.")
    for cloud in ("eks", "aks"):
        ended = [support.ends for minor, support in calendar(cloud).items() if minor not in offered(cloud)]
        assert all(end and end < READ_ON for end in ended)


def test_support_ends_in_the_order_of_the_minors() -> None:
    for cloud in ("eks", "aks"):
        ends = [support.ends for support in calendar(cloud).values() if support.ends]
        assert ends == sorted(ends)


@CONFIGS
def test_a_stack_file_may_choose_a_minor_once_it_has_a_row(config: Any, pretended: str) -> None:
    assert config({"cluster.version": pretended}).cluster.version == pretended


@CONFIGS
def test_a_minor_without_a_row_is_refused(config: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"cluster\.version: .*given"):
        config({"cluster.version": PRETENDED})


def test_the_schema_lists_what_each_cloud_offers(pretended: str) -> None:
    assert pretended in StackConfig.model_json_schema()["$defs"]["EksConfig"]["properties"]["version"]["enum"]
    for model, cloud in ((EksConfig, "eks"), (AksConfig, "aks")):
        assert model.model_json_schema()["properties"]["version"]["enum"] == [*offered(cloud)]


def test_its_autoscaler_is_the_one_of_the_row(pretended: str) -> None:
    assert autoscaler_image(pretended, {}).endswith(f":v{pretended}.0")


def test_a_minor_that_may_not_be_chosen_has_no_autoscaler() -> None:
    with pytest.raises(KeyError, match=next(iter(MINORS))):
        minors.autoscaler_release(next(iter(MINORS)))


def test_the_emulator_of_eks_has_it_and_takes_the_step_to_it(pretended: str) -> None:
    eks.check_offered(pretended)
    assert eks.status(pretended) == "STANDARD_SUPPORT"
    assert eks.check_upgrade(Cluster({"name": "c", "version": NEWEST}), pretended) == "VersionUpdate"
    assert pretended in [each["clusterVersion"] for each in eks.Versions().describe({})["clusterVersions"]]


def test_the_emulator_of_aks_has_it_and_takes_the_step_to_it(pretended: str) -> None:
    new, old = (aks.version(minor, "kubernetesVersion") for minor in (pretended, NEWEST))
    aks.check_cluster_step(old, new, "c")
    assert new.minor == number(pretended)


def test_the_emulators_refuse_what_has_no_row() -> None:
    with pytest.raises(AwsError):
        eks.check_offered(PRETENDED)
    with pytest.raises(Refusal, match=r"Newest patches: .*\b" + NEWEST):
        aks.version(PRETENDED, "kubernetesVersion")


@pytest.mark.parametrize(("left", "outcome"), [(61, ([], [])), (1, ([], ["HE-05"])), (-1, (["HE-05"], []))])
def test_the_rule_on_versions_goes_by_the_row(
    left: int, outcome: tuple[list[str], list[str]], pretended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policies.settings.today", lambda: ENDS - timedelta(days=left))
    [good] = [example for example in load() if (example.rule, example.name) == ("HE-05", "good")]
    [cluster] = [given for given in good.resources if given.type == "aws:eks/cluster:Cluster"]
    props: Mapping[str, Any] = {**cluster.props, "version": pretended}
    report = Wire(stack=good.stack_config).judge_stack([(cluster.type, cluster.name, dict(props))])
    about_versions = [[rule for rule in found if rule == "HE-05"] for found in (report.violated, report.advised)]
    assert tuple(about_versions) == outcome
