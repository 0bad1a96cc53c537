from support.records import group, lost, node, pod, record, refusal, verdicts

GPU, WORK = group("gpu", role="gpu"), group("workload")
NODES = [node("gpu-0", GPU), node("work-0", WORK)]
ON_GPU = {"expect": "lands-on", "work": "train", "place": {"role": "gpu"}}
NOT_ON_GPU = ON_GPU | {"expect": "never-on"}
UNMOVED = {"expect": "core-services-unmoved"}


def test_work_lands_on_a_place_if_every_pod_ran_there() -> None:
    facts = record([pod("a", on="gpu-0", lasts=60), pod("b", on="gpu-0")], groups=[GPU, WORK], nodes=NODES)
    (verdict,) = verdicts(facts, ON_GPU)
    assert verdict.is_met
    assert verdict.expectation == "train lands on role gpu"
    assert verdict.measured == "2 of 2 pods on role gpu"
    assert (verdict.pods, verdict.reason, verdict.hints) == ((), "", ())


def test_a_pod_elsewhere_and_one_without_a_node_miss_the_place() -> None:
    facts = record([pod("a", on="work-0"), pod("b"), pod("c", on="gpu-0")], groups=[GPU, WORK], nodes=NODES)
    (verdict,) = verdicts(facts, ON_GPU)
    assert not verdict.is_met
    assert verdict.pods == ("a", "b")
    assert verdict.measured == "1 of 3 pods on role gpu; 1 on pool workload; 1 without a node"


def test_a_refused_unit_is_missing_from_its_place_and_the_refusal_is_the_reason() -> None:
    facts = record([pod("a", on="gpu-0")], groups=[GPU], nodes=NODES, refusals=[refusal("b", "no, said the server")])
    (verdict,) = verdicts(facts, ON_GPU)
    assert not verdict.is_met
    assert verdict.reason == "no, said the server"
    assert "1 of 2 pods" in verdict.measured


def test_a_refusal_that_the_controller_overcame_does_not_count() -> None:
    late = pod("a-2", on="gpu-0", unit="a", created=60)
    facts = record([late], groups=[GPU], nodes=NODES, refusals=[refusal("a-1", "quota", unit="a", missing=0)])
    assert verdicts(facts, ON_GPU)[0].is_met


def test_replicas_that_are_refused_are_missing_even_if_another_was_replaced_since() -> None:
    pods = [pod(f"a-{index}", on="gpu-0", unit="a", created=index * 60) for index in range(5)]
    facts = record(pods, groups=[GPU], nodes=NODES, refusals=[refusal("a", "exceeded quota", missing=8)])
    lands, survives = verdicts(facts, ON_GPU, {"expect": "survives", "work": "train"})
    assert not lands.is_met
    assert lands.measured == "5 of 13 pods on role gpu; 8 refused or never created"
    assert not survives.is_met
    assert "8 refused or never created" in survives.measured


def test_work_that_never_arrived_lands_nowhere_and_keeps_off_everything() -> None:
    facts = record(groups=[GPU], nodes=NODES)
    lands, never = verdicts(facts, ON_GPU, NOT_ON_GPU)
    assert not lands.is_met
    assert never.is_met


def test_one_pod_in_the_place_is_enough_to_miss_never() -> None:
    facts = record([pod("a", on="gpu-0", lasts=1), pod("b", on="work-0")], groups=[GPU, WORK], nodes=NODES)
    (verdict,) = verdicts(facts, NOT_ON_GPU)
    assert not verdict.is_met
    assert verdict.pods == ("a",)
    assert verdict.measured == "1 of 2 pods with a node ran on role gpu"


def test_a_pod_that_only_the_autoscaler_moved_elsewhere_may_vary() -> None:
    first = lost(pod("a-1", on="gpu-0", unit="a"), 60, "autoscaler")
    second = lost(pod("a-2", on="gpu-0", unit="a", created=60, replaces=first.uid), 90, "autoscaler")
    third = pod("a-3", on="work-0", unit="a", created=90, replaces=second.uid)
    lands, never = verdicts(
        record([first, second, third], groups=[GPU, WORK], nodes=NODES),
        ON_GPU,
        NOT_ON_GPU | {"place": {"role": "workload"}},
    )
    assert (lands.is_met, never.is_met) == (False, False)
    assert "whether the autoscaler moves pods" in lands.may_vary
    assert "whether the autoscaler moves pods" in never.may_vary
    assert verdicts(record([first, pod("b", on="gpu-0")], groups=[GPU], nodes=NODES), ON_GPU)[0].may_vary == ""


def test_at_most_five_pods_are_named() -> None:
    facts = record([pod(f"p{index}", on="work-0") for index in range(9)], groups=[WORK], nodes=NODES)
    assert verdicts(facts, ON_GPU)[0].pods == ("p0", "p1", "p2", "p3", "p4")


def test_core_services_stay_if_what_ran_at_the_start_runs_at_the_end() -> None:
    core = pod("db", "", on="work-0", created=-60, wait=10, kind="core-service")
    later = lost(pod("late", "", on="work-0", created=60, kind="core-service"), 90)
    assert verdicts(record([core, later], nodes=NODES), UNMOVED)[0].is_met


def test_a_core_service_that_lost_its_node_has_moved() -> None:
    core = lost(pod("db", "", on="work-0", created=-60, kind="core-service"), 600, "rolling-upgrade")
    (verdict,) = verdicts(record([core], nodes=NODES), UNMOVED)
    assert not verdict.is_met
    assert verdict.pods == ("db",)
    assert verdict.reason == "rolling-upgrade of node work-0"


def test_a_core_service_that_the_autoscaler_moved_may_vary() -> None:
    core = lost(pod("db", "", on="work-0", created=-60, kind="core-service"), 600, "autoscaler")
    (verdict,) = verdicts(record([core], nodes=NODES), UNMOVED)
    assert not verdict.is_met
    assert "whether the autoscaler moves pods" in verdict.may_vary


def test_core_services_that_never_ran_did_not_stay() -> None:
    (verdict,) = verdicts(record([pod("db", "", created=-60, kind="core-service")]), UNMOVED)
    assert not verdict.is_met
    assert verdict.pods == ("db",)
