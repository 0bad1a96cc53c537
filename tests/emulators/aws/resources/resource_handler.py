"""What happens to a resource from its first request to its last, whatever its type."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import jmespath
from botocore.model import ListShape, StructureShape

from emulators.aws.resources import answers
from emulators.aws.resources.connection import ApiError, Aws, said
from emulators.aws.resources.keys import Keys, keys_of
from emulators.aws.resources.kinds import Change, DescribeCall, Given, Kind, State, filled_in, parts, with_defaults
from emulators.aws.resources.requests import members_of, pairs, takes
from emulators.aws.resources.waiting import ABSENT, Seen, Wait
from emulators.core.facts import passing
from workbench.offline.aws.facts import resource as facts_of
from workbench.offline.aws.inputs import children
from workbench.offline.aws.models import innermost, service_model
from workbench.offline.aws.operations import OPERATIONS
from workbench.offline.provider import CloudError, Existing, PartlyMadeError, ReadResult, RefusedError

NOTHING: Final[Mapping[str, Any]] = {}

NOTHING_GIVEN: Final[tuple[Any, ...]] = (None, False, "", [], {})
"""Values that say as much as none."""

FOUND: Final = "found"
"""State of what has none and exists."""


@dataclass(frozen=True)
class ResourceHandler:
    """Resources of one type in one account.

    Parameters
    ----------
    default_tags
        What the provider puts on everything that takes tags.
    """

    aws: Aws
    type_: str
    kind: Kind
    default_tags: Mapping[str, str]

    # --- Make -------------------------------------------------------------------------------------------------------

    def make(self, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Make a resource, wait until it can be used, and return its id and outputs."""
        self._refuse_unmade(inputs)
        tagged = self._tagged(inputs)
        shown = self._shown(tagged)
        try:
            made = self._first(tagged)
        except ApiError as error:
            raise said(f"creating {self.kind.noun}{shown}", error) from error
        identifier = self._id(tagged, made)
        resource = Existing(self.type_, "", identifier, dict(inputs))
        try:
            self._settle(resource, tagged)
            description = self._whole(resource, self._ready(resource))
        except CloudError as error:
            raise self._partly(resource, "reading", error) from error
        return identifier, self._outputs(resource, description)

    def _first(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        given = Given(self.aws, inputs, NOTHING, inputs)
        if self.kind.adopt:
            return self.kind.adopt(given)
        request = OPERATIONS[self.type_][0]
        members = members_of(self.type_, request, inputs) | dict(self.kind.create(given))
        if self.kind.tag_type and "TagSpecifications" in members:
            members["TagSpecifications"][0]["ResourceType"] = self.kind.tag_type
        return self._call(request.service, request.operation, _accepted(members))

    def _call(self, service: str, operation: str, members: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request again for as long as the real plug-in does, by the facts, and return its answer."""
        request = f"{service}:{operation}"
        known = [each for each in facts_of(self.type_).retries if each.request == request]

        def passes(error: ApiError) -> bool:
            return passing(known, request=request, code=error.code, message=error.message) is not None

        minutes = max((each.seconds for each in known), default=0) / 60
        return self.aws.persist(lambda: self.aws.call(service, operation, **members), passes, minutes)

    def _id(self, inputs: Mapping[str, Any], made: Mapping[str, Any]) -> str:
        keys = {**inputs, "id": jmespath.search(self.kind.made, made) if self.kind.made else ""}
        derived = {name: derive(keys) for name, derive in self.kind.derived.items()}
        return str(filled_in(self.kind.id, {**keys, **derived}))

    def _shown(self, inputs: Mapping[str, Any]) -> str:
        """Return what an error calls a resource that has no id yet."""
        return f" ({self._id(inputs, NOTHING)})" if "{id}" not in self.kind.id else ""

    def _refuse_unmade(self, inputs: Mapping[str, Any]) -> None:
        """Refuse inputs that no request would take: to leave them out silently would be a lie."""
        request = OPERATIONS[self.type_][0]
        later = {path.partition(".")[0] for each in self.kind.changes if each.is_also_first for path in each.inputs}
        known = {"tags", *self.kind.carried, *later, *parts(self.kind.id, self.kind.id)}
        given = [name for name in children(self.type_, "") if inputs.get(name) not in NOTHING_GIVEN]
        unmade = [name for name in given if name not in known and not takes(request, name)]
        if unmade and not self.kind.adopt:
            raise RefusedError(
                f"the AWS emulator does not make these inputs of {self.type_}: {', '.join(unmade)}; "
                "describe them in tests/emulators/aws/resources/"
            )

    def _settle(self, resource: Existing, inputs: Mapping[str, Any]) -> None:
        """Send what the first request could not take."""
        changes = [each for each in self.kind.changes if each.is_also_first]
        wanted = [each for each in changes if any(_at(inputs, path) is not None for path in each.inputs)]
        if wanted:
            self._ready(resource)  # AWS refuses changes of what it still makes or does not show yet
        for change in wanted:
            self._send(resource, change, NOTHING, inputs)

    def _ready(self, resource: Existing) -> Mapping[str, Any]:
        """Return the description of a resource that was just made, once it can be used."""
        return self._settled(resource, "create", self.kind.state, self.kind.minutes.create)

    def _settled(self, resource: Existing, doing: str, state: State | None, minutes: float) -> Mapping[str, Any]:
        """Return the description of a resource, once its state is the one that ends what is done to it."""
        wanted, pending = (state.ready, state.pending) if state else (FOUND, ())
        wait = Wait(self.aws, f"waiting for {self.kind.noun} ({resource.id}) {doing}", wanted, minutes)
        return wait.end(lambda: self._seen(resource, state), {ABSENT, *pending}.__contains__, self._reasons)

    def _seen(self, resource: Existing, state: State | None) -> Seen:
        description = self._look(self.kind.look, self._keys(resource))
        if not isinstance(description, dict):
            return ABSENT, NOTHING
        at = str(jmespath.search(state.at, description)) if state else FOUND
        return (ABSENT, NOTHING) if state and at in state.gone else (at, description)

    def _reasons(self, description: Mapping[str, Any]) -> list[str]:
        return jmespath.search(self.kind.state.reasons, description) or [] if self.kind.state else []

    def _partly(self, resource: Existing, doing: str, error: CloudError) -> PartlyMadeError:
        """Return the error of a resource that is created in part, with AWS's description of it, or else its inputs."""
        reason = f"{doing} {self.kind.noun} ({resource.id}): {error}" if isinstance(error, ApiError) else str(error)
        outputs = dict(resource.inputs)
        with suppress(ApiError):
            if description := self._describe(resource):
                outputs = self._outputs(resource, description)
        return PartlyMadeError(resource.id, outputs, (reason,))

    # --- Read -------------------------------------------------------------------------------------------------------

    def find(self, resource: Existing) -> ReadResult | None:
        """Return a resource as it is; None if it does not exist."""
        try:
            description = self._describe(resource)
        except ApiError as error:
            raise said(f"reading {self.kind.noun} ({resource.id})", error) from error
        if description is None:
            return None
        outputs, given = self._outputs(resource, description), dict(resource.inputs)
        if not given:
            names = children(self.type_, "").keys() & outputs.keys()
            imported = {name: outputs[name] for name in names if outputs[name] not in NOTHING_GIVEN[2:]}
            return ReadResult(imported, outputs, str(filled_in(self.kind.id, self._keys(resource) | outputs)))
        tags = {name: outputs[name] for name in ("tags", "tagsAll") if name in outputs}
        inputs = answers.in_form_of(self.type_, self.kind, {n: v for n, v in given.items() if n not in tags}, outputs)
        return ReadResult({**inputs, **{name: tags[name] for name in tags if name in given}}, outputs)

    def _keys(self, resource: Existing) -> Keys:
        named = parts(self.kind.imported, resource.id) or parts(self.kind.id, resource.id)
        wanted = self.kind.imported or self.kind.id
        keys = Keys(wanted, {"id": resource.id, **named, **resource.outputs, **resource.inputs})
        keys.update({name: derive(keys) for name, derive in self.kind.derived.items()})
        return keys

    def _describe(self, resource: Existing) -> Mapping[str, Any] | None:
        state, description = self._seen(resource, self.kind.state)
        return None if state == ABSENT else self._whole(resource, description)

    def _whole(self, resource: Existing, description: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a description completed by what other calls of AWS return."""
        keys = self._keys(resource)
        keys["found"] = description
        given = Given(self.aws, keys, NOTHING, NOTHING)
        more = {
            name: self._look(look, keys) if isinstance(look, DescribeCall) else look(given)
            for name, look in self.kind.more.items()
        }
        return {**description, **more}

    def _look(self, look: DescribeCall, keys: Mapping[str, Any]) -> Any:
        try:
            answer = self.aws.call(look.service, look.operation, **filled_in(look.params, keys))
        except ApiError as error:
            if error.code in self.kind.gone:
                return None
            raise
        return jmespath.search(filled_in(look.at, keys), answer)

    def _outputs(self, resource: Existing, description: Mapping[str, Any]) -> dict[str, Any]:
        keys = self._keys(resource)
        inputs = answers.live(self.type_, self.kind, description)
        kept = {
            name: value
            for name, value in {**resource.outputs, **resource.inputs}.items()
            if name in children(self.type_, "") and not answers.tells(self.kind, name)
        }
        extra = {name: jmespath.search(place, description) for name, place in self.kind.outputs.items()}
        outputs = {**keys_of(self.kind, self.type_, keys), **kept, **inputs}
        outputs |= {name: answers.output(value) for name, value in extra.items() if value is not None}
        if self.kind.arn:
            outputs["arn"] = self.aws.arn(*filled_in(self.kind.arn, keys).split(":", 1))
        if "tags" in children(self.type_, ""):
            every = answers.tags(description.get("tags") or description.get("Tags"))
            own = resource.inputs.get("tags") or {}
            outputs["tagsAll"] = every
            outputs["tags"] = {k: v for k, v in every.items() if k in own or self.default_tags.get(k) != v}
        return outputs

    # --- Change -----------------------------------------------------------------------------------------------------

    def change(self, resource: Existing, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Give a resource new inputs and return its outputs."""
        wanted = with_defaults(self._tagged(inputs), facts_of(self.type_).defaults)
        has = {**resource.inputs, **resource.outputs}
        untold = {n: has[n] for n in wanted.keys() & has.keys() if not answers.tells(self.kind, n)}
        # An input that the program never gave is AWS's own choice; one that it gives no more has changed.
        old = self._with_dropped(
            answers.in_form_of(self.type_, self.kind, wanted, has) | untold, resource.inputs, wanted, has
        )
        renewed = Existing(self.type_, resource.name, resource.id, dict(inputs), resource.outputs)
        try:
            for change in self.kind.changes:
                if any(_at(old, path) != _at(wanted, path) for path in change.inputs):
                    self._send(renewed, change, old, wanted)
            self._tag(renewed, answers.tags(resource.outputs.get("tagsAll") or {}), wanted.get("tags") or {})
            description = self._describe(renewed)
        except CloudError as error:
            raise self._partly(renewed, "updating", error) from error
        return self._outputs(renewed, description) if description else dict(inputs)

    def _with_dropped(
        self,
        old: dict[str, Any],
        given: Mapping[str, Any],
        wanted: Mapping[str, Any],
        has: Mapping[str, Any],
        outer: str = "",
    ) -> dict[str, Any]:
        """Return old inputs with those that the program gives no more, unless AWS keeps them."""
        for name, value in given.items():
            path, facts = f"{outer}{name}", facts_of(self.type_)
            inner = wanted.get(name)
            if name not in wanted and path in facts.inputs and facts.if_absent(path) != "keeps":
                old[name] = has.get(name, value)
            elif isinstance(value, Mapping) and isinstance(inner, Mapping) and isinstance(old.get(name), Mapping):
                there = has.get(name) or {}
                old[name] = self._with_dropped(dict(old[name]), value, inner, there, f"{outer}{name}.")
        return old

    def _send(self, resource: Existing, change: Change, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        request, about = change.request, f" {change.about}" if change.about else ""
        given = Given(self.aws, self._keys(resource), old, new)
        tops = {path.partition(".")[0] for path in change.inputs}
        try:
            built = change.build(given)
            if built is None:
                return
            members = members_of(self.type_, request, {name: new[name] for name in tops & new.keys()})
            members |= {**filled_in(self.kind.keys, given.keys), **built}
            answer = self._call(request.service, request.operation, _accepted(members))
        except ApiError as error:
            raise said(f"updating {self.kind.noun} ({resource.id}){about}", error) from error
        if self.kind.updates and (begun := jmespath.search("update.id", answer)):
            self._finish(resource, begun, f"waiting for {self.kind.noun} ({resource.id}){about} update ({begun})")
        if self.kind.changed:
            self._settled(resource, "update", self.kind.changed, self.kind.minutes.update)

    def _finish(self, resource: Existing, update: str, what: str) -> None:
        """Wait for a change that AWS works on."""
        members = {**filled_in(self.kind.updates, self._keys(resource)), "updateId": update}

        def look() -> Seen:
            found: Mapping[str, Any] = self.aws.call("eks", "DescribeUpdate", **members)["update"]
            return found["status"], found

        def reasons(found: Mapping[str, Any]) -> list[str]:
            return [f"{each.get('errorCode')}: {each.get('errorMessage')}" for each in found.get("errors") or []]

        Wait(self.aws, what, "Successful", self.kind.minutes.update).end(look, {"InProgress"}.__contains__, reasons)

    def _tagged(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return inputs with all tags that the resource gets."""
        if "tags" not in children(self.type_, ""):
            return dict(inputs)
        every = {**self.default_tags, **(inputs.get("tags") or {})}
        return {**inputs, "tags": every} if every else {n: v for n, v in inputs.items() if n != "tags"}

    def _tag(self, resource: Existing, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        tagging = self.kind.tagging
        if tagging is None:
            return
        target = filled_in(tagging.target, self._keys(resource))
        if removed := sorted(old.keys() - new.keys()):
            shape = innermost(_input_shape(tagging.service, tagging.remove).members[tagging.keys])
            keys = [{"Key": key} for key in removed] if isinstance(shape, StructureShape) else removed
            self.aws.call(tagging.service, tagging.remove, **target, **{tagging.keys: keys})
        if changed := {key: str(value) for key, value in new.items() if old.get(key) != value}:
            shape = _input_shape(tagging.service, tagging.add).members[tagging.tags]
            added = pairs(changed, innermost(shape)) if isinstance(shape, ListShape) else changed
            self.aws.call(tagging.service, tagging.add, **target, **{tagging.tags: added})

    # --- Delete -----------------------------------------------------------------------------------------------------

    def remove(self, resource: Existing) -> None:
        """Delete a resource and wait until it is gone; one that is gone already is fine."""
        keys, removal = self._keys(resource), self.kind.removal
        for service, operation, params in removal.requests:
            if operation in removal.needs and not keys.get(removal.needs[operation]):
                continue
            try:
                self._call(service, operation, filled_in(params, keys))
            except ApiError as error:
                if error.code not in self.kind.gone:
                    raise said(f"deleting {self.kind.noun} ({resource.id})", error) from error
        if self.kind.state:
            self._gone(resource)

    def _gone(self, resource: Existing) -> None:
        wait = Wait(self.aws, f"waiting for {self.kind.noun} ({resource.id}) delete", ABSENT, self.kind.minutes.delete)
        seen = partial(self._seen, resource, self.kind.state)
        wait.end(seen, lambda state: not state.upper().endswith("FAILED"), self._reasons)


def _accepted(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members without those that are None: a change that takes one away says so."""
    return {name: value for name, value in members.items() if value is not None}


def _input_shape(service: str, operation: str) -> Any:
    return service_model(service).operation_model(operation).input_shape


def _at(values: Mapping[str, Any], path: str) -> Any:
    found: Any = values
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    # Older resources of Terraform, which most are, do not tell an empty list or map from none.
    return None if found in ([], {}, "") else found
