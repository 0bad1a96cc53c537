"""How the emulators ask the facts, with which the offline providers plan, about requests that are sent again."""

from collections.abc import Iterable

from workbench.offline.facts import Retried


def passing(
    known: Iterable[Retried], *, request: str = "", status: int = 0, code: str = "", message: str = ""
) -> Retried | None:
    """Return the fact by which the plug-in sends a refused request again; None if the refusal is final.

    Parameters
    ----------
    known
        Of the type or of all types.
    request
        Such as ``iam:CreateRole``.
    status, code, message
        The refusal.
    """
    return next(
        (
            each
            for each in known
            if each.request in ("", request)
            and (not each.status or status in each.status)
            and each.code in ("", code)
            and each.message in message
        ),
        None,
    )
