"""What tests of rules need, under the name that they know."""

from policies.examples import UNKNOWN_TEXT as UNKNOWN
from policies.trial import Report, Wire, judge

__all__ = ["UNKNOWN", "Report", "Wire", "judge", "sent"]
