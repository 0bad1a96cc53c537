"""Facts about the run from GitHub itself; artifacts are untrusted and cannot identify it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from github import Auth, Github, GithubRetry
from github.Repository import Repository
from pydantic import BaseModel, Field, ValidationError

from workbench.system.errors import UserError

LONGEST_WAIT: Final = 300.0
"""Maximum seconds to wait for a rate limit to reset; a job has minutes, not an hour."""

PAGE: Final = 100
"""Entries per page, GitHub's maximum."""

PAUSE: Final = 1.0
"""Seconds between two writes, as GitHub recommends:
https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api."""

AUTHOR_VARIABLE: Final = "IGZ_CLUSTERS_AUTHOR"
"""Names the account that writes our comments and issues, if it is not the workflow's own."""

AUTHOR: Final = "github-actions[bot]"
"""Account name of a workflow's own token:
https://docs.github.com/en/actions/concepts/security/github_token."""

_Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]


class _Owned(BaseModel):
    full_name: Annotated[str, Field(pattern=r"^[^/\s]+/[^/\s]+$")]


class _Home(_Owned):
    default_branch: str


class _Run(BaseModel):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z-]*$")]
    event: str
    html_url: str
    conclusion: str
    head_branch: str
    head_sha: _Commit
    head_repository: _Owned


class _Event(BaseModel):
    workflow_run: _Run
    repository: _Home


@dataclass(frozen=True)
class Run:
    """A finished workflow run with a record.

    Parameters
    ----------
    workflow
        Its name, such as ``render``.
    address, conclusion
        Its URL, and its conclusion, such as ``success``.
    repository, branch, commit
        Its head: ``owner/name`` of the repository, which may be a fork, the branch, and the full commit id.
    base
        The base branch of its pull request.
    """

    workflow: str
    address: str
    conclusion: str
    repository: str
    branch: str
    commit: str
    base: str

    @property
    def owner(self) -> str:
        """Owner of the head's repository."""
        return self.repository.partition("/")[0]


def run_of_event() -> Run:
    """Return the run that triggered this one, from the file in ``GITHUB_EVENT_PATH``.

    Raises
    ------
    UserError
        The file is missing, or this run was not triggered by the end of a pull request's run.
    """
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    hint = "This command is for a workflow that `on: workflow_run` starts; docs/pull-requests.md shows it."
    try:
        event = _Event.model_validate(json.loads(Path(path).read_bytes()) if path else {})
    except (OSError, ValueError) as error:
        reason = _problems(error) if isinstance(error, ValidationError) else str(error)
        raise UserError(
            f"GITHUB_EVENT_PATH ({path or 'not set'}) does not describe a finished run: {reason}.", hint
        ) from None
    run = event.workflow_run
    if run.event != "pull_request":
        raise UserError(f"The run {run.html_url} was triggered by '{run.event}', not by a pull request.", hint)
    base = event.repository.default_branch
    head = (run.head_repository.full_name, run.head_branch, run.head_sha)
    return Run(run.name, run.html_url, run.conclusion, *head, base)


def own_repository() -> Repository:
    """Return the repository of the workflow, without a request yet.

    Raises
    ------
    UserError
        Variables are missing; lists all of them.
    """
    given = {name: os.environ.get(name, "") for name in ("GITHUB_TOKEN", "GITHUB_REPOSITORY")}
    if missing := [name for name, value in given.items() if not value]:
        raise UserError(f"Not set: {', '.join(missing)}.", "A workflow sets them; docs/pull-requests.md shows it.")
    github = Github(
        auth=Auth.Token(given["GITHUB_TOKEN"]),
        base_url=os.environ.get("GITHUB_API_URL") or "https://api.github.com",
        per_page=PAGE,
        retry=GithubRetry(total=5, backoff_factor=PAUSE / 2, max_rate_limit_wait=LONGEST_WAIT),
        seconds_between_requests=None,
        seconds_between_writes=PAUSE,
        lazy=True,
    )
    return github.get_repo(given["GITHUB_REPOSITORY"])


def is_ours(written: Any, marker: str) -> bool:
    """Return whether a comment or issue is ours: written by our account and starting with our marker."""
    author = os.environ.get(AUTHOR_VARIABLE) or AUTHOR
    return written.user is not None and written.user.login == author and (written.body or "").startswith(marker)


def _problems(error: ValidationError) -> str:
    return ", ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}" for e in error.errors(include_url=False))
