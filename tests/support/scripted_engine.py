"""A stand-in for the engine that answers each command as a test wrote it down, and keeps what it was asked."""

import json
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.toolchain import Toolchain

SUMMARY = {
    "maybeCorrupt": False,
    "isPreview": False,
    "result": "succeeded",
    "resourceChanges": {},
    "durationSeconds": 1,
}
PLANNED = [{"summaryEvent": {**SUMMARY, "isPreview": True}}, {"cancelEvent": {}}]
DONE = [{"summaryEvent": SUMMARY}, {"cancelEvent": {}}]

_PROGRAM = """#!{python} -IS
import json, pathlib, sys
folder, asked = pathlib.Path({folder!r}), sys.argv[1:]
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps(asked) + "\\n")
command = "preview" if "--preview-only" in asked else "export" if "export" in asked else asked[0]
answers = sorted(folder.glob(command + ".*"), key=lambda file: int(file.suffix[1:]))
answer = json.loads(answers[0].read_text())
if len(answers) > 1:
    answers[0].unlink()
print(answer["says"])
if "--event-log" in asked:
    lines = [json.dumps({{"sequence": n, "timestamp": 1, **event}}) for n, event in enumerate(answer["events"])]
    pathlib.Path(asked[asked.index("--event-log") + 1]).write_text("".join(line + "\\n" for line in lines))
sys.exit(answer["code"])
"""


class ScriptedEngine:
    """Answers a command with what was written for it, one after the other; the last answer holds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        program = folder / "pulumi"
        program.write_text(_PROGRAM.format(python=sys.executable, folder=str(folder)))
        program.chmod(stat.S_IRWXU)
        self.toolchain = Toolchain({"pulumi": program})
        for command in ("up", "destroy", "refresh"):
            self.answers(command, DONE)
        self.answers("preview", PLANNED)

    def has(self, *deployments: dict[str, Any]) -> None:
        """Keep the states that the backend gives, one at each export."""
        for number, deployment in enumerate(deployments):
            self._write("export", number, json.dumps({"deployment": deployment}), [], 0)

    def answers(
        self, command: str, events: Sequence[dict[str, Any]], *, code: int = 0, says: str = "", number: int = 9
    ) -> None:
        """Keep what a run of ``command`` says; lower numbers come first."""
        self._write(command, number, says, events, code)

    @property
    def calls(self) -> list[list[str]]:
        """What was asked, in order, without the options of its event log."""
        found = [json.loads(line) for line in (self._folder / "calls").read_text().splitlines()]
        return [[word for word in asked if "event" not in word and word != "--non-interactive"] for asked in found]

    @property
    def commands(self) -> list[str]:
        """The same in a word each."""
        return [
            "preview" if "--preview-only" in asked else asked[-1 if asked[0] == "stack" else 0] for asked in self.calls
        ]

    def _write(self, command: str, number: int, says: str, events: Sequence[dict[str, Any]], code: int) -> None:
        answer = {"says": says, "events": list(events), "code": code}
        (self._folder / f"{command}.{number}").write_text(json.dumps(answer))


def said(message: str) -> dict[str, Any]:
    """Return the event of an error."""
    return {"diagnosticEvent": {"message": message, "color": "never", "severity": "error"}}


def step(
    op: str, urn: str, old: dict[str, Any], *, kind: str = "resourcePreEvent", changes: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the event of a step that starts from the state ``old`` and changes some inputs."""
    type_ = urn.split("::")[2].rpartition("$")[2]
    state = {"urn": urn, "type": type_, "custom": True, "inputs": old.get("inputs"), "outputs": old.get("outputs")}
    new = {**state, "inputs": {**state["inputs"], **changes}} if changes else state
    return {kind: {"metadata": {"op": op, "urn": urn, "type": type_, "old": state, "new": new}}}
