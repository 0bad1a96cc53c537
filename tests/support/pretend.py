"""Plug-ins that say they made what they were told to make: a state to edit, with no cloud and no API server.

``python -m support.pretend aws`` serves one to the engine.
"""

import sys
from pathlib import Path
from typing import Any, Final

from pulumi.runtime.proto.provider_pb2 import PropertyDiff
from typing_extensions import override

from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE
from workbench.clouds.aws.facts import PROVIDER_VERSION
from workbench.clouds.aws.provider import OfflineAws
from workbench.clouds.plugin import Changed, Checked, Provider, serve
from workbench.engine.render import OfflineSession, install
from workbench.paths import PROJECT_ROOT
from workbench.policy.overrides import detached
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

ACCOUNT: Final = "arn:aws:service:eu-west-1:111122223333"

OUTPUTS: Final[dict[str, dict[str, Any]]] = {
    "aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 1, "defaultVersion": 1},
    "aws:eks/cluster:Cluster": {
        "endpoint": "https://127.0.0.1:1",
        "certificateAuthority": {"data": "bm9uZQ=="},
        "status": "ACTIVE",
    },
    "aws:kms/key:Key": {"keyId": "11111111-2222-3333-4444-555555555555"},
}
"""Outputs beside ``arn`` that programs read."""


class PretendAws(OfflineAws):
    """Plans as the offline provider does, and then pretends."""

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        outputs = {"arn": f"{ACCOUNT}:{name}", **OUTPUTS.get(type_, {})}
        if type_ == "aws:eks/nodeGroup:NodeGroup":
            outputs["resources"] = [{"autoscalingGroups": [{"name": f"eks-{inputs['nodeGroupName']}"}]}]
        return f"{name}-id", outputs

    @override
    def read(self, type_: str, name: str) -> None:
        pass

    @override
    def update(self, type_: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        return {}

    @override
    def delete(self, type_: str, name: str) -> None:
        pass


class PretendKubernetes(PretendAws):
    """Takes every object as it is; another name is another object."""

    def __init__(self) -> None:
        Provider.__init__(self, "kubernetes", KUBERNETES_VERSION, "Pretends to make Kubernetes objects.")

    @override
    def check(self, type_: str, name: str, inputs: dict[str, Any], *, seed: bytes, kept: dict[str, Any]) -> Checked:
        return Checked()

    @override
    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        kinds = {key: PropertyDiff.UPDATE for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
        if old.get("metadata", {}).get("name") != new.get("metadata", {}).get("name"):
            kinds["metadata"] = PropertyDiff.UPDATE_REPLACE
        return Changed(kinds)


def pretend(session: OfflineSession) -> None:
    """Put the plug-ins of this module into a render's place of plug-ins, and neither pack nor guard in its way."""
    home = Path(session.environment["PULUMI_HOME"])
    for package, version in {"aws": PROVIDER_VERSION, "kubernetes": KUBERNETES_VERSION}.items():
        install(home, package, version, sys.executable, "-m", "support.pretend", package)
    session.environment["PYTHONPATH"] = str(PROJECT_ROOT / "tests")
    attached = set(session.environment) - set(detached(session.environment))
    for variable in attached:
        del session.environment[variable]
    session.environment[GUARD_VARIABLE] = ATTACHED  # nothing real can be lost


if __name__ == "__main__":
    serve({"aws": PretendAws, "kubernetes": PretendKubernetes}[sys.argv[1]]())
