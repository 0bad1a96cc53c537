"""Plans and their selections, and when their rules are due."""

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, Final

from emulators.aws.server.backup.store import Plan, Store, check_role, invalid, new_id, not_found, not_possible, refusal

DEFAULTS: Final[Mapping[str, Any]] = {
    "ScheduleExpression": "cron(0 5 ? * * *)",
    "ScheduleExpressionTimezone": "Etc/UTC",
    "StartWindowMinutes": 480,
    "CompletionWindowMinutes": 10080,
    "EnableContinuousBackup": False,
}
"""https://docs.aws.amazon.com/aws-backup/latest/devguide/API_BackupRule.html."""

_CRON: Final = re.compile(r"cron\((\d+) (\d+(?:,\d+)*) \? \* \* \*\)")
"""The schedules that the emulator understands: at minutes of hours of every day."""


def is_due(rule: Mapping[str, Any], at: datetime) -> bool:
    """Return whether a rule begins a backup in the minute of ``at``."""
    found = _CRON.fullmatch(rule["ScheduleExpression"])
    if not found:
        raise NotImplementedError(f"the schedule {rule['ScheduleExpression']}")
    time = at.astimezone(UTC)
    return time.minute == int(found[1]) and time.hour in map(int, found[2].split(","))


class Plans:
    """Plans and selections."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "CreateBackupPlan": self.create,
            "CreateBackupSelection": self.select,
            "DeleteBackupPlan": self.delete,
            "DeleteBackupSelection": self.drop_selection,
            "GetBackupPlan": self.get,
            "GetBackupSelection": self.get_selection,
            "ListBackupPlans": self.list,
            "ListBackupSelections": self.list_selections,
            "UpdateBackupPlan": self.update,
        }

    def due(self, at: datetime) -> Iterator[tuple[Plan, Mapping[str, Any], Mapping[str, Any]]]:
        """Return the rules that begin backups in a minute, each with its plan and one of its selections."""
        for plan in [*self._store.plans.values()]:
            for rule in plan.document["Rules"]:
                if is_due(rule, at):
                    yield from ((plan, rule, selection) for selection in plan.selections.values())

    def create(self, params: dict[str, Any]) -> dict[str, Any]:
        """Make a plan. Two plans may have one name, but not one document."""
        document = self._document(params["BackupPlan"])
        if any(_without_ids(document) == _without_ids(plan.document) for plan in self._store.plans.values()):
            raise refusal("AlreadyExistsException", "Backup plan with the same plan document already exists")
        plan = Plan(new_id(), document, dict(params.get("BackupPlanTags", {})), self._store.now)
        self._store.plans[plan.id] = plan
        return plan.named

    def get(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a plan."""
        plan = self._store.plan(params["BackupPlanId"])
        return {**plan.named, "BackupPlan": deepcopy(plan.document)}

    def list(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Return all plans in short."""
        plans = self._store.plans.values()
        return {"BackupPlansList": [{**p.named, "BackupPlanName": p.document["BackupPlanName"]} for p in plans]}

    def update(self, params: dict[str, Any]) -> dict[str, Any]:
        """Give a plan another document."""
        plan = self._store.plan(params["BackupPlanId"])
        plan.document, plan.version = self._document(params["BackupPlan"]), new_id()
        return plan.named

    def delete(self, params: dict[str, Any]) -> dict[str, Any]:
        """Delete a plan without selections; its backups stay."""
        plan = self._store.plan(params["BackupPlanId"])
        if plan.selections:
            raise not_possible("Related backup plan selections must be deleted prior to backup plan deletion")
        del self._store.plans[plan.id]
        named = plan.named
        return {"DeletionDate": self._store.now, **{key: named[key] for key in named if key != "CreationDate"}}

    def select(self, params: dict[str, Any]) -> dict[str, Any]:
        """Make a selection. Resources need not exist yet."""
        plan, wanted = self._store.plan(params["BackupPlanId"]), deepcopy(params["BackupSelection"])
        check_role(wanted["IamRoleArn"])
        if not any(wanted.get(key) for key in ("Resources", "ListOfTags", "Conditions", "NotResources")):
            raise invalid("A selection must have resources, tags or conditions")
        id_ = new_id()
        made = {"SelectionId": id_, "BackupPlanId": plan.id, "CreationDate": self._store.now}
        plan.selections[id_] = {**made, "BackupSelection": wanted}
        return made

    def get_selection(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a selection."""
        return self._selection(params)

    def list_selections(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a plan's selections in short."""
        found = self._store.plan(params["BackupPlanId"]).selections.values()
        short = [
            {key: each[key] for key in ("SelectionId", "BackupPlanId", "CreationDate")}
            | {key: each["BackupSelection"][key] for key in ("SelectionName", "IamRoleArn")}
            for each in found
        ]
        return {"BackupSelectionsList": short}

    def drop_selection(self, params: dict[str, Any]) -> dict[str, Any]:
        """Delete a selection."""
        self._selection(params)
        del self._store.plan(params["BackupPlanId"]).selections[params["SelectionId"]]
        return {}

    def _selection(self, params: dict[str, Any]) -> dict[str, Any]:
        found = self._store.plan(params["BackupPlanId"]).selections
        if params["SelectionId"] not in found:
            raise not_found(f"Cannot find Backup selection with ID {params['SelectionId']}")
        return found[params["SelectionId"]]

    def _document(self, given: Mapping[str, Any]) -> dict[str, Any]:
        rules: list[dict[str, Any]] = [{**DEFAULTS, **deepcopy(rule), "RuleId": new_id()} for rule in given["Rules"]]
        for rule in rules:
            self._store.vault(rule["TargetBackupVaultName"])
            if rule["CompletionWindowMinutes"] < rule["StartWindowMinutes"] + 60:
                # docs.aws.amazon.com/aws-backup/latest/devguide/creating-a-backup-plan.html; the words are assumed.
                raise invalid("The completion window must be at least 60 minutes longer than the start window")
            if rule["EnableContinuousBackup"]:
                raise NotImplementedError("backup: continuous backups")
        return {**given, "Rules": rules}


def _without_ids(document: Mapping[str, Any]) -> dict[str, Any]:
    rules = [{key: value for key, value in rule.items() if key != "RuleId"} for rule in document["Rules"]]
    return {**document, "Rules": rules}
