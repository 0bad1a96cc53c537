"""What a lost run left of a stack in a cloud, and how its state is repaired."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from workbench.engine import Session, pending
from workbench.engine.backend import StateFiles
from workbench.engine.cloud import file_backend, how_to_find_running, pending_run_message, state_of
from workbench.engine.cluster_components import cluster_of, components_of_state
from workbench.recovery.cloud.account import Account
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult
from workbench.recovery.cloud.plan import (
    Answer,
    Outcome,
    adopted,
    answer_of,
    identities,
    identity,
    pending_creations,
    planned,
    repaired,
)
from workbench.recovery.finding import Finding
from workbench.recovery.state import damage_findings, lock_findings
from workbench.system.errors import UserError

PATIENCE: Final = 3600.0
"""Seconds for a thing to be finished: the longest that the AWS provider itself waits, for a node group."""

PAUSE: Final = 5.0
"""Seconds between two looks."""

_NOT_NOW: Final = "Nothing was changed."


@dataclass(frozen=True)
class CloudRecovery:
    """Looks at one stack and at its account, and mends the state.

    Parameters
    ----------
    session
        A session on the stack without policy packs: nothing is judged here.
    account
        Where to look.
    say
        Tells whoever waits what is waited for.
    pause
        Seconds between two looks at what is still being made.
    """

    session: Session
    account: Account
    say: Callable[[str], None]
    pause: float = PAUSE

    def files(self) -> list[Finding]:
        """Return what is to be done about the engine's own locks and state file, where they are on this machine."""
        if not (folder := file_backend(self.session)):
            return []
        files = StateFiles(self.session.stack.name, folder)
        locks = lock_findings(files.locks())
        return locks if any(each.mend is None for each in locks) else [*locks, *damage_findings(files)]

    def pending(self) -> list[Finding]:
        """Return what became of the operations that a lost run had under way."""
        exported = state_of(self.session)
        deployment = exported.get("deployment") or {}
        if not (operations := pending.operations(deployment)):
            return []
        answers = self._answers(pending_creations(deployment), deployment)
        name = self.session.stack.name
        found = pending_run_message(name, operations)
        try:
            state = repaired(deployment, answers)
        except pending.UnresolvableError as error:
            way = f"If none does, look whether {error} exists, and if so `pulumi import` it. Then run `pulumi refresh`"
            return [Finding(found, f"{how_to_find_running(name)} {way} `--clear-pending-creates`.")]
        findings = [self._ambiguous(answer) for answer in answers if answer.outcome is Outcome.AMBIGUOUS]
        if len(findings) < len(operations):
            lines = [self._fate(answer) for answer in answers if answer.outcome is not Outcome.AMBIGUOUS]
            place = self.account.place
            enter = f"If none does, enter that into the state; the next `up` starts by comparing it with {place}."
            remedy = "\n  ".join([*lines, how_to_find_running(name), enter])
            findings.insert(0, Finding(found, remedy, lambda: self._enter(exported, state, answers)))
        return findings

    def missing_from_state(self) -> list[Finding]:
        """Return what the program would make although it is there: made by a plug-in that died, so nothing is pending.

        Raises
        ------
        UserError
            The program cannot be previewed, or the cloud cannot be asked.
        """
        exported = state_of(self.session)
        deployment = exported.get("deployment") or {}
        if not self.account.is_a_cloud or not deployment.get("resources"):
            return []
        preview = self.session.query("preview", "--json") or {}
        plan = planned(preview, deployment)
        answers = [each for each in self._answers(plan.creations, deployment) if each.found]
        if not answers:
            return []
        state = adopted(deployment, plan, answers)
        count = "1 thing is" if len(answers) == 1 else f"{len(answers)} things are"
        lines = [self._fate(answer) for answer in answers]
        return [
            Finding(
                f"{count} in {self.account.place}, of this stack by tag or place, and the state does not know it: "
                f"{', '.join(answer.wanted.words for answer in answers)}.",
                "\n  ".join([*lines, "Enter that into the state; the next `up` makes none of it a second time."]),
                lambda: self._enter(exported, state, answers),
            )
        ]

    def leftovers(self) -> list[Finding]:
        """Return what carries the stack's tag and is neither in its state nor wanted. It is never deleted from here."""
        deployment = state_of(self.session).get("deployment") or {}
        known, has_cluster = identities(deployment), cluster_of(components_of_state(deployment)) is not None
        return [
            self._leftover(thing)
            for thing in self.account.tagged_resources()
            if identity(thing.type, thing.id) not in known and not (thing.is_byproduct and has_cluster)
        ]

    def _answers(self, wanted: Sequence[LookupQuery], deployment: dict[str, Any]) -> list[Answer]:
        taken = identities(deployment)
        return [
            answer_of(each, self.account.search(each), taken, self._is_ours)
            for each in wanted
            if self.account.knows(each.type)
        ]

    def _is_ours(self, found: LookupResult) -> bool:
        return found.tags is None or self.account.is_ours(found.tags)

    def _enter(self, exported: dict[str, Any], state: dict[str, Any], answers: Sequence[Answer]) -> None:
        """Replace the state by ``state``, when all that it names is finished."""
        for answer in answers:
            self._wait_for(answer)
        name = self.session.stack.name
        if _saved(state_of(self.session)) != _saved(exported):
            raise UserError(f"Somebody changed the state of '{name}' meanwhile. {_NOT_NOW}", "Run this again.")
        try:
            self.session.told("stack", "import", given=json.dumps({**exported, "deployment": state}))
        except UserError as error:
            raise UserError(
                f"{error.message}\n{_NOT_NOW}",
                "If a lock is in the way: make sure that no run works on the stack, anywhere, then `pulumi cancel`, "
                "then this again.",
            ) from None

    def _wait_for(self, answer: Answer) -> None:
        """Wait until a thing that is still being made is finished: the engine would take it for done."""
        deadline = time.monotonic() + PATIENCE
        while (found := answer.found) and found.is_moving:
            if time.monotonic() > deadline:
                raise UserError(
                    f"{answer.wanted.words} is still {found.state} after {PATIENCE / 60:.0f} minutes. {_NOT_NOW}",
                    f"Look at it in {self.account.place}; when it is finished or gone, run this again.",
                )
            self.say(f"{answer.wanted.words}: {found.words}")
            time.sleep(self.pause)
            again = [each for each in self.account.search(answer.wanted) if each.id == found.id]
            answer = Answer(answer.wanted, Outcome.MADE if again else Outcome.ABSENT, tuple(again))

    def _fate(self, answer: Answer) -> str:
        words = answer.wanted.words
        match answer.outcome:
            case Outcome.MADE:
                found = answer.candidates[0]
                waiting = ", wait until it is finished" if found.is_moving else ""
                return f"{words}: {self.account.place} has {found.words}{waiting}."
            case Outcome.FOREIGN:
                return (
                    f"{words}: was not made. {self.account.place} has {answer.candidates[0].words}, which lacks this "
                    "stack's tag: it is somebody else's, and stays out of the state."
                )
            case Outcome.ABSENT | Outcome.AMBIGUOUS:
                return f"{words}: was not made."

    def _ambiguous(self, answer: Answer) -> Finding:
        listed = ", ".join(found.words for found in answer.candidates)
        return Finding(
            f"{answer.wanted.words} was being made, and {self.account.place} has more than one that it may be: "
            f"{listed}.",
            f"Delete in {self.account.place} the ones that nothing uses, until one is left; then run this again.",
        )

    def _leftover(self, thing: CloudResource) -> Finding:
        warning = "It holds data, which nobody can bring back. " if thing.holds_data else ""
        return Finding(
            f"In {self.account.place}, of this stack by its tag, and not in its state: {thing.words}.",
            f"{warning}Look: {thing.look}\n  If nobody needs it: {thing.delete}",
        )


def _saved(exported: dict[str, Any]) -> Any:
    """Return what every save of a state gives another time; the rest may be encrypted anew by every export."""
    return (exported.get("deployment") or {}).get("manifest")
