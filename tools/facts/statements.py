"""What a facts table says of inputs, with its source or marked as assumed; for the generators of facts tables.

A table says for every input what was asked of it, or the generator refuses it: nothing is true by default.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

ANSWERS: Final[Mapping[str, tuple[str, str]]] = {
    "declared": ("declared", "declared"),
    "replaced": ("replaced", "listed"),
    "accepted": ("change", "accepted"),
    "refused": ("change", "refused"),
    "keeps": ("absent", "keeps"),
    "resets": ("absent", "resets"),
    "refuses_absence": ("absent", "refused"),
    "never_cleared": ("cleared", "never"),
    "read_back": ("read", "read back"),
    "not_read_back": ("read", "not read back"),
}
"""Question and answer of each key of a statement."""


class Marked(BaseModel):
    """Something that has a source or is assumed.

    Parameters
    ----------
    source
        Key of the sources.
    assumed
        What to try in an account, instead of a source.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str = ""
    assumed: str = ""

    @model_validator(mode="after")
    def _is_marked(self) -> "Marked":
        if bool(self.source) == bool(self.assumed):
            raise ValueError("must have either a source or, under `assumed`, what to try")
        return self

    @property
    def mark(self) -> dict[str, str]:
        """The one that it has."""
        return {"source": self.source} if self.source else {"assumed": self.assumed}


class Statement(Marked):
    """What is said of some inputs, under one of ``ANSWERS``.

    Parameters
    ----------
    of
        The inputs with all that is inside them, unless a statement names that; ``*`` for all others.
    to
        The answer is about a change to this value alone.
    """

    question: str
    answer: str
    note: str = ""
    of: tuple[str, ...] = Field(min_length=1)
    to: bool | str | None = None

    @model_validator(mode="before")
    @classmethod
    def _answered(cls, given: Any) -> Any:
        keys = ANSWERS.keys() & given.keys()
        if len(keys) != 1:
            raise ValueError(f"must have one of {', '.join(ANSWERS)}")
        [key] = keys
        question, answer = ANSWERS[key]
        rest = {name: value for name, value in given.items() if name != key}
        return {**rest, "question": question, "answer": answer, "note": given[key] if given[key] is not True else ""}

    @property
    def row(self) -> dict[str, Any]:
        """The statement as the file has it."""
        optional = {"note": self.note, "to": self.to}
        told = {key: value for key, value in optional.items() if value not in ("", None)}
        return {"question": self.question, "answer": self.answer, "of": list(self.of), **told, **self.mark}


class Call(Marked):
    """What the plug-in does for an operation: requests in their order."""

    answer: tuple[str, ...] | str

    @property
    def row(self) -> dict[str, Any]:
        """The calls as the file has them."""
        return {"answer": self.answer if isinstance(self.answer, str) else list(self.answer), **self.mark}


class Retried(Marked):
    """Answers after which the plug-in asks again."""

    status: tuple[int, ...]
    code: str = ""

    @property
    def row(self) -> dict[str, Any]:
        """The answers as the file has them."""
        return {"status": list(self.status), **({"code": self.code} if self.code else {}), **self.mark}


class Refusal(Marked):
    """A refusal of the cloud to expect: its code, when it comes, whether it is retried, what to do instead."""

    code: str
    status: int
    when: str
    retried: bool
    instead: str

    @property
    def row(self) -> dict[str, Any]:
        """The refusal as the file has it."""
        return {**self.model_dump(exclude={"source", "assumed"}), **self.mark}


class File(BaseModel):
    """A source: a file of a repository at a commit or a release."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    file: str
    version: str
    year: int


class Page(BaseModel):
    """A source: a page, and when it said so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    page: str = Field(pattern="^https://")
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")


SOURCES: Final[TypeAdapter[dict[str, File | Page]]] = TypeAdapter(dict[str, File | Page])


def rows_of(statements: Iterable[Statement]) -> list[dict[str, Any]]:
    """Return statements as a file has them: one that says how to clear what is kept becomes two."""
    found = []
    for each in statements:
        found.append(each.row)
        if each.answer == "keeps" and each.note:
            found[-1].pop("note")
            found.append({**each.row, "question": "cleared", "answer": each.note})
            found[-1].pop("note")
    return found
