"""What a search for advice found."""

from dataclasses import dataclass

from workbench.rehearsal.advice.edits import Edit
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.verdicts.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The change that was found, with its proof and its price.

    Parameters
    ----------
    edits
        Keys and new values; empty if nothing helps or nothing is missed.
    before, after
        Outcome of the stack as it is, and with the edits; the same if there are none.
    rehearsals, budget
        Number of rehearsals that ran, and the allowed maximum.
    patch
        Unified diff of the files, for ``git apply``; may be empty.
    unpatched
        Why the edits could not be written as a patch; empty if they could.
    refused
        Changes that were considered and that the stack file's own checks refuse, with their reason.
    ended
        How a control plane failed and so ended the search early; empty if none did. The first line names it, the others
        show the end of its log.
    """

    edits: tuple[Edit, ...]
    before: Outcome
    after: Outcome
    rehearsals: int
    budget: int
    patch: str = ""
    unpatched: str = ""
    refused: tuple[str, ...] = ()
    ended: str = ""

    @property
    def is_met(self) -> bool:
        """Whether every expectation is met with the edits."""
        return self.after.is_met

    @property
    def verdicts(self) -> tuple[tuple[Verdict, Verdict], ...]:
        """Verdict before and after, of each expectation."""
        return tuple(zip(self.before.verdicts, self.after.verdicts, strict=True))

    @property
    def usd(self) -> float | None:
        """What the scenario costs more (below 0: less) with the edits, in US dollars; None if a price is not known.

        It is the difference of the two prices in whole cents, as reports show them.
        """
        if not (self.before.costs and self.after.costs):
            return None
        before, after = self.before.costs.total, self.after.costs.total
        return None if before.unpriced or after.unpriced else round(round(after.usd, 2) - round(before.usd, 2), 2)

    @property
    def summary(self) -> str:
        """What was found, and whether the search ended early, in a few sentences."""
        missed = self.before.missed
        made = f"{self.rehearsals} of at most {self.budget} rehearsals"
        if not missed:
            return "All expectations are met; there is nothing to change."
        early = f" The search ended early: {self.ended.splitlines()[0]}" if self.ended else ""
        if not self.edits:
            return f"No change was found that meets more expectations ({made}).{early}"
        what = "; ".join(edit.text for edit in self.edits)
        if self.is_met:
            return f"All expectations are met with: {what} ({made}).{early}"
        met = missed - self.after.missed
        return f"The best change found meets {met} of {missed} missed expectations: {what} ({made}).{early}"
