"""The least that a policy pack costs: one rule that looks at nothing."""  # noqa: INP001 run as a folder by the engine

from pathlib import Path

import pulumi_policy as sdk

look_away = sdk.ResourceValidationPolicy(
    name="look-away",
    description="Never finds anything.",
    validate=lambda _args, _report: None,
)
# The engine takes each name once, so a copy of this folder is a pack of its own.
sdk.PolicyPack(Path(__file__).parent.name.replace("_", "-"), [look_away])
