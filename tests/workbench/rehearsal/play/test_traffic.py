from support.rehearsal_api import Stage
from workbench.rehearsal.play.traffic import Traffic

UNIT = "igz-clusters.io/rehearsal-unit"


def traffic(stage: Stage) -> Traffic:
    made = Traffic(stage.cluster, stage.chronicle)
    made.serve(["model-0", "other-0"])
    return made


def used(made: Traffic, namespace: str = "mlrun", unit: str = "model-0") -> dict[str, int]:
    return {each.name: each.cpu_millis for each in made.usages(namespace, {UNIT: unit})}


def limited(cpu: str) -> dict[str, object]:
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": cpu}}}]}


def test_traffic_is_divided_evenly_among_the_running_pods_of_a_unit() -> None:
    stage = Stage()
    stage.node("work-0")
    made = traffic(stage)
    for name in ("a", "b", "c"):
        stage.pod(name, node="work-0", unit="model-0", **limited("2"))
    stage.pod("waits", unit="model-0", **limited("2"))
    assert used(made) == {"a": 0, "b": 0, "c": 0}
    made.change("model-0", "3500m")
    assert used(made) == {"a": 1167, "b": 1167, "c": 1167}
    stage.remove("b")
    assert used(made) == {"a": 1750, "c": 1750}


def test_no_pod_uses_more_than_its_limit_and_one_without_a_limit_uses_its_share() -> None:
    stage = Stage()
    stage.node("work-0")
    made = traffic(stage)
    stage.pod("limited", node="work-0", unit="model-0", **limited("500m"))
    stage.pod("free", node="work-0", unit="model-0")
    made.change("model-0", "4")
    assert used(made) == {"limited": 500, "free": 2000}


def test_only_the_pods_that_are_asked_for_are_told() -> None:
    stage = Stage()
    stage.node("work-0")
    made = traffic(stage)
    stage.pod("a", node="work-0", unit="model-0")
    stage.pod("b", node="work-0", unit="other-0")
    stage.pod("c", node="work-0", unit="unscaled-0")
    assert set(used(made)) == {"a"}
    assert set(used(made, namespace="")) == {"a"}
    assert not used(made, namespace="elsewhere")
    assert {each.name for each in made.usages("", {})} == {"a", "b"}
