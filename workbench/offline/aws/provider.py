"""Offline stand-in for Pulumi's AWS plug-in: plans with dated provider facts and creates nothing."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pulumi.runtime.proto.provider_pb2 import PropertyDiff
from typing_extensions import override

from workbench.offline.aws.facts import facts, resource
from workbench.offline.aws.inputs import TABLE, children
from workbench.offline.aws.models import judge
from workbench.offline.facts import Input
from workbench.offline.properties import UNKNOWN, Secret, Unknown, secret
from workbench.offline.provider import FORCED, Changed, Checked, Kind, Problem, Provider

AUTO_NAMED: Final = ("name", "nodeGroupName")
"""Inputs that Pulumi's plug-in fills with the logical name and a random suffix, unless their prefix is given.

Source: pulumi/pulumi-aws, provider/resources.go, ``SetAutonaming`` and ``AutoName``.
"""

RANDOM_LENGTH: Final = 7
"""Characters of the random suffix."""

WITHOUT_ALL_TAGS: Final = frozenset(
    {
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    }
)
"""Types of Terraform's plugin framework, for which the plug-in adds no ``tagsAll``."""


class OfflineAws(Provider):
    """Checks and compares inputs of AWS resources without an account."""

    def __init__(self) -> None:
        super().__init__(
            "aws",
            facts().release,
            f"Offline stand-in for Pulumi's AWS provider (facts of {facts().read_on}). It creates nothing.",
            # Source: hashicorp/terraform-provider-aws, internal/provider/sdkv2/region.go.
            frozenset({"region"}),
        )
        self._default_tags: dict[str, Any] | Unknown = {}

    @override
    def configure(self, config: dict[str, Any]) -> None:
        given = config.get("defaultTags") or {}
        # Provider configuration arrives as text.
        read = json.loads(given) if isinstance(given, str) else given
        tags = UNKNOWN if read is UNKNOWN else read.get("tags") or {}
        self._default_tags = secret(tags) if isinstance(given, Secret) else tags

    def all_tags(self, type_: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input ``tagsAll`` that the plug-in's check adds: the tags, over the provider's default tags.

        Source: pulumi/pulumi-aws, provider/tags.go, ``applyTags``, from release 7 on.
        """
        if type_ not in facts().resources or "tags" not in children(type_, "") or type_ in WITHOUT_ALL_TAGS:
            return {}
        return {"tagsAll": self.tags_of(inputs)}

    def tags_of(self, inputs: Mapping[str, Any]) -> dict[str, Any] | Unknown:
        """Return a resource's tags: its own merged over the provider's defaults."""
        default, own = self._default_tags, inputs.get("tags") or {}
        if isinstance(default, Unknown) or isinstance(own, Unknown) or UNKNOWN in (*default.values(), *own.values()):
            return UNKNOWN
        return {**default, **own}

    @override
    def check(self, type_: str, name: str, inputs: dict[str, Any], *, seed: bytes, kept: dict[str, Any]) -> Checked:
        if type_ not in facts().resources:
            return Checked((Problem("", f"the offline provider does not know {type_}: add it to {TABLE}"),))
        filled = {key: kept.get(key) or _automatic_name(type_, name, seed) for key in _to_name(type_, inputs)}
        verdict = judge(type_, {**inputs, **filled})
        # One problem per path; the provider's own rules take precedence over AWS's.
        problems = {
            problem.path: problem for problem in [*verdict.problems, *_unknown_or_missing(type_, "", "", inputs)]
        }
        ordered = tuple(problems[path] for path in sorted(problems))
        return Checked(ordered, filled, self.all_tags(type_, inputs), verdict.figures)

    @override
    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        changes = dict(_changes(type_, "", "", old, new))
        changes.update(_change(type_, _ALL_TAGS, _ALL_TAGS.path, old.get(_ALL_TAGS.path), new.get(_ALL_TAGS.path)))
        planned = {path: (known, kind) for path, (known, kind) in changes.items() if kind is not None}
        kinds = {path: FORCED[kind] if _forces(known, kind) else kind for path, (known, kind) in planned.items()}
        # A name set by the program can be used by only one resource at a time.
        # Source: pulumi/pulumi-terraform-bridge, nameRequiresDeleteBeforeReplace.
        fixed = any(key in new and key not in filled for key in AUTO_NAMED if key in children(type_, ""))
        changed = Changed(kinds, delete_first=fixed or resource(type_).deleted_first)
        if changed.replaces:  # the new resource gets what its inputs say, and nothing else
            return changed
        warnings = (_warning(type_, path, *change) for path, change in changes.items())
        return replace(changed, warnings=tuple(each for each in warnings if each))

    @override
    def foreseen(self, type_: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        again = resource(type_).recomputed
        return super().foreseen(type_, inputs, {name: value for name, value in outputs.items() if name not in again})


_ALL_TAGS: Final = Input("tagsAll", "map", required=False, change="update")
"""Not an input of programs, so not in the facts."""


def _to_name(type_: str, inputs: Mapping[str, Any]) -> Iterator[str]:
    known = children(type_, "")
    for key in AUTO_NAMED:
        if key in known and key not in inputs and f"{key}Prefix" not in inputs:
            yield key


def _automatic_name(type_: str, name: str, seed: bytes) -> str:
    end = hashlib.sha256(seed + type_.encode() + name.encode()).hexdigest()[:RANDOM_LENGTH]
    prefix = "alias/" if type_ == "aws:kms/alias:Alias" else ""
    return f"{prefix}{name}-{end}"


def _unknown_or_missing(type_: str, fact: str, path: str, value: Any) -> Iterator[Problem]:
    """Yield a problem for each unknown input and each missing required one."""
    known = children(type_, fact)
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from _unknown_or_missing(type_, fact, f"{path}[{index}]", element)
    elif isinstance(value, dict) and known:
        for key, inner in value.items():
            where = f"{path}.{key}" if path else key
            if key in known:
                yield from _unknown_or_missing(type_, known[key].path, where, inner)
            else:
                yield Problem(where, f"unknown input of {type_} in {facts().release} (facts: {TABLE})")
        for key in (key for key, each in known.items() if each.required and key not in value):
            yield Problem(f"{path}.{key}" if path else key, f"required by {type_}, but not given")


def _changes(type_: str, fact: str, path: str, old: Any, new: Any) -> Iterator[tuple[str, tuple[Input, Kind | None]]]:
    """Return the kind of change by path, to the depth that both sides share; None where AWS keeps a removed input."""
    for key in sorted(old.keys() | new.keys()):
        known = children(type_, fact).get(key)
        if known:
            where = f"{path}.{key}" if path else key
            yield from _change(type_, known, where, old.get(key), new.get(key))


def _change(type_: str, known: Input, path: str, old: Any, new: Any) -> Iterator[tuple[str, tuple[Input, Kind | None]]]:
    if _same(known, old, new):
        return
    is_gone = _empty(new) if known.kind == "object" else new is None
    if is_gone and not known.required and resource(type_).if_absent(known.path) == "keeps":
        yield path, (known, None)
    elif _empty(old) or _empty(new):
        yield path, (known, PropertyDiff.ADD if _empty(old) else PropertyDiff.DELETE)
        if isinstance(old or new, dict):
            # The whole object is added or removed, and a member may force a replacement.
            inside = _changes(type_, known.path, path, old or {}, new or {})
            yield from ((where, (inner, kind)) for where, (inner, kind) in inside if _forces(inner, kind))
    elif isinstance(old, dict) and isinstance(new, dict) and children(type_, known.path):
        yield from _changes(type_, known.path, path, old, new)
    elif isinstance(old, list) and isinstance(new, list) and known.kind == "list" and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            if isinstance(before, dict) and isinstance(after, dict):
                yield from _changes(type_, known.path, f"{path}[{index}]", before, after)
            elif before != after:
                yield f"{path}[{index}]", (known, PropertyDiff.UPDATE)
    else:
        yield path, (known, PropertyDiff.UPDATE)


def _same(known: Input, old: Any, new: Any) -> bool:
    if known.kind == "set" and isinstance(old, list) and isinstance(new, list):
        return Counter(map(_text, old)) == Counter(map(_text, new))
    return bool(old == new) or (_empty(old) and _empty(new))


def _empty(value: Any) -> bool:
    # Terraform's SDKv2 resources do not distinguish an empty list or map from a missing one.
    return value is None or value in ([], {})


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _warning(type_: str, path: str, known: Input, kind: Kind | None) -> str:
    """Return a warning about an unexpected effect of a change, without values, which may be secret; empty if none."""
    if kind is None or (kind == PropertyDiff.DELETE and resource(type_).if_absent(known.path) == "stays"):
        return facts().kept("AWS", path, resource(type_), known.path)
    if known.change == "ignored":
        return (
            f"{path} changes, but AWS keeps the old value: the provider sends no request for it. "
            "Change it back, or replace the resource."
        )
    return ""


def _forces(known: Input, kind: Kind | None) -> bool:
    return kind is not None and (
        known.change == "replace"
        or (known.change == "replace if removed" and kind == PropertyDiff.DELETE)
        or (known.change == "replace once set" and kind != PropertyDiff.ADD)
        or (known.change == "replace if exchanged" and kind != PropertyDiff.UPDATE)
    )


PROVIDER: Final = OfflineAws
