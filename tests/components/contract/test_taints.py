import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.aks.spelling import SPELLING as AKS
from components.contract.autoscaler import taint_tag
from components.contract.clusters import spot_taint
from components.contract.eks.spelling import SPELLING, taint_entry
from components.contract.environments import ClusterKind, PlatformProfile
from components.contract.taints import AKS_SPOT_TAINT, OWN_SPOT_TAINT, Taint, TaintEffect, gpu_taint

names = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?", fullmatch=True)
taints = st.builds(Taint, key=names, value=names, effect=st.sampled_from(TaintEffect))


@given(taints)
def test_every_rendering_keeps_key_value_and_effect(taint: Taint) -> None:
    key_value, _, effect = AKS.write_taint(taint).rpartition(":")
    from_aks = Taint(*key_value.split("=", 1), TaintEffect(effect))
    eks = taint_entry(taint)
    from_eks = Taint(eks["key"], eks["value"], TaintEffect[eks["effect"]])
    kubernetes = taint.to_kubernetes()
    from_kubernetes = Taint(kubernetes["key"], kubernetes["value"], TaintEffect(kubernetes["effect"]))
    tag_key, tag_value = taint_tag(taint)
    value, _, tag_effect = tag_value.rpartition(":")
    from_tag = Taint(tag_key.partition("/taint/")[2], value, TaintEffect(tag_effect))
    assert from_aks == from_eks == from_kubernetes == from_tag == taint


@given(taints)
def test_a_toleration_answers_exactly_its_taint(taint: Taint) -> None:
    assert taint.toleration() == {**taint.to_kubernetes(), "operator": "Equal"}


def test_eks_spells_effects_in_its_own_way() -> None:
    assert [SPELLING.effects[effect] for effect in TaintEffect] == ["NO_SCHEDULE", "PREFER_NO_SCHEDULE", "NO_EXECUTE"]


@pytest.mark.parametrize(
    ("kind", "profile", "expected"),
    [
        (ClusterKind.LOCAL, PlatformProfile.MLRUN_CE, OWN_SPOT_TAINT),
        (ClusterKind.EKS, PlatformProfile.MLRUN_CE, OWN_SPOT_TAINT),
        (ClusterKind.EKS, PlatformProfile.IGUAZIO, None),
        (ClusterKind.AKS, PlatformProfile.MLRUN_CE, AKS_SPOT_TAINT),
        (ClusterKind.AKS, PlatformProfile.IGUAZIO, AKS_SPOT_TAINT),
    ],
)
def test_spot_taint_follows_cloud_and_profile(
    kind: ClusterKind, profile: PlatformProfile, expected: Taint | None
) -> None:
    assert spot_taint(kind, profile) == expected


def test_the_gpu_taint_is_the_one_that_extended_resource_toleration_answers() -> None:
    assert str(gpu_taint("amd.com/gpu")) == "amd.com/gpu=present:NoSchedule"
