"""Commands for workflows: what they tell people on GitHub."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from workbench.cli.console import out
from workbench.system.errors import UserError

# GitHub's client is imported where it is used: no other command needs it.

_REFUSED: Final = "The job's `permissions` say what its token may do; docs/pull-requests.md lists what it takes."


def comment(
    record: Annotated[
        Path,
        typer.Argument(help="What `igz-clusters review` wrote, or a folder of such; may be missing.", metavar="RECORD"),
    ],
) -> None:
    """Post a review's report as the one comment of its workflow, from a workflow that the review's end started.

    Which pull request is meant, GitHub's event says and nothing else. A report whose commit is no longer the head of
    an open pull request is not posted. Without a record that can be read, the comment says so.
    """
    from workbench.review.posting import comment as comments  # noqa: PLC0415
    from workbench.review.posting import texts  # noqa: PLC0415
    from workbench.review.posting.workflow import own_repository, run_of_event  # noqa: PLC0415

    run = run_of_event()
    with _github():
        pull = comments.pull_request(own_repository(), run)
        posted = comments.Posted.STALE
        if pull is not None:
            posted = comments.post(pull, run, texts.comment(record, run, comments.workflow_changes(pull)))
    out.print(posted.value, highlight=False)


def drift_issue(
    streams: Annotated[Path, typer.Argument(help="Folder with the event stream STACK.jsonl of each.", metavar="DIR")],
    stacks: Annotated[list[str], typer.Argument(help="Stacks that were looked at.", metavar="STACK...")],
) -> None:
    """Open, update or close the one issue about drift. A stack without a stream could not be judged."""
    from workbench.review.posting import texts  # noqa: PLC0415
    from workbench.review.posting.drift_issue import settle  # noqa: PLC0415
    from workbench.review.posting.workflow import own_repository  # noqa: PLC0415

    text, differs = texts.drift(streams, stacks)
    with _github():
        settled = settle(own_repository(), text, differs=differs)
    out.print(settled.value, highlight=False)


@contextmanager
def _github() -> Iterator[None]:
    """Turn what GitHub refuses, or what keeps us from reaching it, into a message."""
    from github import GithubException  # noqa: PLC0415
    from requests import RequestException  # noqa: PLC0415

    try:
        yield
    except GithubException as error:
        said = error.data.get("message", "") if isinstance(error.data, dict) else ""
        raise UserError(f"GitHub refused with status {error.status}: {said or 'no reason given'}.", _REFUSED) from None
    except RequestException as error:
        raise UserError(f"GitHub cannot be reached: {type(error).__name__}.", "Run the job again.") from None
