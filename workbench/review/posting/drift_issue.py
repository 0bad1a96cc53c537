"""The single issue that reports drifted clusters."""

from enum import StrEnum
from typing import Final

from github import GithubException
from github.Issue import Issue
from github.Repository import Repository

from workbench.review.posting.workflow import is_ours

LABEL: Final = "drift"
MARKER: Final = "<!-- igz-clusters: drift -->"
"""Hidden first line of the issue's text."""

_EXISTS: Final = 422
"""GitHub's status for a label that already exists."""

_TITLE: Final = "Clusters have drifted from their Pulumi state"


class IssueResult(StrEnum):
    """Result of updating the issue, as text."""

    OPENED = "The issue was opened."
    UPDATED = "The issue was updated."
    UNCHANGED = "The issue is already up to date."
    KEPT = "No drift was found, but not everything was compared: the issue stays open."
    CLOSED = "No drift remains; the issue was closed."
    NOTHING = "No drift, and no open issue."


def settle(repository: Repository, text: str, *, differs: bool, is_partial: bool = False) -> IssueResult:
    """Open, update or close the issue.

    Parameters
    ----------
    text
        Text of the issue.
    differs
        Whether there is anything to report: drift, or a stack that could not be compared.
    is_partial
        Whether a part was left out of a comparison. That opens no issue, and does not close one: the drift that it
        reports may be in that part.
    """
    open_ones = repository.get_issues(state="open", labels=[LABEL], sort="created", direction="asc")
    issue = next((each for each in open_ones if is_ours(each, MARKER)), None)
    body = f"{MARKER}\n{text}"
    if issue is None:
        return _open(repository, body) if differs else IssueResult.NOTHING
    if not differs:  # an issue that is kept shows the drift that may remain
        return IssueResult.KEPT if is_partial else _close(issue, body)
    if issue.body == body:
        return IssueResult.UNCHANGED
    issue.edit(body=body)
    return IssueResult.UPDATED


def _open(repository: Repository, body: str) -> IssueResult:
    _require_label(repository)
    repository.create_issue(_TITLE, body, labels=[LABEL])
    return IssueResult.OPENED


def _close(issue: Issue, body: str) -> IssueResult:
    issue.edit(body=body, state="closed", state_reason="completed")
    return IssueResult.CLOSED


def _require_label(repository: Repository) -> None:
    try:
        repository.create_label(LABEL, "d93f0b", "A cluster has drifted from its Pulumi state")
    except GithubException as error:
        if error.status != _EXISTS:
            raise
