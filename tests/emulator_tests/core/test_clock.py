import pytest

from emulators.core.clock import Clock

SECONDS = {"cloud:Create": 540.0, "cloud:Change": 30.0}


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("emulators.core.clock.time.monotonic", lambda: now[0])
    return now


def test_without_a_scale_work_is_done_at_once() -> None:
    done: list[str] = []
    Clock(seconds=SECONDS).later("cloud:Create", lambda: done.append("cluster"))
    assert done == ["cluster"]


def test_work_is_done_when_its_time_has_come_and_only_once(time: list[float]) -> None:
    done: list[str] = []
    clock = Clock(0.01, SECONDS)
    clock.later("cloud:Create", lambda: done.append("cluster"))
    time[0] += SECONDS["cloud:Create"] * 0.01 - 0.1
    clock.settle()
    assert done == []
    time[0] += 0.2
    clock.settle()
    clock.settle()
    assert done == ["cluster"]


def test_what_is_due_first_is_done_first(time: list[float]) -> None:
    done: list[str] = []
    clock = Clock(1, SECONDS)
    clock.later("cloud:Create", lambda: done.append("cluster"))
    clock.later("cloud:Change", lambda: done.append("pool"))
    clock.later("cloud:Change", lambda: done.append("second pool"))
    time[0] += 1000
    clock.settle()
    assert done == ["pool", "second pool", "cluster"]


def test_what_is_not_listed_takes_no_time() -> None:
    assert Clock(1, SECONDS).takes("cloud:Name") == 0


def test_time_passes_at_once_if_a_test_lets_it(time: list[float]) -> None:
    done: list[str] = []
    clock = Clock(0.01, SECONDS)
    clock.later("cloud:Create", lambda: done.append("cluster"))
    clock.advance(SECONDS["cloud:Create"] - 1)
    clock.settle()
    assert done == []
    clock.advance(1)
    clock.settle()
    assert (done, time) == (["cluster"], [100.0])
