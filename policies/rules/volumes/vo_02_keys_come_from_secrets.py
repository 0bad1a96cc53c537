"""VO-02: storage keys are not readable in pod definitions."""

from collections.abc import Iterator

from policies.cel import words
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts

_NAMES = (
    *("ACCESS_KEY", "AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_CONNECTION_STRING"),
    *("AZURE_STORAGE_SAS_TOKEN", "AZURE_CLIENT_SECRET", "AZURE_STORAGE_CLIENT_SECRET", "GCP_CREDENTIALS"),
)
_ENDING = "_ACCESS_KEY"
"""Variables that hold a secret: ``V3IO_ACCESS_KEY``, ``AWS_SECRET_ACCESS_KEY``, and those that MLRun's data stores read
for Azure and Google: ``mlrun/datastore/azure_blob.py`` and ``google_cloud_storage.py`` in
https://github.com/mlrun/mlrun. ``AZURE_STORAGE_KEY``:
https://learn.microsoft.com/azure/storage/blobs/authorize-data-operations-cli."""
_OPTION = "accessKey"
"""Option of V3IO's volume driver."""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require a reference instead of each key, in variables and in V3IO volumes."""
    for container in pod.containers():
        for entry in container.at("env").elements():
            name = entry.at("name").text() or ""
            if (name in _NAMES or name.endswith(_ENDING)) and entry.at("value").text():
                yield Finding(f"{pod} contains the key {name} ({entry.path}); expected valueFrom.secretKeyRef.")
    for volume in pod.spec.at("volumes").elements():
        if volume.at("flexVolume", "options", _OPTION).text():
            yield Finding(f"{pod} contains the key {_OPTION} ({volume.path}); expected flexVolume.secretRef.")


# One pattern for all names would cost more than the API server allows for a pod with many variables.
_IN_CLEAR = f"(e.name in {words(_NAMES)} || e.name.endsWith('{_ENDING}')) && e.?value.orValue('') != ''"

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
