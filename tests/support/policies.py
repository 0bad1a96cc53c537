"""What tests of rules need, under the name that they know."""

from collections.abc import Mapping
from typing import Any

from policies.examples import UNKNOWN_TEXT as UNKNOWN
from policies.examples import Given
from policies.pack_harness import Report, Wire, judge
from support.recorder import Recorder
from workbench.offline.aws.provider import OfflineAws

__all__ = ["UNKNOWN", "Report", "Wire", "judge", "sent"]


def sent(recorder: Recorder) -> list[Given]:
    """Return what the engine would send of the recorded resources, after the providers' checks."""
    defaults = [r.inputs.get("defaultTags") for r in recorder.resources if r.type == "pulumi:providers:aws"]
    aws = OfflineAws()
    aws.configure({"defaultTags": next(filter(None, defaults), None)})
    made = {(r.type, r.name): r.inputs for r in recorder.resources}
    planned = recorder.sent if recorder.is_first_preview else made
    return [_checked(aws, recorder, *key, inputs) for key, inputs in planned.items()]


def _checked(aws: OfflineAws, recorder: Recorder, type_: str, name: str, inputs: Mapping[str, Any]) -> Given:
    options = recorder.options[type_, name]
    opts = {"protect": options.protect, "ignoreChanges": options.ignore_changes}
    return Given(type_, name, {**inputs, **aws.all_tags(type_, inputs)}, opts, options.made_from)
