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


class Posted(StrEnum):
    """What became of a comment, in words."""

    CREATED = "The comment was written."
    EDITED = "The comment was brought up to date."
    UNCHANGED = "The comment says the same already."
    STALE = "No open pull request has that commit as its head any more: nothing was written."
    GONE = "The pull request is gone: nothing was written."


def pull_request(repository: Repository, run: Run) -> PullRequest | None:
    """Return the open pull request whose head is what the run ran on, None if the head moved on or it was closed."""
    candidates = repository.get_pulls(state="open", base=run.base, head=f"{run.owner}:{run.branch}")
    wanted = (run.commit, run.branch, run.repository.lower())
    return next((p for p in candidates if (p.head.sha, p.head.ref, _name(p.head.repo)) == wanted), None)


def _name(repository: Repository | None) -> str:
    """Return ``owner/name`` in lower case; empty for a fork that was deleted."""
    return "" if repository is None else repository.full_name.lower()


def workflow_changes(pull: PullRequest) -> list[str]:
    """Return what the pull request changes below ``.github/``, where the workflows are.

    GitHub runs a pull request's own version of them, so what such a run says about itself proves nothing.
    """
    files = list(pull.get_files())
    names = {name for file in files for name in (file.filename, file.previous_filename) if name}
    # What is beyond the end of the list nobody sees, so it is taken for a change of them.
    unseen = {WORKFLOWS} if len(files) >= FILES_MAX else set()
    return sorted({name for name in names if name.startswith(WORKFLOWS)} | unseen)


def marker(run: Run) -> str:
    """Return the line by which the comment of a workflow is found again; readers do not see it."""
    return f"<!-- igz-clusters: report of {run.workflow} -->"


def post(pull: PullRequest, run: Run, text: str) -> Posted:
    """Make ``text`` the comment of the run's workflow in a pull request: there is one, however often this is called.

    Raises
    ------
    GithubException
        GitHub refuses, for another reason than that the pull request is gone.
    """
    body = f"{marker(run)}\n{text}"
    try:
        return _write(pull, run, body)
    except GithubException as error:
        if error.status in _GONE:
            return Posted.GONE
        raise


def _write(pull: PullRequest, run: Run, body: str) -> Posted:
    ours = [comment for comment in pull.get_issue_comments() if is_ours(comment, marker(run))]
    if not ours:
        pull.create_issue_comment(body)
        return Posted.CREATED
    first, *others = ours
    for other in others:  # two runs at once, or an answer that got lost, wrote it twice
        other.delete()
    if first.body == body:
        return Posted.UNCHANGED
    first.edit(body)
    return Posted.EDITED
