"""Runs a review of two checkouts and writes its record."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from components.contract.environments import ClusterKind, Environment
from components.contract.labels import is_dns_label
from components.contract.policy_guard import PolicyGuard
from policies.waivers import Approval
from workbench import stacks
from workbench.engine.render import passed_on
from workbench.local import Instance
from workbench.report.model import JudgeChange
from workbench.report.record import CONTENTS, STACKS
from workbench.report.rehearsed import Rehearsal
from workbench.review.affected import affected, gone
from workbench.review.comparison import Comparison, compare, refuse_hidden_code
from workbench.review.judges import altered, choice_changes, judge_changes, overrides, rows
from workbench.review.own import OWN_STACKS, OwnStack, choices_of, own_stack
from workbench.review.package import Package, package_of
from workbench.review.plans import OUTPUT_MAX, Onto, Planned, Tools, baseline_state, compared_plan, offline_plan
from workbench.review.runs import Runs
from workbench.system import temporary
from workbench.system.errors import NoVerdictError, UserError
from workbench.system.files import write_private
from workbench.system.paths import FOLDER_VARIABLE, PRIVATE
from workbench.toolchain import Toolchain

AT_ONCE: Final = 2
"""Stacks that are planned at the same time; the engine and its plug-ins use about one and a half processors."""

FORMAT: Final = 1

Tell = Callable[[str], None]
"""Receives progress messages."""


@dataclass
class Review:
    """A review of one change.

    Parameters
    ----------
    head
        Folder of the change's stack files.
    toolchain
        Must hold ``workbench.engine.render.TOOLS``.
    compared
        Plan with the user's own backend and credentials. Default: without an account.
    tell
        Receives progress messages. Default: none.
    rehearsals
        What was rehearsed, by stack, for the record. Default: nothing.
    onto
        Returns the state that a change is planned against without an account.
    """

    head: Path
    toolchain: Toolchain
    compared: bool = False
    tell: Tell = lambda _: None
    rehearsals: Mapping[str, Sequence[Rehearsal]] = field(default_factory=dict)
    onto: Onto = baseline_state
    _runs: Runs = field(default_factory=Runs)

    def write(self, record: Path, selected: Sequence[str] = ()) -> None:
        """Review the change and write the record.

        Parameters
        ----------
        record
            A new or empty folder, or an earlier record, which is replaced.
        selected
            Stacks to review. Default: those that the change can affect.

        Raises
        ------
        UserError
            There is nothing to review, or the folder contains other files.
        NoVerdictError
            The packages that the change pins cannot be installed.
        """
        head, base = self.head.resolve(), stacks.folder()
        comparison = compare(base, head)
        refuse_hidden_code(base, head)
        for note in comparison.notes:
            self.tell(f"note: {note}")
        _make_room(record)
        with temporary.folder("review") as (folder, _):
            try:
                package = package_of(base, head, Path(folder) / "head")
            except UserError as error:
                raise NoVerdictError(f"The change could not be judged: {error.message}", error.hint) from None
            tools = Tools(self.toolchain, self._runs, package, head)
            own = self._own(package, head, Path(folder))
            files = stacks.stack_files(head)
            rows_before, rows_after = overrides(base), overrides(head)
            chosen = _chosen(selected, own) or affected(comparison.files, _bases(files, head), rows_before, rows_after)
            planned = self._plans({name: own[name] for name in sorted(chosen)}, tools)
            # A selected stack without a plan is reported as not evaluated.
            planned |= {name: Planned() for name in sorted(set(selected) - planned.keys())}
        for name, each in planned.items():
            _write_streams(record, name, each)
        judge = [*judge_changes(comparison.files, rows_before, rows_after), *_gone(comparison)]
        judge += [change for name in planned for change in _choices(name, files[name], head)]
        content = {
            "format": FORMAT,
            "base": comparison.base,
            "head": comparison.head,
            "compared": self.compared,
            "stacks": {name: _row(name, files[name], own[name]) for name in planned},
            "skipped": sorted(filter(is_dns_label, own.keys() - chosen)),
            "judge": [asdict(each) for each in sorted(judge)],
            "approvals": {"base": _approvals(rows_before), "head": _approvals(rows_after)},
            "rehearsals": {name: _rows(self.rehearsals.get(name, ())) for name in planned},
            "newWaivers": [row for _, row in altered(rows_before, rows_after, "waivers") if row],
        }
        # Written last: an interrupted review leaves no record.
        write_private(record / CONTENTS, json.dumps(content, indent=2, default=str) + "\n")

    def _own(self, package: Package, head: Path, folder: Path) -> dict[str, OwnStack]:
        """Return the change's own view of its stacks."""
        ended = self._runs.run(
            [package.python, "-m", "workbench.review.own"],
            folder=package.root,
            environment={**passed_on(), "HOME": str(folder), FOLDER_VARIABLE: str(head)},
        )
        try:
            found = OWN_STACKS.validate_json(ended.stdout)
        except ValidationError:
            found = {}
        last = (ended.stderr or ended.stdout).strip().rpartition("\n")[2][:OUTPUT_MAX]
        silent = OwnStack(problems=[f"the change's own code cannot read it: {last}" if not found else "it is left out"])
        # The stack files are listed here, since the change's code is untrusted.
        return {name: found.get(name, silent) for name in stacks.stack_files(head)}

    def _plans(self, chosen: Mapping[str, OwnStack], tools: Tools) -> dict[str, Planned]:
        found = {name: Planned() for name, own in chosen.items() if own.problems}
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            futures: dict[Future[Planned | None], str] = {
                pool.submit(self._plan, name, own, tools): name for name, own in chosen.items() if name not in found
            }
            for future in as_completed(futures):
                if (planned := future.result()) is not None:
                    found[futures[future]] = planned
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            self._runs.stop()
            raise
        finally:
            pool.shutdown()
        return dict(sorted(found.items()))

    def _plan(self, name: str, head: OwnStack, tools: Tools) -> Planned | None:
        """Return the plans of one stack; None if it cannot be compared from this machine."""
        try:
            if self.compared:
                return self._compare(name, head, tools)
            is_there = not _base(name).problems
            if is_there:
                self.tell(f"{name}: building a baseline from the base branch")
            state = self.onto(name, tools) if is_there else ""
            self.tell(f"{name}: planning the change{'' if is_there else ' as a new stack'}")
            return offline_plan(name, head, state, tools)
        except UserError as error:  # without streams the stack cannot pass
            self.tell(f"{name}: {error}")
            return Planned()

    def _compare(self, name: str, head: OwnStack, tools: Tools) -> Planned | None:
        base = stacks.find(name) if name in stacks.stack_files() else None
        is_here = base is not None and base.is_local and Instance(name).status().running
        if _kind(choices_of(tools.file(name))) == ClusterKind.LOCAL and not is_here:
            self.tell(f"{name}: skipped; its control plane is not running on this machine")
            return None
        self.tell(f"{name}: planning the change against the live stack")
        return compared_plan(name, base, head, tools)


def _chosen(selected: Sequence[str], own: Mapping[str, OwnStack]) -> set[str]:
    if unknown := sorted(set(selected) - own.keys()):
        raise UserError(
            f"The change has no stack {', '.join(unknown)}.", f"Its stacks: {', '.join(sorted(own)) or 'none'}."
        )
    return set(selected)


def _make_room(record: Path) -> None:
    if record.is_dir() and any(record.iterdir()):
        found = {entry.name for entry in record.iterdir()}
        if CONTENTS not in found or found - {CONTENTS, STACKS}:
            raise UserError(f"{record} is not empty and not a record.", "Choose a new folder with --record.")
        shutil.rmtree(record)
    record.mkdir(parents=True, exist_ok=True, mode=PRIVATE)


def _write_streams(record: Path, name: str, planned: Planned) -> None:
    streams = {"plan": planned.plan, "judged": planned.judged}
    for kind, stream in streams.items():
        if stream and is_dns_label(name):
            folder = record / STACKS / name
            folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
            write_private(folder / f"{kind}.jsonl", stream)


def _rows(rehearsals: Sequence[Rehearsal]) -> list[dict[str, Any]]:
    return [each.model_dump(mode="json", by_alias=True) for each in rehearsals]


def _row(name: str, file: Path, own: OwnStack) -> dict[str, Any]:
    choices = choices_of(file)
    guards = [each.guard for each in (own, _base(name)) if each.guard]
    return {
        "environment": _one_of(Environment, choices.get("environment")),
        "kind": _kind(choices),
        # A change cannot switch off the guard that judges it.
        "guard": min(guards, key=list(PolicyGuard).index, default=None),
        "problems": own.problems,
    }


def _bases(files: Mapping[str, Path], head: Path) -> dict[str, str | None]:
    """Return the path of each stack's base; None without one."""
    found = {name: stacks.base_of(file) for name, file in files.items()}
    return {name: base.relative_to(head).as_posix() if base else None for name, base in found.items()}


def _kind(choices: Mapping[str, Any]) -> str:
    cluster = choices.get("cluster")
    return _one_of(ClusterKind, cluster.get("kind") if isinstance(cluster, Mapping) else None)


def _one_of(words: Iterable[str], content: Any) -> str:
    """Return ``content`` if it is one of ``words``, else an empty text."""
    return next((str(word) for word in words if word == content), "")


def _base(name: str) -> OwnStack:
    return own_stack(name) if name in stacks.stack_files() else OwnStack(problems=["there is none"])


def _choices(name: str, file: Path, head: Path) -> Iterator[JudgeChange]:
    if before := stacks.stack_files().get(name):
        yield from choice_changes(str(file.relative_to(head)), name, choices_of(before), choices_of(file))


def _gone(comparison: Comparison) -> Iterator[JudgeChange]:
    for file, name in gone(comparison.files):
        change = f"moves the stack {name} to {file.path}" if file.was else f"deletes the file of the stack {name}"
        what = f"{change}: its cluster, if deployed, remains and is no longer checked"
        yield JudgeChange(file.was or file.path, what)


def _approvals(content: Any) -> list[Any]:
    """Return the valid rows; an invalid one is a problem of its stack."""
    return [row for row in rows(content, "approvals") if _is_approval(row)]


def _is_approval(row: Any) -> bool:
    try:
        Approval.model_validate(row)
    except ValidationError:
        return False
    return True
