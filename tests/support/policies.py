"""What tests of rules need, under the name that they know."""

from policies.examples import UNKNOWN_TEXT as UNKNOWN
from policies.examples import Given
from policies.trial import Report, Wire, judge
from support.recorder import Recorder

__all__ = ["UNKNOWN", "Report", "Wire", "declared", "judge"]


def declared(recorder: Recorder) -> list[Given]:
    """Return what a program declared, options and origin of the inputs included."""
    return [
        Given(
            resource.type,
            resource.name,
            resource.inputs,
            {"protect": options.protect, "ignoreChanges": options.ignore_changes},
            options.made_from,
        )
        for resource in recorder.resources
        for options in [recorder.options[resource.type, resource.name]]
    ]
