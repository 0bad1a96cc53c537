"""Renders changes as Markdown: losses first, one by one; creations and updates grouped by type."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, TypeVar

from workbench.report.approvals import rows_for
from workbench.report.folding import Folding
from workbench.report.markup import VALUE_MAX, code, folded, names, prose
from workbench.report.model import Change, Danger, Operation, PropertyChange, Source, StackReport
from workbench.report.words import DESTRUCTIVE, OPERATIONS, count

SHORT_NAME: Final = 60
_REASON_MAX: Final = 200
_FORCING_MAX: Final = 10
_KINDS_SHOWN: Final = 12
_INLINE_MAX: Final = 6
"""Number of names shown in one line; more become a list."""

_LAST_DAY: Final = "LAST DAY, AT MOST 14 DAYS AHEAD"
_SHOWN_AT_ONCE: Final = 12
"""Number of resources shown directly; longer lists are collapsed."""

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def dangers(stack: StackReport, step: Folding) -> Iterator[str]:
    """Return the dangers, one line each."""
    if stack.dangers:
        yield "#### Dangers"
        yield "\n".join(_danger(danger, step) for danger in stack.dangers)
    unapproved = [danger for danger in stack.dangers if not danger.approval]
    if unapproved and step < Folding.FIXES and stack.source in (Source.RENDERED, Source.COMPARED):
        yield "To approve, add to `policies/overrides.yaml` of the base branch:"
        yield f"```yaml\n{rows_for(unapproved, stack.stack, expires=_LAST_DAY)}\n```"


def losses(stack: StackReport, step: Folding) -> Iterator[str]:
    """Return other replaced or deleted resources, those that lose data first; equal ones share a line."""
    dangerous = {danger.change.urn for danger in stack.dangers}
    lost = [c for c in stack.changes if c.operation in DESTRUCTIVE and c.urn not in dangerous]
    if lost:
        yield "#### Replaced and deleted" if not stack.dangers else "#### Also replaced and deleted"
        yield "\n".join(_lost(lost, step))


def gains(stack: StackReport, step: Folding) -> Iterator[str]:
    """Return created and updated resources, by type."""
    by_operation = _grouped(
        (change.operation, change) for change in stack.changes if change.operation not in DESTRUCTIVE
    )
    if not by_operation:
        return
    body = [line for operation, changes in by_operation.items() for line in _gain(operation, changes, step)]
    total = ", ".join(f"{OPERATIONS[operation].lower()} {len(some):,}" for operation, some in by_operation.items())
    is_short = sum(map(len, by_operation.values())) <= _SHOWN_AT_ONCE
    if not is_short:
        yield "\n".join(_glance(operation, changes) for operation, changes in by_operation.items())
    if step < Folding.NAMES:
        yield folded(f"{total.capitalize()}, by kind", "\n".join(body), is_open=is_short)


def _danger(danger: Danger, step: Folding) -> str:
    change = danger.change
    limits = {"limit": SHORT_NAME} if step >= Folding.NAMES else {}
    texts = [f"- **{OPERATIONS[change.operation]} {prose(danger.kind)}** {code(change.name, **limits)}"]
    if step < Folding.NAMES:
        texts.append(f"({code(change.type)}).{_why(change, step)}")
    if not danger.approval:
        texts.append("**Not approved.**")
    elif danger.is_new:
        texts.append(
            f"**Approved only by a row that this change adds or alters:** {prose(danger.approval, _REASON_MAX)}"
        )
    else:
        texts.append(f"Approved: {prose(danger.approval, _REASON_MAX)}")
    return " ".join(texts)


def _lost(changes: list[Change], step: Folding) -> Iterator[str]:
    first = sorted(changes, key=_rank)
    if step >= Folding.NAMES:
        for operation, some in _grouped((change.operation, change) for change in first).items():
            yield f"- **{OPERATIONS[operation]}** {len(some):,}: {names((c.name for c in some), SHORT_NAME)}"
        return
    groups = _grouped(((c.operation, c.type, _why(c, step)), c) for c in first).items()
    # Single resources first, before their dependents, such as the tags of a group.
    for (operation, token, why), some in sorted(groups, key=lambda each: (*_rank(each[1][0]), len(each[1]))):
        number = "" if len(some) == 1 else f" {len(some):,}"
        yield from _line(f"- **{OPERATIONS[operation]}**{number} {code(token)}", [c.name for c in some], f".{why}")


def _line(head: str, found: list[str], tail: str = "") -> Iterator[str]:
    """Return a line with names, or with a list of them below it."""
    if len(found) <= _INLINE_MAX:
        yield f"{head}: {names(found)}{tail}"
    else:
        yield f"{head}{tail}"
        yield from (f"  - {code(name)}" for name in found)


def _rank(change: Change) -> tuple[bool, int]:
    return not change.carries_state, DESTRUCTIVE.index(change.operation)


def _why(change: Change, step: Folding) -> str:
    """Return the cause and cost of a change, as sentences with a leading space."""
    forcing = [each for each in change.properties if each.forces_replacement]
    text = ""
    if forcing:
        rest = f" and {len(forcing) - _FORCING_MAX} more" if len(forcing) > _FORCING_MAX else ""
        text += f" Forced by {', '.join(_property(each, step) for each in forcing[:_FORCING_MAX])}{rest}."
    if change.carries_state:
        text += f" Lost with it: {prose(change.carries_state, _REASON_MAX)}."
    return text + (" The engine refuses it: it is protected." if change.protected else "")


def _gain(operation: Operation, changes: list[Change], step: Folding) -> Iterator[str]:
    word = OPERATIONS[operation]
    for token, some in sorted(_grouped((change.type, change) for change in changes).items()):
        if step >= Folding.UPDATES:
            yield f"- {word} {len(some):,} {code(token)}"
        elif operation is Operation.UPDATE:
            yield f"- {word} {len(some):,} {code(token)}"
            yield from (f"  - {code(change.name)}{_updated(change, step)}" for change in some)
        else:
            yield from _line(f"- {word} {len(some):,} {code(token)}", [change.name for change in some])


def _updated(change: Change, step: Folding) -> str:
    return ": " + ", ".join(_property(each, step) for each in change.properties) if change.properties else ""


def _property(change: PropertyChange, step: Folding) -> str:
    if step >= Folding.VALUES or change.before is change.after is None:
        return code(change.path)
    before, after = ("(none)" if value is None else code(value, VALUE_MAX) for value in (change.before, change.after))
    return f"{code(change.path)} from {before} to {after}"


def _glance(operation: Operation, changes: list[Change]) -> str:
    """Return a line with the most frequent types."""
    kinds = _grouped((change.type, change) for change in changes)
    often = sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0]))
    shown = ", ".join(
        f"{code(token.rpartition(':')[2], SHORT_NAME)} {len(some):,}" for token, some in often[:_KINDS_SHOWN]
    )
    rest = f", and {count(len(often) - _KINDS_SHOWN, 'kind')} more" if len(often) > _KINDS_SHOWN else ""
    return f"- **{OPERATIONS[operation]} {len(changes):,}**: {shown}{rest}"


def _grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return values grouped by key, in order of first appearance."""
    groups: dict[K, list[T]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
