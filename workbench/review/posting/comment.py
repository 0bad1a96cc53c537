"""The one comment that a workflow keeps in a pull request."""

from enum import StrEnum
from typing import Final

from github import GithubException
from github.PullRequest import PullRequest
from github.Repository import Repository

from workbench.review.posting.workflow import Run, is_ours

FILES_MAX: Final = 3_000
"""Files of a pull request that GitHub lists: https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files."""

WORKFLOWS: Final = ".github/"
_GONE: Final = (404, 410)


class CommentResult(StrEnum):
    """Result of posting a comment, as text."""

    CREATED = "The comment was written."
    EDITED = "The comment was updated."
    UNCHANGED = "The comment is already up to date."
    STALE = "No open pull request has that commit as its head; nothing was written."
    GONE = "The pull request no longer exists; nothing was written."


def pull_request(repository: Repository, run: Run) -> PullRequest | None:
    """Return the open pull request of the run's commit; None if its head has moved or it was closed."""
    candidates = repository.get_pulls(state="open", base=run.base, head=f"{run.owner}:{run.branch}")
    head = (run.commit, run.branch, run.repository.lower())
    return next((p for p in candidates if (p.head.sha, p.head.ref, _name(p.head.repo)) == head), None)


def _name(repository: Repository | None) -> str:
    """Return ``owner/name`` in lower case; empty for a deleted fork."""
    return "" if repository is None else repository.full_name.lower()


def workflow_changes(pull: PullRequest) -> list[str]:
    """Return the files below ``.github/`` that the pull request changes.

    GitHub runs the pull request's own version of workflows, so the results of such a run cannot be trusted.
    """
    files = list(pull.get_files())
    names = {name for file in files for name in (file.filename, file.previous_filename) if name}
    # Files beyond the listing's limit are unknown, so they count as workflow changes.
    unseen = {WORKFLOWS} if len(files) >= FILES_MAX else set()
    return sorted({name for name in names if name.startswith(WORKFLOWS)} | unseen)


def marker(run: Run) -> str:
    """Return the hidden line that identifies a workflow's comment."""
    return f"<!-- igz-clusters: report of {run.workflow} -->"


def post(pull: PullRequest, run: Run, text: str) -> CommentResult:
    """Create or update the single comment of the run's workflow in a pull request.

    Raises
    ------
    GithubException
        GitHub refuses for a reason other than a deleted pull request.
    """
    body = f"{marker(run)}\n{text}"
    try:
        return _write(pull, run, body)
    except GithubException as error:
        if error.status in _GONE:
            return CommentResult.GONE
        raise


def _write(pull: PullRequest, run: Run, body: str) -> CommentResult:
    ours = [comment for comment in pull.get_issue_comments() if is_ours(comment, marker(run))]
    if not ours:
        pull.create_issue_comment(body)
        return CommentResult.CREATED
    first, *others = ours
    for other in others:  # duplicates of concurrent runs or lost responses
        other.delete()
    if first.body == body:
        return CommentResult.UNCHANGED
    first.edit(body)
    return CommentResult.EDITED
