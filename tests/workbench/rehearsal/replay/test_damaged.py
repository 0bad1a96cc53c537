import gzip
import json
import random
from pathlib import Path

import pytest

from support.replays import SECRET, START, audit, event, life, lines, pod, run, write
from workbench.rehearsal.replay import mapping, observed, stream
from workbench.rehearsal.replay.files import FORMATS, read
from workbench.rehearsal.replay.part import Part, between
from workbench.system.errors import UserError

FIXTURES = Path(__file__).parent / "fixtures"
T0 = START.timestamp()
LIFE = life(pod("a"), 0, scheduled=1, completed=60)
CHOOSE = "Choose a part of it with --from and --to."


def dump(*items: object) -> str:
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=1)


def without(entry: dict, *path: str) -> dict:  # type: ignore[type-arg]
    copy = json.loads(json.dumps(entry))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return copy  # type: ignore[no-any-return]


DUMPED = {**pod("a"), "metadata": {**pod("a")["metadata"], "creationTimestamp": "2026-03-02T08:00:00Z"}}
ONLY_SYSTEM = lines(life(pod("coredns", "kube-system"), 0))
METADATA = lines([audit("create", 0, "a"), audit("create", 1, "b")])

NOT_TEXT = "FILE: is not text.\nGive a file of one of the formats in docs/rehearsal.md."
NOT_JSON = "is not JSON; each entry must be a JSON object.\nRemove the line, or export it again."
NO_ZONE = "must be a time with its zone, as RFC 3339 writes it.\nWrite it as 2026-03-02T08:00:00Z."

ROWS = "".join(f"uid-{at},2026-03-02T08:00:00Z,completed,a,job\n" for at in range(5_000))
TABLE = gzip.compress(f"uid,start,state,name,kind\n{ROWS}".encode(), compresslevel=0)
"""Damaged only after the beginning, by which its format is known."""

ODD_POD = {"spec": {"containers": []}, "metadata": {"name": "a", "labels": 7}}

ODD_TYPE = "an entry has a value of another type than its format says.\nExport it again."

BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "FILE: the file is empty."),
    "spaces": (" \n\n", "FILE: the file is empty."),
    "binary": (b"\x7fELF\x02\x01\x00\x00" * 40, NOT_TEXT),
    "utf-16": (
        b"\xff\xfe" + '{"a": 1}'.encode("utf-16-le"),
        "FILE: is text in UTF-16, as PowerShell writes it.\nSave it in UTF-8.",
    ),
    "deep array": ("[" * 200_000, "FILE, line 1: an entry is nested too deeply.\nRemove it, or export it again."),
    "deep entry": ('{"a": 1}\n{"a":' + "[" * 200_000,
                   "FILE, line 2: an entry is nested too deeply.\nRemove it, or export it again."),
    "prose": ("level=info msg=started\n", f"FILE: is neither JSON nor a table of MLRun's runs.\n{FORMATS}"),
    "other table": ("name,price\na,1\n", ("FILE, line 1: the table lacks the columns uid, start, state.\n"
                    "Export runs with mlrun.get_run_db().list_runs().to_df().to_csv().")),
    "other columns": ("uidx,my name\n1,a\n", f"FILE: is neither JSON nor a table of MLRun's runs.\n{FORMATS}"),
    "table without start": ("uid,state,name\n1,completed,a\n", ("FILE, line 1: the table lacks the columns start.\n"
                            "Export runs with mlrun.get_run_db().list_runs().to_df().to_csv().")),
    "bad start in a table": ("uid,start,state,name,kind\n1,yesterday,completed,a,job\n",
                             ("FILE, line 2: a run without a start time.\n"
                             "It must be a time such as 2026-03-02 08:00:00+00:00.")),
    "other objects": (dump({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}}),
                      f"FILE: has JSON, but no audit events, events, pods or runs.\n{FORMATS}"),
    "numbers": ("[[1], [2]]", f"FILE: has no entries that can be read.\n{FORMATS}"),
    "text in a list": ('["a", "b"]', f"FILE, line 1: {NOT_JSON}"),
    "an empty list": (dump(), f"FILE: has no entries that can be read.\n{FORMATS}"),
    "garbage line": (lines(LIFE[:1]) + "oops pods\n" + lines(LIFE[1:]),
                     ("FILE, line 2: is not JSON; each entry must be a JSON object.\n"
                     "Remove the line, or export it again.")),
    "broken line": (lines(LIFE[:1]) + '{"verb":"create","pods":}\n' + lines(LIFE[1:]),
                    ("FILE, line 2: is not JSON; each entry must be a JSON object.\n"
                    "Remove the line, or export it again.")),
    "garbage in a list": ('{"items": [\n' + json.dumps(DUMPED) + ",\noops, " + json.dumps(DUMPED) + "]}",
                          ("FILE, line 3: is not JSON; each entry must be a JSON object.\n"
                          "Remove the line, or export it again.")),
    "broken entry in a list": ('{"items": [\n' + json.dumps(DUMPED) + ',\n{"a": oops}, ' + json.dumps(DUMPED) + "]}",
                               ("FILE, line 3: is not JSON; each entry must be a JSON object.\n"
                               "Remove the line, or export it again.")),
    "pods and others": (dump(DUMPED, {"apiVersion": "v1", "kind": "Node", "metadata": {}}),
                        ("FILE, line 54: an object that is not a pod, in a dump of pods.\n"
                        "Export pods alone: kubectl get pods -A -o json.")),
    "pod without its creation": (dump(pod("a")), ("FILE, line 4: a pod without creationTimestamp or spec.\n"
                                 "Export it whole: kubectl get pods -A -o json.")),
    "event without a time": (lines([without(event("Scheduled", 0, "a"), "firstTimestamp")]),
                             "FILE, line 1: an event without a time.\nExport it whole."),
    "event and others": (lines([event("Scheduled", 0, "a"), pod("b")]),
                         ("FILE, line 2: an object that is not an event, in an export of events.\n"
                         "Export events alone: kubectl get events -A -o json.")),
    "run without a start": (lines([without(run("a", 0, 60), "status", "start_time")]),
                            ("FILE, line 1: a run without a start time.\n"
                            "It must be a time such as 2026-03-02 08:00:00+00:00.")),
    "audit event without a time": (
        lines([without(without(LIFE[0], "requestReceivedTimestamp"), "stageTimestamp")]),
        "FILE, line 1: an audit event without requestReceivedTimestamp.\nGive the events whole."),
    "audit log without pods": (METADATA, ("FILE: the log has 2 creations of pods, all without the pod.\n"
                               "Log pods at level RequestResponse or Request; at level Metadata there are no specs.")),
    "only system pods": (ONLY_SYSTEM, ("FILE: the file has no pods of user work. Pods in namespaces of Kubernetes and "
                         "the cloud (left out: the stack brings its own): 1.\n"
                         "Export it from a time when user work ran.")),
    "values of other types": (lines([{**LIFE[0], "responseObject": ODD_POD}]),
                              f"FILE, line 1: {ODD_TYPE}"),
    "months": (lines([*LIFE, *life(pod("b"), 40 * 86_400)]),
               f"FILE: covers 40 days; a scenario lasts at most 31 days.\n{CHOOSE}"),
    "damaged gzip": (gzip.compress(lines(LIFE).encode())[:30] + b"\xff" * 60,
                     "FILE: the compressed file is damaged.\nExport or copy it again."),
    "damaged gzip of a table": (TABLE[:100_000] + b"\xff" * 100_000,
                                "FILE: the compressed file is damaged.\nExport or copy it again."),
    "gzip of a table with a wrong checksum": (TABLE[:-8] + bytes(8),
                                              "FILE: the compressed file is damaged.\nExport or copy it again."),
    "more work than fits": (lines(audit("create", i, f"p{i}", requestObject=pod(f"p{i}", cpu=f"{i + 1}m"))
                                  for i in range(201)),
                            f"FILE: has work of 201 different shapes; a scenario has at most 200.\n{CHOOSE}"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_gets_a_message_that_says_where_and_what_to_do(tmp_path: Path, case: str) -> None:
    content, message = BAD[case]
    path = write(tmp_path, "file", content)
    with pytest.raises(UserError) as error:
        read(path)
    assert str(error.value).replace(str(path), "FILE") == message
    assert SECRET not in str(error.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothing\.json: file not found"):
        read(tmp_path / "nothing.json")
    with pytest.raises(UserError, match=r"is a folder\.\nGive one file"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("audit.jsonl", lines([*LIFE, *life(pod("b"), 70)])[:-700]),
        ("pods.json", dump(DUMPED, {**DUMPED, "metadata": {**DUMPED["metadata"], "uid": "b"}})[:-900]),
        ("list-without-end.json", dump(DUMPED)[:-20]),
    ],
)
def test_a_file_that_ends_in_the_middle_of_an_entry_is_replayed_with_a_note(
    tmp_path: Path, name: str, text: str
) -> None:
    replayed = read(write(tmp_path, name, text))
    assert sum(each.count for each in replayed.scenario.arrivals) == 1
    assert stream.TRUNCATED in replayed.notes


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_an_entry_may_be_cut_off_anywhere(tmp_path: Path, cut: int) -> None:
    second = json.dumps({**DUMPED, "metadata": {**DUMPED["metadata"], "uid": "b", "note": "\u00e9\n\\"}}, indent=1)
    text = '{"items": [' + json.dumps(DUMPED) + ", " + second[: len(second) * cut // 60]
    assert stream.TRUNCATED in read(write(tmp_path, "pods.json", text)).notes


def test_a_compressed_file_that_is_cut_off_is_replayed_with_a_note(tmp_path: Path) -> None:
    entries = [each for i in range(300) for each in life(pod(f"p{i}"), i, scheduled=i + 1)]
    replayed = read(write(tmp_path, "a.jsonl.gz", gzip.compress(lines(entries).encode())[:-300]))
    assert stream.CUT_OFF in replayed.notes
    assert 0 < sum(each.count for each in replayed.scenario.arrivals) <= 300


def test_too_many_units_are_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "ARRIVALS_MAX", 100)
    made = json.dumps(audit("create", 0, "NAME", requestObject=pod("NAME")))
    path = write(tmp_path, "a.jsonl", "".join(made.replace("NAME", f"p{i}") + "\n" for i in range(101)))
    with pytest.raises(UserError) as error:
        read(path)
    assert str(error.value) == f"{path}: has 101 units of work; a scenario has at most 100.\n{CHOOSE}"


def test_the_number_of_tracked_pods_is_bounded_and_those_before_the_part_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed, "TRACKED_MAX", 20)
    entries = [
        each for i in range(50) for each in life(pod(f"p{i}"), 100 * i, scheduled=100 * i, completed=100 * i + 50)
    ]
    path = write(tmp_path, "a.jsonl", lines(entries))
    with pytest.raises(UserError, match="has more than 20 pods"):
        read(path)
    replayed = read(path, Part(start=T0 + 4500))
    assert sum(each.count for each in replayed.scenario.arrivals) == 5


def test_an_entry_that_is_too_long_is_refused_instead_of_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "ENTRY_MAX", 2**20)
    path = write(tmp_path, "a.json", '{"items": [' + json.dumps({"kind": "Pod", "junk": "x" * 2**22}))
    with pytest.raises(UserError, match="line 1: an entry is longer than 1 MiB"):
        read(path)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ("monday", None, f"--from: {NO_ZONE}"),
        (None, "2026-03-02T08:00:00", ("--to: must be a time with its zone, as RFC 3339 writes it.\n"
         "Write it as 2026-03-02T08:00:00Z.")),
        ("2026-03-02T09:00:00Z", "2026-03-02T09:30:00+01:00",
         ("The part to replay starts at 2026-03-02T09:00:00Z and ends at 2026-03-02T08:30:00Z.\n"
         "Give a start that is before the end.")),
    ],
)  # fmt: skip
def test_a_part_that_means_nothing_is_refused(start: str | None, end: str | None, message: str) -> None:
    with pytest.raises(UserError) as error:
        between(start, end)
    assert str(error.value) == message


def test_times_of_any_zone_choose_a_part() -> None:
    assert between("2026-03-02T09:00:00+01:00", "2026-03-02T03:30:00-05:00") == Part(T0, T0 + 1800)


def test_a_part_outside_of_the_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", lines(LIFE))
    with pytest.raises(UserError, match="The file ends at 2026-03-02T08:01:00Z, before the part that --from chooses"):
        read(path, Part(start=T0 + 3600))
    with pytest.raises(UserError, match="The file starts at 2026-03-02T08:00:00Z, after the part that --to chooses"):
        read(path, Part(end=T0 - 86_400))


VALUES = (None, 7, -1, [], {}, "", "x", True, "9" * 50, ["a"], {"a": 1}, "9999-12-31T23:59:59Z", [None], "\x00\x1b[31m")


def _spots(value: object) -> list[tuple[dict | list, str | int]]:  # type: ignore[type-arg]
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    assert isinstance(value, dict | list) or not keys
    return [spot for key in keys for spot in [(value, key), *_spots(value[key])]]  # type: ignore[index,misc]


@pytest.mark.parametrize("file", ["aks-log-analytics.json", "events.json", "pods.json", "runs.json", "audit.jsonl"])
def test_wrong_values_anywhere_are_read_or_refused_with_the_file_named(tmp_path: Path, file: str) -> None:
    chance = random.Random(file)  # noqa: S311
    text = (FIXTURES / file).read_text(encoding="utf-8")
    for _ in range(20):
        entries = [json.loads(each) for each in text.splitlines()] if file.endswith("l") else json.loads(text)
        for inner, key in chance.sample(_spots(entries), 3):
            inner[key] = chance.choice(VALUES)  # type: ignore[index]
        path = write(tmp_path, file, lines(entries) if file.endswith("l") else json.dumps(entries))
        try:
            assert read(path).scenario.arrivals
        except UserError as error:
            assert str(error).startswith(str(path))
            assert SECRET not in str(error)
