"""VO-02: storage keys are not readable in pod definitions."""

import re
from collections.abc import Iterator

from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts

_NAMES = (
    "(^|_)ACCESS_KEY$|^AZURE_STORAGE_(ACCOUNT_)?KEY$|^AZURE_STORAGE_(CONNECTION_STRING|SAS_TOKEN)$"
    "|^AZURE_(STORAGE_)?CLIENT_SECRET$|^GCP_CREDENTIALS$"
)
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
            if re.search(_NAMES, name) and entry.at("value").text():
                yield Finding(f"{pod} contains the key {name} ({entry.path}); expected valueFrom.secretKeyRef.")
    for volume in pod.spec.at("volumes").elements():
        if volume.at("flexVolume", "options", _OPTION).text():
            yield Finding(f"{pod} contains the key {_OPTION} ({volume.path}); expected flexVolume.secretRef.")


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
        expression="!variables.containers.exists(c, c.?env.orValue([])"
        f".exists(e, e.name.matches('{_NAMES}') && e.?value.orValue('') != ''))"
        " && !variables.spec.?volumes.orValue([])"
        f".exists(v, v.?flexVolume.?options['{_OPTION}'].orValue('') != '')"
    ),
)
