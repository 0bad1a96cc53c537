"""Whatever a base says, the answer is settings or a list of problems."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.stack_files import inheritance
from components.stack_files.yaml_source import Position, Source
from infra.config import ConfigurationError
from infra.config.inheritance import inherited, resolve

KEYS = st.sampled_from(
    ["schemaVersion", "layers", "settings", "kinds", "environments", "cluster", "pools", "\x1b", "a"]
)
values = st.recursive(
    st.none() | st.booleans() | st.sampled_from([1, -1, 10**400, float("nan"), "eks", "prod", "\ud800", "x" * 10_000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
layers = st.lists(st.fixed_dictionaries({"settings": values}, optional={"kinds": values, "environments": values}))


@given(document=values | st.fixed_dictionaries({"schemaVersion": st.just(1), "layers": values | layers}))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_base_is_settings_or_problems_in_one_line_each(document: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inheritance, "_read", lambda _: Source(document, {(): Position(1, 1)}, ()))
    try:
        found = inherited({"base": "acme", "environment": "dev", "cluster": {"kind": "local"}}, Path("/nowhere"))
    except ConfigurationError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.place == "Base.acme.yaml:1: "
            assert str(problem).isprintable()
    else:
        assert found.settings["environment"] == "dev"


def test_settings_with_a_base_have_the_order_of_keys_in_which_the_engine_hands_on_those_without(
    tmp_path: Path,
) -> None:
    pool = "{ role: %s, size: { min: 2, max: 2 }, instanceTypes: [m6i.xlarge] }"
    base = f"schemaVersion: 1\nlayers: [{{ settings: {{ pools: {{ b: {pool % 'initial'} }} }} }}]\n"
    (tmp_path / "Base.acme.yaml").write_text(base)
    pools = {"c": {"role": "workload", "size": {"min": 0, "max": 1}, "instanceTypes": ["m6i.xlarge"]}}
    pools["a"] = pools["c"]
    own = {"base": "acme", "cluster": {"kind": "local"}, "environment": "dev", "pools": pools, "schemaVersion": 1}
    assert list(resolve(own, tmp_path).pools) == ["a", "b", "c"]
