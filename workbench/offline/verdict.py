"""Result of validating one resource's inputs against the cloud's own API description."""

from dataclasses import dataclass

from workbench.offline.provider import Problem


@dataclass
class Verdict:
    """Result of validating one resource.

    Parameters
    ----------
    problems
        Invalid values.
    judged, unknown, unmodelled
        Number of values that were validated, that are unknown yet, and that no model covers.
    """

    problems: list[Problem]
    judged: int = 0
    unknown: int = 0
    unmodelled: int = 0

    @property
    def figures(self) -> dict[str, int]:
        """The counts by name, for the journal."""
        return {"judged": self.judged, "unknown": self.unknown, "unmodelled": self.unmodelled}
