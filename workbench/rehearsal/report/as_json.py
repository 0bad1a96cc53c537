"""Outcomes as JSON, for scripts; ``docs/rehearsal-report.schema.json`` describes them.

``python -m workbench.rehearsal.report.as_json --write`` renews the schema.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import WithDefaultSchema
from typing_extensions import override

from workbench.rehearsal.advice.advice import Advice
from workbench.rehearsal.duel.table import Duel
from workbench.rehearsal.outcome import Outcome, deciding
from workbench.rehearsal.report.comparison import Comparison
from workbench.rehearsal.report.figures import headline, pools, works
from workbench.rehearsal.report.shape import (
    AdviceShape,
    AdvisedShape,
    ComparisonShape,
    DuelShape,
    OutcomeShape,
    ReportShape,
)
from workbench.system.paths import APP, PROJECT_ROOT

SCHEMA_VERSION: Final = 1
SCHEMA: Final = PROJECT_ROOT / "docs" / "rehearsal-report.schema.json"


def render(
    outcomes: Sequence[Outcome],
    comparisons: Iterable[Comparison] = (),
    advice: Iterable[Advice] = (),
    duels: Iterable[Duel] = (),
) -> str:
    """Return outcomes, comparisons, duels and advice as one JSON object; identical outcomes differ in its time only."""
    # ASCII only, so that a terminal interprets nothing in it. Without indents it takes a tenth of the time.
    return json.dumps(document(outcomes, comparisons, advice, duels), allow_nan=False) + "\n"


def document(
    outcomes: Sequence[Outcome],
    comparisons: Iterable[Comparison] = (),
    advice: Iterable[Advice] = (),
    duels: Iterable[Duel] = (),
) -> dict[str, Any]:
    """Return outcomes, comparisons, duels and advice as an object of ``ReportShape``."""
    judged = deciding(outcomes)
    report = ReportShape(
        schema_version=SCHEMA_VERSION,
        release=version(APP),
        made=datetime.now(UTC).replace(microsecond=0),
        headline=headline(judged),
        is_met=all(outcome.is_met for outcome in judged),
        outcomes=tuple(map(_outcome, outcomes)),
        comparisons=tuple(map(ComparisonShape.model_validate, comparisons)),
        duels=tuple(map(DuelShape.model_validate, duels)),
        advice=tuple(map(_advice, advice)),
    )
    return report.model_dump(mode="json", by_alias=True)


def _outcome(outcome: Outcome) -> OutcomeShape:
    fields = {name: getattr(outcome, name) for name in OutcomeShape.model_fields if hasattr(outcome, name)}
    figures = {"pools": pools(outcome), "works": works(outcome.record) if outcome.record else ()}
    return OutcomeShape.model_validate({**fields, **figures})


def _advice(advice: Advice) -> AdviceShape:
    return AdviceShape(
        stack=advice.before.stack,
        scenario=advice.before.scenario,
        summary=advice.summary,
        edits=tuple(edit.text for edit in advice.edits),
        is_met=advice.is_met,
        expectations=tuple(
            AdvisedShape(expectation=old.expectation, before=old.is_met, after=new.is_met, measured=new.measured)
            for old, new in advice.verdicts
        ),
        usd=advice.usd,
        rehearsals=advice.rehearsals,
        budget=advice.budget,
        patch=advice.patch,
        unpatched=advice.unpatched,
        refused=advice.refused,
        ended=advice.ended,
    )


class _Schema(GenerateJsonSchema):
    """Schema of objects that are always written in full: every key is present, so none has a default."""

    @override
    def field_is_required(self, *_: Any, **__: Any) -> bool:
        return True

    @override
    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def schema() -> str:
    """Return the JSON schema of reports."""
    shape = ReportShape.model_json_schema(mode="serialization", schema_generator=_Schema)
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **shape}, indent=2)
    return text.replace("``", "`") + "\n"  # as in Markdown, not in docstrings


def main() -> None:
    """Write the schema to its file."""
    SCHEMA.write_text(schema(), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m workbench.rehearsal.report.as_json --write")
    main()
