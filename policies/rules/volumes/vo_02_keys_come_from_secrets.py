"""VO-02: storage keys are not readable in pod definitions."""

from collections.abc import Iterator

from policies.cel import words
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.static_keys import ENDING, IN_A_CONNECTION_STRING, NAMES, is_spark_option, is_variable

_OPTION = "accessKey"
"""Option of V3IO's volume driver."""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require a reference instead of each key, in variables, in options of Spark and in V3IO volumes."""
    for container in pod.containers():
        for entry in container.at("env").elements():
            name = entry.at("name").text() or ""
            if not (value := entry.at("value").text()):
                continue
            if is_variable(name):
                yield Finding(f"{pod} contains the key {name} ({entry.path}); expected valueFrom.secretKeyRef.")
            elif IN_A_CONNECTION_STRING in value:
                yield Finding(
                    f"{pod} contains a connection string with a key in {name} ({entry.path}); expected "
                    "valueFrom.secretKeyRef."
                )
        for option in container.at("args").elements() if pod.is_retold else ():
            name, _equals, given = (option.text() or "").partition("=")
            if given and is_spark_option(name):
                yield Finding(f"{pod} contains the key {name}; expected a Secret or an identity.")
    for volume in pod.spec.at("volumes").elements():
        if volume.at("flexVolume", "options", _OPTION).text():
            yield Finding(f"{pod} contains the key {_OPTION} ({volume.path}); expected flexVolume.secretRef.")


# One pattern for all names would cost more than the API server allows for a pod with many variables.
_IN_CLEAR = (
    f"e.?value.orValue('') != '' && (e.name in {words(NAMES)} || e.name.endsWith('{ENDING}') ||"
    f" e.value.contains('{IN_A_CONNECTION_STRING}'))"
)

RULE = Rule(
    id="VO-02",
    slug="keys-come-from-secrets",
    title="Storage access keys must come from Secrets",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Volumes (access key of V3IO)",
    applies_to=USER_PODS,
    why="Pod definitions appear in dashboards, logs and state, where others could read the key.",
    fix="Put the key into a Secret and refer to it; MLRun does so for project secrets.",
    check=check,
    admission=Admission(
        culprits=f"variables.containers.filter(c, c.?env.orValue([]).exists(e, {_IN_CLEAR}))"
        f".map(c, 'container ' + string(c.name) + ' (env '"
        f" + c.env.filter(e, {_IN_CLEAR}).map(e, string(e.name)).join(', ') + ')')"
        f" + variables.spec.?volumes.orValue([]).filter(v, v.?flexVolume.?options['{_OPTION}'].orValue('') != '')"
        f".map(v, 'volume ' + string(v.name) + ' (flexVolume.options.{_OPTION})')"
    ),
)
