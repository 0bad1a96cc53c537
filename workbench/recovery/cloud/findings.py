"""Findings about a stack in a cloud after an interrupted run, and the repair of its state."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from workbench.engine import Session, pending
from workbench.engine.backend import StateFiles
from workbench.engine.cloud import deployment_of, file_backend, how_to_find_running, pending_run_message, state_of
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
"""Seconds to wait for a resource to be finished; the AWS provider's own limit for node groups."""

PAUSE: Final = 5.0
"""Seconds between two queries."""

_NOT_NOW: Final = "Nothing was changed."


@dataclass(frozen=True)
class CloudRecovery:
    """Compares one stack with its cloud account and repairs the state.

    Parameters
    ----------
    session
        A session on the stack without policy packs.
    account
        The stack's cloud account.
    say
        Receives progress messages while waiting.
    pause
        Seconds between two queries about an unfinished resource.
    """

    session: Session
    account: Account
    say: Callable[[str], None]
    pause: float = PAUSE

    def files(self) -> list[Finding]:
        """Return findings about the engine's locks and state file, for a backend on this machine."""
        if not (folder := file_backend(self.session)):
            return []
        files = StateFiles(self.session.stack.name, folder)
        locks = lock_findings(files.locks())
        return locks if any(each.repair is None for each in locks) else [*locks, *damage_findings(files)]

    def pending(self) -> list[Finding]:
        """Return findings about the pending operations of an interrupted run."""
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
            way = f"If no run is active, check whether {error} exists, and if so `pulumi import` it. Then run"
            return [Finding(found, f"{how_to_find_running(name)} {way} `pulumi refresh --clear-pending-creates`.")]
        findings = [self._ambiguous(answer) for answer in answers if answer.outcome is Outcome.AMBIGUOUS]
        if len(findings) < len(operations):
            lines = [self._described(answer) for answer in answers if answer.outcome is not Outcome.AMBIGUOUS]
            place = self.account.place
            enter = f"If no run is active, add these to the state; the next `up` first compares it with {place}."
            remedy = "\n  ".join([*lines, how_to_find_running(name), enter])
            findings.insert(0, Finding(found, remedy, lambda: self._enter(exported, state, answers)))
        return findings

    def missing_from_state(self) -> list[Finding]:
        """Return existing resources that are missing from the state, as after a plug-in crash.

        Raises
        ------
        UserError
            The preview fails, or the cloud cannot be queried.
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
        count = "1 resource" if len(answers) == 1 else f"{len(answers)} resources"
        lines = [self._described(answer) for answer in answers]
        return [
            Finding(
                f"{count} of this stack in {self.account.place}, by tag or parent, missing from the state: "
                f"{', '.join(answer.query.description for answer in answers)}.",
                "\n  ".join([*lines, "Add this to the state, so that the next `up` does not create it again."]),
                lambda: self._enter(exported, state, answers),
            )
        ]

    def leftovers(self) -> list[Finding]:
        """Return tagged resources that are neither in the state nor declared, without those that a destroy keeps.

        They are never deleted automatically.
        """
        deployment = deployment_of(self.session)
        known, has_cluster = identities(deployment), cluster_of(components_of_state(deployment)) is not None
        return [
            self._leftover(resource)
            for resource in self.account.tagged_resources()
            if identity(resource.type, resource.id) not in known and not (resource.is_byproduct and has_cluster)
            if not resource.kept
        ]

    def _answers(self, query: Sequence[LookupQuery], deployment: dict[str, Any]) -> list[Answer]:
        taken = identities(deployment)
        return [
            answer_of(each, self.account.search(each), taken, self._is_ours)
            for each in query
            if self.account.knows(each.type)
        ]

    def _is_ours(self, found: LookupResult) -> bool:
        return found.tags is None or self.account.is_ours(found.tags)

    def _enter(self, exported: dict[str, Any], state: dict[str, Any], answers: Sequence[Answer]) -> None:
        """Import ``state`` once all resources in it are finished."""
        for answer in answers:
            self._wait_for(answer)
        name = self.session.stack.name
        if _saved(state_of(self.session)) != _saved(exported):
            raise UserError(f"The state of '{name}' changed in the meantime. {_NOT_NOW}", "Run the command again.")
        try:
            self.session.output("stack", "import", stdin=json.dumps({**exported, "deployment": state}))
        except UserError as error:
            raise UserError(
                f"{error.message}\n{_NOT_NOW}",
                "If the stack is locked: make sure that no run is active anywhere, then run `pulumi cancel` and this "
                "command again.",
            ) from None

    def _wait_for(self, answer: Answer) -> None:
        """Wait until a resource is finished; the engine would treat an unfinished one as complete."""
        deadline = time.monotonic() + PATIENCE
        while (found := answer.found) and found.is_moving:
            if time.monotonic() > deadline:
                raise UserError(
                    f"{answer.query.description} is still {found.state} after {PATIENCE / 60:.0f} minutes. {_NOT_NOW}",
                    f"Check it in {self.account.place}; when it is finished or deleted, run the command again.",
                )
            self.say(f"{answer.query.description}: {found.description}")
            time.sleep(self.pause)
            again = [each for each in self.account.search(answer.query) if each.id == found.id]
            answer = Answer(answer.query, Outcome.CREATED if again else Outcome.ABSENT, tuple(again))

    def _described(self, answer: Answer) -> str:
        description = answer.query.description
        match answer.outcome:
            case Outcome.CREATED:
                found = answer.candidates[0]
                waiting = "; recovery waits until it is finished" if found.is_moving else ""
                return f"{description}: {self.account.place} has {found.description}{waiting}."
            case Outcome.FOREIGN:
                return (
                    f"{description}: was not created. {self.account.place} has {answer.candidates[0].description}, "
                    "which lacks this stack's tag: it belongs to another owner and is not added to the state."
                )
            case Outcome.ABSENT | Outcome.AMBIGUOUS:
                return f"{description}: was not created."

    def _ambiguous(self, answer: Answer) -> Finding:
        listed = ", ".join(found.description for found in answer.candidates)
        return Finding(
            f"{answer.query.description} was being created, and {self.account.place} has several candidates: {listed}.",
            f"Delete the unused ones in {self.account.place} until one is left; then run the command again.",
        )

    def _leftover(self, resource: CloudResource) -> Finding:
        warning = "Deleting it loses its data. " if resource.holds_data else ""
        return Finding(
            f"In {self.account.place}, tagged with this stack, but not in its state: {resource.description}.",
            f"{warning}Inspect it: {resource.look}\n  If it is not needed: {resource.delete}",
        )


def _saved(exported: dict[str, Any]) -> Any:
    """Return the manifest, whose time changes with every save; exports may re-encrypt everything else."""
    return (exported.get("deployment") or {}).get("manifest")
