"""The least that a policy pack costs: one rule that looks at nothing."""  # noqa: INP001 run as a folder by the engine

import pulumi_policy as sdk

look_away = sdk.ResourceValidationPolicy(
    name="look-away",
    description="Never finds anything.",
    validate=lambda _args, _report: None,
)
sdk.PolicyPack("no-op", [look_away])
