from threading import Event, Thread, current_thread, main_thread

from workbench.system.background import repeating


def test_calls_go_on_beside_the_block_and_end_with_it() -> None:
    threads: list[Thread] = []
    twice = Event()

    def act() -> None:
        threads.append(current_thread())
        if len(threads) > 1:
            twice.set()

    with repeating(0.001, act):
        assert twice.wait(60)
        assert threads[0].is_alive()
    assert not threads[0].is_alive()
    assert main_thread() not in threads


def test_the_first_call_waits_as_long_as_the_others() -> None:
    calls: list[None] = []
    with repeating(3600, lambda: calls.append(None)):
        pass
    assert not calls
