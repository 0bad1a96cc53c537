"""``policies/overrides.yaml``: accepted violations, approved changes, and rules that remediate.

The file is kept next to the stack files so that it is reviewed. Waivers reach the packs as the engine's policy
configuration.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import Field, ValidationError

from components.contract.choices import ContractModel
from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE
from infra.config import Problem
from infra.config.problems import problems_of
from policies.registry import RULES
from policies.rule import Rule
from policies.waivers import Accepted, Approval, Waiver
from workbench import stacks
from workbench.stacks import StackFileError
from workbench.stacks.file_problems import content_of, located
from workbench.system.files import write_private

FILE: Final = Path("policies") / "overrides.yaml"
"""Path of the file inside the folder of the stack files."""

_PACKS: Final = "PULUMI_OPTION_POLICY_PACK"
_CONFIGURATIONS: Final = "PULUMI_OPTION_POLICY_PACK_CONFIG"
_VARIABLES: Final = (_PACKS, _CONFIGURATIONS, GUARD_VARIABLE)
_IDS: Final = {rule.id for rule in RULES}
_WITH_REMEDY: Final = tuple(rule.id for rule in RULES if rule.remedy)


class Overrides(ContractModel):
    """The content of ``policies/overrides.yaml``."""

    waivers: tuple[Waiver, ...] = Field((), description="Accepted violations.")
    approvals: tuple[Approval, ...] = Field(
        (), description="Approved replacements and deletions of protected resources."
    )
    remediate: tuple[str, ...] = Field((), description="Ids of the rules that remediate violations, in every stack.")

    def configuration(self, stack: str) -> dict[str, Any]:
        """Return the engine's policy configuration for ``stack``: entries by policy, of all packs."""
        entries = dict[str, Any]()
        for rule in RULES:
            rows = [w.model_dump(mode="json") for w in self.waivers if (w.rule, w.stack) == (rule.id, stack)]
            if rule.id in self.remediate:
                entries[rule.name] = policy_entry(rule, level="remediate", waivers=rows)
            elif rows:
                entries[rule.name] = policy_entry(rule, waivers=rows)
        return entries


def read() -> Overrides:
    """Return the overrides in the folder of the stack files; empty if the file does not exist.

    Raises
    ------
    StackFileError
        The file cannot be read or is invalid; lists all problems at once.
    """
    file = stacks.folder() / FILE
    if not file.exists():
        return Overrides()
    if isinstance(source := content_of(file), Problem):
        raise StackFileError(file, [source])
    problems = list(source.problems)
    try:
        overrides = Overrides.model_validate(source.document or {})
        problems += _unfit(overrides)
    except ValidationError as error:
        problems += problems_of(error, Overrides)
    if problems:
        raise StackFileError(file, [located(problem, source) for problem in problems])
    return overrides


def _unfit(overrides: Overrides) -> Iterator[Problem]:
    for index, waiver in enumerate(overrides.waivers):
        if waiver.rule not in _IDS:
            message = "unknown; `igz-clusters policy list` lists all rules"
            yield Problem(("waivers", index, "rule"), message, waiver.rule)
    rows: dict[str, tuple[Accepted, ...]] = {"waivers": overrides.waivers, "approvals": overrides.approvals}
    for key, accepted in rows.items():
        for index, row in enumerate(accepted):
            if row.stack not in stacks.stack_files():
                yield Problem((key, index, "stack"), "unknown stack", row.stack, tuple(stacks.stack_files()))
            if row.expires > (last := row.last_day()):
                yield Problem(
                    (key, index, "expires"),
                    f"is too late, at most {last}",
                    str(row.expires),
                )
    for index, rule in enumerate(overrides.remediate):
        if rule not in _WITH_REMEDY:
            yield Problem(("remediate", index), "cannot remediate violations automatically", rule, _WITH_REMEDY)


def pack_configuration(stack: str) -> dict[str, Any]:
    """Return the engine's policy configuration for ``stack`` of the overrides as they are now.

    Raises
    ------
    StackFileError
        As ``read`` does. An expired waiver raises nothing here: the packs report it and fail the run.
    """
    return read().configuration(stack)


def policy_entry(rule: Rule[Any], level: str | None = None, **settings: Any) -> dict[str, Any]:
    """Return a rule's entry in the engine's policy configuration, with the rule's own level by default.

    The engine rejects an entry without a level.
    """
    return {"enforcementLevel": level or rule.declared_level.value, **settings}


def attaching(packs: Sequence[Path], configuration: Mapping[str, Any], file: Path) -> dict[str, str]:
    """Write the packs' configuration to ``file`` and return the environment that attaches the packs.

    Also an empty configuration: without it, another stack's would count whose variables `env` exported.
    """
    write_private(file, json.dumps(configuration, indent=2))
    return {
        _PACKS: ",".join(map(str, packs)),
        # The engine pairs packs and files by position; each pack ignores entries of the other.
        _CONFIGURATIONS: ",".join([str(file)] * len(packs)),
        GUARD_VARIABLE: ATTACHED,
    }


def detached(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables that attach packs."""
    return {name: value for name, value in variables.items() if name not in _VARIABLES}
