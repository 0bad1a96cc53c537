"""HI-01: pods with an identity in the cloud have no static keys."""

from collections.abc import Iterator
from dataclasses import replace

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.static_keys import variables


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Reject variables with keys, even from Secrets: clients prefer them to the identity."""
    for container in pod.containers():
        for name, entry in variables(container):
            yield Finding(
                f"{pod} has the key {name} ({entry.path}) besides its cloud identity; expected the identity only."
            )


def _has_identity(pod: PodFacts, context: Context) -> bool:
    if not context.job_accounts or not pod.is_user_work(context):
        return False
    return (pod.namespace, pod.spec.at("serviceAccountName").text()) in context.job_accounts


RULE = Rule(
    id="HI-01",
    slug="identities-replace-keys",
    title="Pods with a cloud identity must have no static keys",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS best practices, Security (identities and credentials for pods)",
    applies_to=replace(
        USER_PODS, noun="each pod of user work whose service account has a cloud identity", concerns=_has_identity
    ),
    why="Clients of AWS and Azure prefer keys in the environment, so the pod permanently has the rights of the key.",
    fix="Remove the variables and delete the key; add what is missing to `identity` of the namespace.",
    check=check,
)
