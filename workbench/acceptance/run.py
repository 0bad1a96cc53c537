"""Runs the steps in order, saves the record after each, and cleans up."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final

from workbench.acceptance import in_cluster, lifecycle
from workbench.acceptance.copied_stack import CopiedStack
from workbench.acceptance.record import CLEANING, PODS, Record, Result, StepRecord, duration
from workbench.acceptance.step import Context, Step
from workbench.stacks import Stack
from workbench.system.errors import UserError
from workbench.system.paths import APP

STEPS: Final = (
    Step("up", "`up` creates the stack", lifecycle.first_up),
    Step("unchanged up", "a second `up` changes nothing", lifecycle.second_up),
    Step("nodes", "nodes, labels and taints match the stack file", in_cluster.nodes_as_written),
    Step("admission", "priority classes and admission match the state", in_cluster.objects_as_written),
    Step(PODS, "a pod is scheduled on each pool, also from zero", in_cluster.pods_land),
    Step(
        "autoscaler sizes",
        "sizes moved by the autoscaler survive an `up`",
        lifecycle.sizes_survive,
        lifecycle.no_autoscaler,
    ),
    Step("claim", "a claim binds in its zone", in_cluster.claim_binds, in_cluster.no_claims),
    Step("no pods left", "pods and volumes of the run can be deleted", in_cluster.cleared),
    Step("drift", "drift is empty", lifecycle.drift_is_empty),
    Step("change in place", "a label and a tag are changed without a replacement", lifecycle.changed_in_place),
    Step("pool replaced", "a renamed elastic pool is replaced", lifecycle.pool_replaced, lifecycle.no_elastic_pool),
    Step("kill and recover", "a killed `up` is recovered", lifecycle.killed_and_recovered),
    Step("destroy", "`destroy` deletes the stack", lifecycle.destroyed),
    Step("inventory", "nothing is left", lifecycle.nothing_left),
)


def begun(copied: CopiedStack, source: Stack) -> Record:
    """Return the record of a run to continue, or of a new one with its copy.

    Raises
    ------
    UserError
        The copy would not be a valid stack, the record belongs to another stack, or the stack file was edited.
    """
    known = Record.load(copied.folder)
    if known and is_begun(copied):
        if (known.stack, known.file) != (source.name, str(source.file.resolve())):
            raise UserError(
                f"'{copied.name}' is the copy of the stack '{known.stack}' in {known.file}.",
                "Choose another name with --name.",
            )
        if known.state == CLEANING:
            raise UserError(f"The clean-up of '{copied.name}' has begun but not ended.", "Run it again.")
        copied.require_unedited(source)
        return known
    left_out = copied.make(source)
    now, file = datetime.now(UTC).isoformat(timespec="seconds"), str(source.file.resolve())
    kind = source.config.cluster.kind
    return Record(source.name, copied.name, kind, version(APP), now, file, left_out, digest=source.digest)


def is_begun(copied: CopiedStack) -> bool:
    """Return whether a run has begun that neither passed nor was cleaned up."""
    known = Record.load(copied.folder)
    return known is not None and known.is_open


def run(context: Context, steps: Sequence[Step] = STEPS) -> None:
    """Run the steps that are not done yet.

    Raises
    ------
    UserError
        A step failed; the record names it.
    """
    record, folder = context.record, context.copied.folder
    if is_begun(context.copied):
        context.say(f"Continuing: {len(record.done)} of {len(steps)} steps are done.")
        if record.is_ours:
            context.product.create()
            context.product.recover()
    record.state = "running"
    for number, step in enumerate(steps, start=1):
        if step.name in record.done:
            continue
        context.say(f"[{number}/{len(steps)}] {step.name}: {step.why}.")
        with _kept(context, step):
            begin = time.monotonic()
            reason = step.skipped(context)
            detail = reason or step.run(context)
            result = Result.SKIPPED if reason else Result.PASSED
            seconds = time.monotonic() - begin
            record.add(StepRecord(step.name, step.why, result, seconds, detail))
            record.save(folder)
            context.say(f"    {result} in {duration(seconds)}: {detail}")
    record.state = "passed"
    record.save(folder)
    context.copied.remove()


@contextmanager
def _kept(context: Context, step: Step) -> Iterator[None]:
    """Record the result of a step that raises an error."""
    record, folder, begin = context.record, context.copied.folder, time.monotonic()
    record.save(folder)
    try:
        yield
    except BaseException as error:
        is_failure = isinstance(error, Exception)
        result = Result.FAILED if is_failure else Result.INTERRUPTED
        record.add(StepRecord(step.name, step.why, result, time.monotonic() - begin, str(error)))
        record.state = "failed" if is_failure else "running"
        record.save(folder)
        raise


def clean_up(context: Context) -> None:
    """Delete everything that the run created, whichever step it reached; can be repeated.

    Raises
    ------
    UserError
        Something could not be deleted; the message says what.
    """
    record, folder = context.record, context.copied.folder
    record.state = CLEANING
    record.save(folder)
    context.say(f"Cleaning up '{context.copied.name}'.")
    if record.is_ours:
        _delete(context)
    record.state = "cleaned up"
    record.save(folder)
    context.copied.remove()


def _delete(context: Context) -> None:
    context.product.create()
    context.product.recover()
    with suppress(UserError):  # the cluster may not exist yet, or no longer
        if context.product.cluster().api:
            in_cluster.cleared(context)
    lifecycle.destroyed(context)
    lifecycle.nothing_left(context)
