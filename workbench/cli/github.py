"""Commands for workflows: comment on pull requests and report drift on GitHub."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from workbench.cli.console import out
from workbench.report.model import Outcome
from workbench.system.errors import UserError

# GitHub's client is imported where it is used: no other command needs it.

_REFUSED: Final = "Check the job's `permissions`; docs/pull-requests.md lists what it needs."


def comment(
    record: Annotated[
        Path,
        typer.Argument(
            help="Folder that `igz-clusters review` wrote, or a folder of such folders; may be missing.",
            metavar="RECORD",
        ),
    ],
) -> None:
    """Post a review's report as a pull request comment.

    Runs in a workflow that the end of the review triggers, and keeps one comment for each pull request. GitHub's event
    alone identifies the pull request. A report is not posted if its commit is no longer the head of an open pull
    request. If the record cannot be read, the comment says so.
    """
    from workbench.review.posting import comment as comments  # noqa: PLC0415
    from workbench.review.posting import texts  # noqa: PLC0415
    from workbench.review.posting.workflow import own_repository, run_of_event  # noqa: PLC0415

    run = run_of_event()
    with _github():
        pull = comments.pull_request(own_repository(), run)
        posted = comments.CommentResult.STALE
        if pull is not None:
            posted = comments.post(pull, run, texts.comment(record, run, comments.workflow_changes(pull)))
    out.print(posted.value, highlight=False)


def drift_issue(
    streams: Annotated[
        Path, typer.Argument(help="Folder with event streams: STACK.jsonl for each stack.", metavar="DIR")
    ],
    stacks: Annotated[list[str], typer.Argument(help="Stacks that were compared.", metavar="STACK...")],
) -> None:
    """Open, update or close the GitHub issue about drift.

    A stack without an event stream is reported as not judged. The issue stays open as long as a part is not compared.
    """
    from workbench.review.posting import texts  # noqa: PLC0415
    from workbench.review.posting.drift_issue import settle  # noqa: PLC0415
    from workbench.review.posting.workflow import own_repository  # noqa: PLC0415

    text, report = texts.drift(streams, stacks)
    with _github():
        differs = report.outcome is not Outcome.PASSED
        settled = settle(own_repository(), text, differs=differs, is_partial=report.is_partial)
    out.print(settled.value, highlight=False)


@contextmanager
def _github() -> Iterator[None]:
    """Turn errors of GitHub and of the network into a message."""
    from github import GithubException  # noqa: PLC0415
    from requests import RequestException  # noqa: PLC0415

    try:
        yield
    except GithubException as error:
        said = error.data.get("message", "") if isinstance(error.data, dict) else ""
        raise UserError(f"GitHub refused with status {error.status}: {said or 'no reason given'}.", _REFUSED) from None
    except RequestException as error:
        raise UserError(f"Cannot reach GitHub: {type(error).__name__}.", "Run the job again.") from None
