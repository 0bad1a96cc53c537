"""The facts against the source of the provider that the toolchain builds, where that source is on the machine."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from workbench.offline.kubernetes.facts import CONFIG_MAP, CONTENT, IDENTITY, REPLACES, SECRET, replacing
from workbench.system.paths import PROJECT_ROOT

MODULE = "github.com/pulumi/pulumi-kubernetes/provider/v4"


def source() -> str:
    command = ["go", "list", "-mod=readonly", "-m", "-json", MODULE]
    folder = PROJECT_ROOT / "toolchain" / "kubernetes-provider"
    try:
        found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False).stdout
    except FileNotFoundError:
        found = ""
    place = json.loads(found or "{}").get("Dir")
    if not place:
        pytest.skip("the provider's source is not in the module cache: it was not built here")
    return Path(place, "pkg", "provider", "diff.go").read_text()


def last_words(paths: set[str]) -> set[str]:
    return {re.split(r"[.\]]", path)[-1] for path in paths}


def test_the_facts_name_what_the_providers_source_names_and_nothing_else() -> None:
    text = source()
    quoted = set(re.findall(r'"(\.[A-Za-z.]+)"', text))
    # Below selectors the source names parts of what it names whole, a volume's and a container's `env` too.
    parts = {path for path in quoted if path.startswith((".matchExpressions", ".matchLabels", ".env."))}
    prefixes = {".metadata", ".spec.containers", ".spec.initContainers"}
    budgets = {".spec"}  # of a version that no cluster in support serves
    ours = {
        path
        for paths in [*REPLACES.values(), *(content for _, content in CONTENT.values()), IDENTITY]
        for path in paths
    }
    assert last_words(ours) == last_words(quoted - parts - prefixes - budgets)


def test_every_kind_of_the_source_has_its_facts() -> None:
    served = re.search(r"var forceNew = .*?\nvar daemonset", source(), re.DOTALL)
    assert served
    kinds = set(re.findall(r'"([A-Z][A-Za-z]+)":', served[0])) - {"PodDisruptionBudget"}
    assert {token.rpartition(":")[2] for token in REPLACES} == kinds


@pytest.mark.parametrize(
    ("token", "setting"), [(SECRET, "enableSecretMutable"), (CONFIG_MAP, "enableConfigMapMutable")]
)
def test_content_replaces_unless_the_provider_changes_it_in_place(token: str, setting: str) -> None:
    assert "data" in replacing(token, {}, frozenset())
    assert "data" not in replacing(token, {}, frozenset({setting}))
    assert "data" in replacing(token, {"immutable": True}, frozenset({setting}))
