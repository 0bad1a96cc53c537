import pytest

from components.contract.labels import (
    RESERVED_PREFIXES,
    LabelKey,
    label_key_problem,
    label_value_problem,
)


@pytest.mark.parametrize("key", ["team", "example.com/team", "a", "A-b_c.d", "x" * 63, "a.b.c/d"])
def test_a_legal_key_has_no_problem(key: str) -> None:
    assert label_key_problem(key) is None


@pytest.mark.parametrize(
    "key", ["", "-a", "a-", "x" * 64, "example.com/", "a b", "/a", "UPPER.com/a", "a//b", "a..b/c"]
)
def test_a_key_outside_the_grammar_is_refused(key: str) -> None:
    assert label_key_problem(key) is not None


@pytest.mark.parametrize("prefix", [*RESERVED_PREFIXES, "node.kubernetes.io", "karpenter.k8s.io"])
def test_a_reserved_domain_and_its_subdomains_are_refused_by_name(prefix: str) -> None:
    problem = label_key_problem(f"{prefix}/x")
    assert problem is not None
    assert problem.startswith("the prefix '")


def test_a_domain_that_only_ends_like_a_reserved_one_is_free() -> None:
    assert label_key_problem("mykubernetes.io/x") is None


def test_every_own_label_is_reserved_so_that_no_stack_file_can_set_it() -> None:
    assert [key for key in LabelKey if label_key_problem(key) is None] == []


@pytest.mark.parametrize(
    ("value", "legal"), [("", True), ("a.b", True), ("x" * 63, True), ("x" * 64, False), ("-", False)]
)
def test_values_follow_the_grammar(value: str, legal: bool) -> None:
    assert (label_value_problem(value) is None) is legal
