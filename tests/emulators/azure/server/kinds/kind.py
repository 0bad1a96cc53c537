"""What all types have in common."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from emulators.azure.server import validation
from emulators.azure.server.ids import ArmId
from emulators.azure.server.refusals import group_not_found, not_found
from emulators.azure.server.requests import Request
from emulators.azure.server.said import Fixed, fixed
from emulators.azure.server.store import FAILED, SUCCEEDED, Resource, Store
from emulators.core.fault_outcome import HealthIssue
from emulators.core.refusal import Refusal


class Form(BaseModel):
    """A body, or a part of one, of a type that no installed package of Microsoft's describes."""

    model_config = ConfigDict(extra="forbid")


class Tracked(Form):
    """A body that says where it is."""

    location: str = ""
    tags: dict[str, str] = {}


class Kind:
    """One type of resource.

    Parameters
    ----------
    store
        Where those of all types are.
    """

    arm_type: ClassVar[str]
    """As Azure writes it."""
    token: ClassVar[str]
    """Pulumi's, for the inventory."""
    version: ClassVar[str]
    """Of the API, as the pinned azure-native speaks it."""
    form: ClassVar[tuple[str, str] | type["Form"]]
    """What describes bodies: package and model of Microsoft's, or one of our own."""
    names: ClassVar[str] = r"[A-Za-z0-9]([-\w.]{0,78}\w)?"
    """Names that it may have."""
    is_tracked: ClassVar[bool] = False
    """Whether it is somewhere, and stays there."""
    takes_time: ClassVar[bool] = False
    """Whether a change is an operation that goes on after the answer."""
    is_extension: ClassVar[bool] = False
    """Whether it belongs to some other resource and lies below its id."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Paths in the body that cannot change, beside those that the facts name."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Properties that Azure fills in."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def id_of(self, asked: ArmId) -> ArmId:
        """Return the id as Azure writes it in answers."""
        return asked

    def read(self, request: Request) -> dict[str, Any]:
        """Return the body without what only Azure sets.

        Raises
        ------
        Refusal
            The body is not one of this type.
        """
        body = deepcopy(request.body)
        if isinstance(self.form, tuple):
            wrong = validation.problems(body, *self.form)
            body = body if wrong else validation.settable(body, *self.form)
        else:
            body, wrong = _formed(body, self.form)
        if wrong:
            told = "; ".join(wrong)
            raise Refusal("InvalidRequestContent", 400, f"The request content was invalid: {told}.")
        body.pop("id", None)
        body.pop("name", None)
        body.pop("type", None)
        return {**body, "properties": body.get("properties") or {}}

    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        """Refuse a body that does not go with what exists, or that changes what cannot change."""
        del request
        if old:
            for each in (*map(Fixed, self.fixed), *fixed(self.token)):
                self.refuse_change(each, body, old)

    def refuse_change(self, what: Fixed, body: Mapping[str, Any], old: Resource) -> None:
        """Refuse a body that changes one member; leaving it out is not a change."""
        before, after = at(old.body, what.path), at(body, what.path)
        if after is not None and before is not None and what.is_changed(before, after):
            told = f"Changing property '{what.path}' of {old.id.name} from {before} to {after} is not allowed."
            raise Refusal("PropertyChangeNotAllowed", 400, told)

    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        """Return what is kept: the body with all that Azure adds."""
        del id_, old
        return {**body, "properties": {**deepcopy(dict(self.defaults)), **body["properties"]}}

    def verb(self, body: Mapping[str, Any], old: Resource | None) -> str:
        """Return what a write is, for the clock."""
        del body
        return "update" if old else "create"

    def written(self, resource: Resource, *, is_new: bool) -> None:
        """Do what is done as soon as a write is answered."""

    def made(self, resource: Resource) -> None:
        """Do what is done when a write ends well."""
        resource.state = SUCCEEDED

    def failed(self, resource: Resource, issues: Sequence[HealthIssue]) -> None:
        """Do what is done when work ends badly, for these reasons."""
        del issues
        resource.state = FAILED

    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        """Refuse to remove what is in use.

        Parameters
        ----------
        going
            Who uses it from below this id does not count, because it goes too.
        """

    def gone(self, resource: Resource) -> Iterable[HealthIssue]:
        """Remove a resource with all that is a part of it; return reasons if it cannot go after all."""
        for part in self.store.below(resource.id):
            self.store.remove(part)
        self.store.remove(resource)
        return ()

    def shown(self, resource: Resource) -> dict[str, Any]:
        """Return what an answer tells of a resource beside id, name and type."""
        return deepcopy(resource.body)

    def actions(self) -> Mapping[str, Callable[[Request], Any]]:
        """Return what handles each POST, by its name in lower case."""
        return {}

    def require_home(self, id_: ArmId) -> None:
        """Refuse an id whose group, parent or extended resource is not there, or whose name cannot be."""
        if not re.fullmatch(self.names, id_.name):
            told = f"The resource name '{id_.name}' of type {self.arm_type} is invalid, it must match {self.names}."
            raise Refusal("InvalidResourceName", 400, told)
        group = id_.group
        if group and group.key != id_.key:
            found = self.store.find(group)
            if found is None:
                raise group_not_found(group.name)
            if found.state == "Deleting":
                told = (
                    f"The resource group '{group.name}' is in deprovisioning state and cannot perform this operation."
                )
                raise Refusal("ResourceGroupBeingDeleted", 409, told)
        if id_.parent and self.store.find(id_.parent) is None:
            told = f"Parent resource '{'/'.join(id_.parent.names)}' not found."
            raise Refusal(
                "ParentResourceNotFound", 404, f"Can not perform requested operation on nested resource. {told}"
            )
        if self.is_extension:
            self._require_extended(ArmId(id_.scope))

    def _require_extended(self, scope: ArmId) -> None:
        """Refuse an extension of nothing; what the emulator has no type for is taken to exist."""
        if self.store.knows(scope.type) and self.store.find(scope) is None:
            raise not_found(scope.text)


def at(body: Mapping[str, Any], path: str) -> Any:
    """Return what is at a path such as ``properties.dnsPrefix``; None if nothing is."""
    here: Any = body
    for name in path.split("."):
        here = here.get(name) if isinstance(here, Mapping) else None
    return here


def _formed(body: dict[str, Any], form: type[Form]) -> tuple[dict[str, Any], list[str]]:
    try:
        return form.model_validate(body, strict=True).model_dump(exclude_unset=True), []
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        return body, wrong
