"""The least that a policy pack costs: one rule that checks nothing."""  # noqa: INP001 run as a folder by the engine

from pathlib import Path

import pulumi_policy as sdk

look_away = sdk.ResourceValidationPolicy(
    name="look-away",
    description="Never finds anything.",
    validate=lambda _args, _report: None,
)
# The engine accepts each name once, so each copy of this folder is a separate pack.
sdk.PolicyPack(Path(__file__).parent.name.replace("_", "-"), [look_away])
