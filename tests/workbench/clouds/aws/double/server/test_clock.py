import pytest

from workbench.clouds.aws.double.server.clock import SECONDS, Clock


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("workbench.clouds.aws.double.server.clock.time.monotonic", lambda: now[0])
    return now


def test_without_a_scale_work_is_done_at_once() -> None:
    done: list[str] = []
    Clock().later("eks:CreateCluster", lambda: done.append("cluster"))
    assert done == ["cluster"]


def test_work_is_done_when_its_time_has_come_and_only_once(time: list[float]) -> None:
    done: list[str] = []
    clock = Clock(scale=0.01)
    clock.later("eks:CreateCluster", lambda: done.append("cluster"))
    time[0] += SECONDS["eks:CreateCluster"] * 0.01 - 0.1
    clock.settle()
    assert done == []
    time[0] += 0.2
    clock.settle()
    clock.settle()
    assert done == ["cluster"]


def test_what_is_due_first_is_done_first(time: list[float]) -> None:
    done: list[str] = []
    clock = Clock(scale=1)
    clock.later("eks:CreateCluster", lambda: done.append("cluster"))
    clock.later("eks:CreateAddon", lambda: done.append("add-on"))
    clock.later("eks:CreateAddon", lambda: done.append("second add-on"))
    time[0] += 1000
    clock.settle()
    assert done == ["add-on", "second add-on", "cluster"]


def test_what_is_not_listed_takes_no_time() -> None:
    assert Clock(scale=1).takes("ec2:CreateVpc") == 0
