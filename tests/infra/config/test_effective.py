from infra.config import parse
from infra.config.effective import effective

SMALL = {
    "schemaVersion": 1,
    "environment": "prod",
    "cluster": {"kind": "local"},
    "pools": {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}},
}


def test_what_was_given_has_no_reason_and_what_was_not_has_one() -> None:
    rows = {row.path: row for row in effective(parse({**SMALL, "profile": "mlrun-ce"}))}
    assert rows[("profile",)].why_default is None
    assert rows[("environment",)].why_default is None
    assert rows[("pools", "initial", "size", "min")].value == 2
    assert rows[("pools", "initial", "lifecycle")].value == "on-demand"
    assert rows[("pools", "initial", "lifecycle")].why_default
    assert rows[("defaultPodResources",)].why_default
    assert rows[("defaultPodResources", "limits", "cpu")].value == "1"


def test_every_mapping_comes_before_its_keys() -> None:
    seen = set()
    for row in effective(parse(SMALL)):
        assert row.path[:-1] == () or row.path[:-1] in seen
        seen.add(row.path)
