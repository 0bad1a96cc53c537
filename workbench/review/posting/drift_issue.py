"""The one issue that tells of clusters that differ from their state."""

from enum import StrEnum
from typing import Final

from github import GithubException
from github.Issue import Issue
from github.Repository import Repository

from workbench.review.posting.workflow import is_ours

LABEL: Final = "drift"
MARKER: Final = "<!-- igz-clusters: drift -->"
"""First line of the issue's text; readers do not see it."""

_EXISTS: Final = 422
"""What GitHub answers to a label that is there."""

_TITLE: Final = "Clusters differ from what Pulumi made"


class Settled(StrEnum):
    """What became of the issue, in words."""

    OPENED = "The issue was opened."
    UPDATED = "The issue was brought up to date."
    UNCHANGED = "The issue says the same already."
    CLOSED = "Nothing differs any more: the issue was closed."
    NOTHING = "Nothing differs, and there is no issue."


def settle(repository: Repository, text: str, *, differs: bool) -> Settled:
    """Open, update or close the issue.

    Parameters
    ----------
    text
        What it shall say.
    differs
        Whether there is anything to tell: drift, or something that could not be looked at.
    """
    open_ones = repository.get_issues(state="open", labels=[LABEL], sort="created", direction="asc")
    issue = next((each for each in open_ones if is_ours(each, MARKER)), None)
    body = f"{MARKER}\n{text}"
    if not differs:
        return _close(issue, body) if issue else Settled.NOTHING
    if issue is None:
        _require_label(repository)
        repository.create_issue(_TITLE, body, labels=[LABEL])
        return Settled.OPENED
    if issue.body == body:
        return Settled.UNCHANGED
    issue.edit(body=body)
    return Settled.UPDATED


def _close(issue: Issue, body: str) -> Settled:
    issue.edit(body=body, state="closed", state_reason="completed")
    return Settled.CLOSED


def _require_label(repository: Repository) -> None:
    try:
        repository.create_label(LABEL, "d93f0b", "A cluster differs from what Pulumi made")
    except GithubException as error:
        if error.status != _EXISTS:
            raise
