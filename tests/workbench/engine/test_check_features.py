"""Every feature of a stack file, alone and with all others, as the clouds' models and both policy packs judge it."""

import pytest

from infra.config import ConfigurationError
from support.features import FEATURES, STACKS, apart, compatible, features_of, with_features
from support.sampled import sampled
from support.shipped_renders import lines, planned
from workbench import stacks
from workbench.engine.check import check

EACH = [(stack, name) for stack in STACKS for name in features_of(stack)]
TAKEN = [pair for pair in EACH if pair[0] not in FEATURES[pair[1]].refused]


def judged(stack: str, *names: str) -> tuple[set[str], list[str]]:
    """Return the rules that object, and the inputs that a cloud would refuse."""
    result = check(with_features(stack, names))
    return {cause.finding.rule for cause in result.causes}, [str(each) for each in result.refused]


def expected(stack: str, *names: str) -> tuple[set[str], list[str]]:
    return {rule for name in names for rule in FEATURES[name].finds.get(stack, ())}, []


@pytest.mark.parametrize("stack", sampled(STACKS, ["dev", "aks-dev", "local"]))
def test_all_features_at_once_keep_every_rule_and_every_model(stack: str) -> None:
    assert judged(stack, *compatible(stack)) == expected(stack, *compatible(stack))


@pytest.mark.full
@pytest.mark.parametrize(("stack", "name"), TAKEN)
def test_a_feature_alone_keeps_every_rule_and_every_model(stack: str, name: str) -> None:
    assert lines(planned(with_features(stack, [name]).config)) != lines(planned(stacks.find(stack).config))
    assert judged(stack, name) == expected(stack, name)


@pytest.mark.parametrize(("stack", "name"), [pair for pair in EACH if pair not in TAKEN])
def test_what_a_stack_does_not_take_is_refused_with_its_reason(stack: str, name: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        with_features(stack, [name])
    assert FEATURES[name].refused[stack] in str(refused.value)


@pytest.mark.parametrize(
    ("stack", "first", "second"),
    [(stack, first, name) for stack, name in TAKEN for first in apart(stack, name)],
)
def test_what_does_not_go_together_is_refused(stack: str, first: str, second: str) -> None:
    with pytest.raises(ConfigurationError):
        with_features(stack, [first, second])
