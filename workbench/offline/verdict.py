"""What a cloud's own descriptions say about one resource's inputs."""

from dataclasses import dataclass

from workbench.offline.provider import Problem


@dataclass
class Verdict:
    """What the models say about one resource.

    Parameters
    ----------
    problems
        Values that the cloud would refuse.
    judged, unknown, unmodelled
        How many values were judged, are not known yet, and are covered by no model.
    """

    problems: list[Problem]
    judged: int = 0
    unknown: int = 0
    unmodelled: int = 0

    @property
    def figures(self) -> dict[str, int]:
        """The counts by name, for the journal."""
        return {"judged": self.judged, "unknown": self.unknown, "unmodelled": self.unmodelled}
