"""Workflows of Azure Logic Apps, as far as schedules need them: a recurrence that sends a request to ARM.

Sources, below https://learn.microsoft.com/azure/logic-apps: ``logic-apps-workflow-definition-language`` and
``logic-apps-workflow-actions-triggers`` (definitions), ``concepts-schedule-automated-recurring-tasks-workflows`` (when
recurrences run), ``authenticate-with-managed-identity``. Codes of refusals are assumed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Literal
from zoneinfo import ZoneInfo

from pydantic import Field
from typing_extensions import override
from tzlocal.windows_tz import win_tz

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.identity import IDENTITY
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource, Store
from emulators.core.refusal import Refusal

ARM: Final = "https://management.azure.com"

DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class _Schedule(Form):
    weekDays: list[Day] = Field(min_length=1)  # noqa: N815 as it is on the wire, and all of these
    hours: list[int]
    minutes: list[int]


class Recurrence(Form):
    frequency: Literal["Week"]
    interval: int = Field(ge=1, le=1)
    startTime: str = ""  # noqa: N815
    timeZone: str = "UTC"  # noqa: N815
    schedule: _Schedule


class _Trigger(Form):
    type: Literal["Recurrence"]
    recurrence: Recurrence


class _Authentication(Form):
    type: Literal["ManagedServiceIdentity"]
    identity: str
    audience: str = f"{ARM}/"


class _Inputs(Form):
    method: Literal["POST"]
    uri: str
    authentication: _Authentication


class _Action(Form):
    type: Literal["Http"]
    runAfter: dict[str, Any] = Field(default_factory=dict)  # noqa: N815
    inputs: _Inputs
    operationOptions: Literal["DisableAsyncPattern"] | None = None  # noqa: N815


class _Definition(Form):
    schema_: str = Field(alias="$schema")
    contentVersion: str  # noqa: N815
    parameters: dict[str, Any] = Field(default_factory=dict)
    triggers: dict[str, _Trigger]
    actions: dict[str, _Action]
    outputs: dict[str, Any] = Field(default_factory=dict)


class _Properties(Form):
    definition: dict[str, Any]
    state: Literal["Enabled", "Disabled"] = "Enabled"


class _Workflow(Tracked):
    properties: _Properties
    identity: dict[str, Any] | None = None


@dataclass(frozen=True)
class Post:
    """A request that a workflow sends.

    Parameters
    ----------
    workflow
        Its id.
    principal
        The identity as which it is sent.
    target, action, version
        What it is about, what is to be done, and the version of the API.
    """

    workflow: str
    principal: str
    target: ArmId
    action: str
    version: str


class Workflows(Kind):
    """``Microsoft.Logic/workflows``; ``due`` says what each sends at a moment."""

    arm_type = "Microsoft.Logic/workflows"
    token = "azure-native:logic:Workflow"  # noqa: S105 a type
    version = "2019-05-01"
    form = _Workflow
    names = r"[-()_.A-Za-z0-9]{1,80}"
    is_tracked = True
    defaults: ClassVar = {"state": "Enabled"}

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.at_once: list[Post] = []
        """Requests of workflows that run as soon as they are deployed, because nothing says when they begin."""

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        definition = _read(body["properties"]["definition"])
        for trigger in definition.triggers.values():
            if trigger.recurrence.timeZone not in win_tz:
                told = f"The time zone '{trigger.recurrence.timeZone}' is not valid."
                raise Refusal("InvalidTemplate", 400, told)
        own = {id_.lower() for id_ in (body.get("identity") or {}).get("userAssignedIdentities") or ()}
        for id_ in own:
            if self.store.find(id_) is None:
                raise Refusal("FailedIdentityOperation", 400, f"Resource '{id_}' was not found.")
        for action in definition.actions.values():
            if action.inputs.authentication.identity.lower() not in own:
                told = f"The identity '{action.inputs.authentication.identity}' is not assigned to the workflow."
                raise Refusal("WorkflowManagedIdentityNotSpecified", 400, told)

    @override
    def written(self, resource: Resource, *, is_new: bool) -> None:
        triggers = _read(resource.properties["definition"]).triggers.values()
        if not all(trigger.recurrence.startTime for trigger in triggers):
            self.at_once += self._posts(resource)

    def due(self, moment: datetime) -> list[Post]:
        """Return what is sent in the minute of a moment, with a time zone."""
        found = list[Post]()
        for workflow in self.store.all(self.arm_type):
            triggers = _read(workflow.properties["definition"]).triggers.values()
            is_enabled = workflow.properties["state"] == "Enabled"
            if is_enabled and any(matches(trigger.recurrence, moment) for trigger in triggers):
                found += self._posts(workflow)
        return found

    def _posts(self, workflow: Resource) -> Iterator[Post]:
        for action in _read(workflow.properties["definition"]).actions.values():
            identity = self.store.find(action.inputs.authentication.identity)
            parts = re.fullmatch(rf"{re.escape(ARM)}(/.+)/(\w+)\?api-version=([\d-]+)", action.inputs.uri)
            if parts and identity and identity.type == IDENTITY:
                principal = identity.properties["principalId"]
                yield Post(workflow.id.text, principal, ArmId(parts[1]), parts[2], parts[3])


def matches(recurrence: Recurrence, moment: datetime) -> bool:
    """Return whether a recurrence is due in the minute of a moment."""
    local = moment.astimezone(ZoneInfo(win_tz[recurrence.timeZone]))
    has_begun = f"{local:%Y-%m-%dT%H:%M:%S}" >= recurrence.startTime
    when = recurrence.schedule
    is_time = local.hour in when.hours and local.minute in when.minutes
    return has_begun and is_time and DAYS[local.weekday()] in when.weekDays


def _read(definition: Mapping[str, Any]) -> _Definition:
    try:
        return _Definition.model_validate(definition)
    except ValueError as error:
        told = f"The template validation failed: {error}"
        raise Refusal("InvalidTemplate", 400, told) from None
