from io import StringIO

from rich.console import Console

from workbench.toolchain.console import progress
from workbench.toolchain.events import Completed, Event, Finished, Running, Started, Waiting

EVENTS: list[Event] = [
    Waiting(4711),
    Started("etcd", 1, 2, 10),
    Running("etcd", 1.0),
    Finished("etcd", 9.6, 26_400_000),
    Started("kube-apiserver", 2, 2, 157),
    *(Running("kube-apiserver", float(second)) for second in range(1, 65)),
    Finished("kube-apiserver", 65.2, 102_400_000),
    Completed({"etcd": 26_400_000, "kube-apiserver": 102_400_000}, 11_000_000_000),
]


def shown(*, terminal: bool) -> str:
    file = StringIO()
    console = Console(file=file, force_terminal=terminal, width=100)
    with progress(console) as report:
        for event in EVENTS:
            report(event)
    return file.getvalue()


def test_without_a_terminal_each_program_has_a_line_at_start_and_end_and_every_thirty_seconds() -> None:
    assert shown(terminal=False).splitlines() == [
        "Another build is running (pid 4711), waiting.",
        "Building etcd (1 of 2), about 10 s",
        "etcd: built in 10 s, 26.4 MB",
        "Building kube-apiserver (2 of 2), about 157 s",
        "Building kube-apiserver (2 of 2): 30 s of about 157 s",
        "Building kube-apiserver (2 of 2): 60 s of about 157 s",
        "kube-apiserver: built in 65 s, 102.4 MB",
        "  etcd              26.4 MB",
        "  kube-apiserver   102.4 MB",
        "  total            128.8 MB",
        "Deleted the Go build cache, 11.0 GB freed.",
    ]


def test_on_a_terminal_one_line_lives_and_finished_programs_stay() -> None:
    text = shown(terminal=True)
    assert "Building kube-apiserver (2 of 2): 64 s of about 157 s" in text
    assert "kube-apiserver: built in 65 s, 102.4 MB" in text
    assert "Building etcd (1 of 2), about" not in text


def test_nothing_is_shown_when_nothing_is_built() -> None:
    file = StringIO()
    with progress(Console(file=file, force_terminal=True)):
        pass
    assert file.getvalue() == ""
