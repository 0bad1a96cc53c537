"""What an edit of an EKS stack file comes to: planned by the real engine on a state that was pretended.

``python -m support.edit_matrix --write``, with ``tests`` on the path, renews ``docs/eks-edit-matrix.md``; a test fails
when the page and the engine disagree.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.config import parse
from support.eks import EXISTING, ROLE, document
from workbench.clouds.aws.facts import FACTS_DATE, PROVIDER_VERSION
from workbench.engine.render import TOOLS, OfflineSession, choose, rendering
from workbench.paths import PROJECT_ROOT
from workbench.stacks import CONFIG_KEY, Stack
from workbench.toolchain import ensure

PAGE: Final = PROJECT_ROOT / "docs" / "eks-edit-matrix.md"

Changes = dict[str, Any]
"""New values by dotted path, as ``support.eks.document`` takes them; None removes."""

PRODUCTION: Final[Changes] = {
    "environment": "prod",
    # Fewer nodes than zones: the initial group lies in all zones at once, only jupyter and data have a group a zone.
    "pools.initial.size": {"min": 2, "max": 2},
    "pools.gpu.instanceTypes": ["g5.12xlarge", "g5.2xlarge"],  # two shapes
    "namespaces": {"mlrun": {"coreServices": True}, "jobs": {}},
    "cluster.publicAccessCidrs": ["203.0.113.0/24"],
    "pools.data.size": {"min": 6, "max": 6},  # so that two zones can share them as well as three
    "cluster.access.entries": {"team": {"roleArn": f"{ROLE}/team", "level": "view"}},
}
BASE: Final = document(PRODUCTION)

POOLS: Final = BASE["pools"]
NAMESPACES: Final = BASE["namespaces"]
AMOUNTS: Final = {"cpu": "3", "memory": "3Gi"}
KEY: Final = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
BOUNDARY: Final = "arn:aws:iam::111122223333:policy/boundary"

EDITS: Final[dict[str, Changes]] = {
    "nothing": {},
    "cluster.name": {"cluster.name": "other"},
    "cluster.accountId": {"cluster.accountId": "444455556666"},
    "cluster.region": {"cluster.region": "eu-central-1"},
    "cluster.zones, one less": {"cluster.zones": ["a", "b"]},
    "cluster.zones, another order": {"cluster.zones": ["c", "b", "a"]},
    "cluster.version": {"cluster.version": "1.36"},
    "cluster.network, another range": {"cluster.network.cidr": "10.30.0.0/16"},
    "cluster.network, from created to existing": {"cluster.network": EXISTING},
    "cluster.serviceCidr": {"cluster.serviceCidr": "172.21.0.0/16"},
    "cluster.publicAccessCidrs, one more": {"cluster.publicAccessCidrs": ["203.0.113.0/24", "198.51.100.0/24"]},
    "cluster.publicAccessCidrs, none: private": {"cluster.publicAccessCidrs": []},
    "cluster.access.deployerRoleArn": {"cluster.access.deployerRoleArn": f"{ROLE}/other"},
    "cluster.access.breakGlassRoleArn": {"cluster.access.breakGlassRoleArn": f"{ROLE}/other"},
    "cluster.access.entries, one more": {
        "cluster.access.entries.more": {"roleArn": f"{ROLE}/more", "level": "view"},
    },
    "cluster.access.entries, another level": {"cluster.access.entries.team.level": "edit"},
    "cluster.access.entries, groups": {"cluster.access.entries.team.groups": ["readers"]},
    "cluster.secretsKeyArn": {"cluster.secretsKeyArn": KEY},
    "cluster.permissionsBoundaryArn": {"cluster.permissionsBoundaryArn": BOUNDARY},
    "cluster.logRetentionDays": {"cluster.logRetentionDays": 731},
    "cluster.rootVolumeGib": {"cluster.rootVolumeGib": 200},
    "cluster.tags": {"cluster.tags.owner": "us"},
    "cluster.nodeRelease": {"cluster.nodeRelease": "1.35.2-20261105"},
    "cluster.addonVersions": {"cluster.addonVersions": {"coredns": "v1.12.1-eksbuild.2"}},
    "cluster.imageRegistries": {"cluster.imageRegistries": {"registry.k8s.io": "mirror.example.com"}},
    "environment, from prod to dev": {"environment": "dev"},
    "profile, from mlrun-ce to iguazio": {"profile": "iguazio", "servers": "pulumi"},
    "policies.admission, from deny to warn": {"policies.admission": "warn"},
    "policies.approvedRegistries": {"policies.approvedRegistries": ["registry.example.com/"]},
    "policies.jupyterServices": {"policies.jupyterServices": ["jupyter-reports"]},
    "policies.largestPool": {"policies.largestPool": 40},
    "policies.requiredTags": {"policies.requiredTags": ["environment"]},
    "policyGuard, from required to warn": {"policyGuard": "warn"},
    "defaultPodResources": {"defaultPodResources": {"requests": AMOUNTS, "limits": AMOUNTS}},
    "namespaces, another order": {"namespaces": dict(reversed(NAMESPACES.items()))},
    "namespaces, one more": {"namespaces.more": {}},
    "namespaces, one removed": {"namespaces.jobs": None},
    "namespaces, one renamed": {"namespaces.jobs": None, "namespaces.work": {}},
    "namespaces.jobs.coreServices": {"namespaces.jobs.coreServices": True},
    "namespaces.jobs.quota": {"namespaces.jobs.quota": {"cpu": "10", "memory": "40Gi"}},
    "namespaces.jobs.egressCidrs": {"namespaces.jobs.egressCidrs": ["10.99.0.0/16"]},
    "pools, another order": {"pools": dict(reversed(POOLS.items()))},
    "pools, a new one": {
        "pools.more": {"role": "workload", "size": {"min": 0, "max": 2}, "instanceTypes": ["m6i.xlarge"]},
    },
    "pools, one removed": {"pools.spot": None},
    "pools, one renamed": {"pools.spot": None, "pools.cheap": POOLS["spot"]},
    "pools, the data pool renamed": {"pools.data": None, "pools.store": POOLS["data"]},
    "pools.initial.size": {"pools.initial.size": {"min": 3, "max": 3}},
    "pools.workload.size.max": {"pools.workload.size.max": 20},
    "pools.workload.size.min": {"pools.workload.size.min": 2},
    "pools.workload.size, from elastic to static": {"pools.workload.size": {"min": 5, "max": 5}},
    "pools.spot.role": {"pools.spot.role": "jupyter"},
    "pools.spot.lifecycle": {"pools.spot.lifecycle": None},
    "pools.spot.labels": {"pools.spot.labels": {"example.com/team": "other"}},
    "pools.initial.instanceTypes": {"pools.initial.instanceTypes": ["m6i.2xlarge"]},
    "pools.spot.instanceTypes, another order": {
        "pools.spot.instanceTypes": ["m5.2xlarge", "m6i.2xlarge", "m5a.2xlarge"],
    },
    "pools.workload.instanceTypes, another shape": {"pools.workload.instanceTypes": ["m6i.2xlarge", "m6i.4xlarge"]},
    "pools.gpu.instanceTypes, without the second shape": {"pools.gpu.instanceTypes": ["g5.12xlarge"]},
    "pools.gpu.instanceTypes, without the first shape": {"pools.gpu.instanceTypes": ["g5.2xlarge"]},
    "pools.gpu.instanceTypes, the second shape first": {"pools.gpu.instanceTypes": ["g5.2xlarge", "g5.12xlarge"]},
    "pools.data.instanceTypes": {"pools.data.instanceTypes": ["i4i.4xlarge"]},
    "pools.data.size": {"pools.data.size": {"min": 12, "max": 12}},
}
"""An edit of each input that a stack file has for EKS: what a person would call it, and the edit itself."""

HEAD: Final = f"""# What an edit of an EKS stack comes to

Generated by `python -m support.edit_matrix --write` in `tests/`; do not edit by hand. Read every change of it.

Planned by the real engine with a plug-in of our own in the place of Pulumi's AWS provider {PROVIDER_VERSION}, by facts
of {FACTS_DATE} ([aws-inputs.md](aws-inputs.md)). **Not compared with a real account.** The stack is the one of
`tests/support/edit_matrix.py`: production, a created network in three zones, a pool of every role,
GPUs in two shapes.

"Refused" means that the engine stops before anything happens, because what would be replaced or deleted is protected.
It names what it met first; there may be more.

| edit | verdict | what changes |
|---|---|---|
"""


@dataclass(frozen=True)
class Matrix:
    """The stack as it is after an ``up`` that was told to pretend."""

    session: OfflineSession

    def preview(self, name: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Plan an edit; the digest goes to standard output."""
        return self._pulumi(name, "preview", "--json", *options)

    def up(self, name: str) -> subprocess.CompletedProcess[str]:
        """Make an edit; ``nothing`` undoes every other one."""
        return self._pulumi(name, "up", "--yes", "--skip-preview")

    def _pulumi(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        edited = document({**PRODUCTION, **EDITS[name]})
        parse(edited)
        choose(Path(self.session.environment["PULUMI_OPTION_CONFIG_FILE"]), {CONFIG_KEY: edited})
        return subprocess.run(
            [self.session.pulumi, *arguments, "--non-interactive", "--color", "never"],
            cwd=PROJECT_ROOT,
            env={"PATH": os.environ["PATH"], **self.session.environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def row(self, name: str) -> str:
        """Return the line of the page for an edit."""
        result = self.preview(name)
        if result.returncode:
            return f"| {name} | refused | protected: {', '.join(_protected(result.stdout + result.stderr))} |"
        steps = [step for step in json.loads(result.stdout)["steps"] if step["op"] not in ("same", "read")]
        found = {op: Counter(_kind(s["urn"]) for s in steps if s["op"] == op) for op in OPERATIONS}
        verdict = next((op for op in OPERATIONS if found[op]), "none")
        changes = [f"{op} {_listed(kinds)}" for op, kinds in found.items() if kinds]
        return f"| {name} | {verdict} | {'; '.join(changes) or '-'} |"


OPERATIONS: Final = ("replace", "delete", "create", "update")
"""The gravest first."""


def _protected(output: str) -> list[str]:
    refusal = r'(?:unable to (?:replace|delete) |Preview failed: )resource \\?"(urn:[^"\\]+)'
    kinds = {_kind(urn) for urn in re.findall(refusal, output)}
    assert kinds, output[-3000:]
    return sorted(kinds)


def _kind(urn: str) -> str:
    type_ = urn.split("::")[2].rpartition("$")[2]
    name = type_.rpartition(":")[2]
    if type_.startswith("pulumi:providers:"):
        return f"provider {name}"
    return "Kubernetes object" if type_.startswith("kubernetes:") else name


def _listed(kinds: Counter[str]) -> str:
    return ", ".join(f"{kind} ({count})" if count > 1 else kind for kind, count in sorted(kinds.items()))


@contextmanager
def deployed() -> Iterator[Matrix]:
    """Give the base stack, pretended to be up; nothing of it is left afterwards."""
    stack = Stack("matrix", PROJECT_ROOT / "Pulumi.dev.yaml", {"config": {CONFIG_KEY: BASE}}, parse(BASE))
    with rendering(stack, ensure(TOOLS, hermetic=True)) as session:
        matrix = Matrix(session.pretending())
        result = matrix.up("nothing")
        assert result.returncode == 0, result.stdout[-5000:] + result.stderr
        yield matrix


def main() -> None:
    with deployed() as matrix:
        rows = [matrix.row(name) for name in EDITS]
    PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m support.edit_matrix --write")
    main()
