"""Components of an EKS cluster in a state, and EKS's own commands for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from typing_extensions import override

from components.contract.eks.spelling import CAPACITY_BLOCK
from policies.views.node_groups.eks import NODE_GROUP, EksNodeGroup
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import ClusterComponent, Condition, Group, Rank, Sizes
from workbench.engine.clouds.eks.conditions import EksCondition

CLUSTER: Final = "aws:eks/cluster:Cluster"
ADDON: Final = "aws:eks/addon:Addon"
GROUP: Final = NODE_GROUP


class EksComponent(ClusterComponent):
    """A component of an EKS cluster."""

    service = "EKS"
    _name_key: ClassVar[str]

    @property
    @override
    def cluster(self) -> str:
        return str(self._known("clusterName") or self.logical_name)

    @property
    @override
    def name(self) -> str:
        return str(self._known(self._name_key) or self.logical_name)

    @property
    @override
    def condition(self) -> Condition:
        return EksCondition(str(self.outputs.get("status") or ""))

    @property
    @override
    def version(self) -> str:
        return ""

    @property
    @override
    def look(self) -> str:
        return f"`aws eks describe-{self._words}`"

    @property
    @override
    def step(self) -> str:
        return "Fix the reported cause; EKS then reports it as active, and `up` succeeds."

    @property
    def _words(self) -> str:
        noun = self.noun.replace("-", "").replace(" ", "")
        return f"{noun} --cluster-name {self.cluster} --{noun}-name {self.name}"


class EksCluster(EksComponent):
    """A control plane."""

    rank = Rank.CLUSTER
    noun = "cluster"
    _name_key = "name"

    @property
    @override
    def cluster(self) -> str:
        return self.name

    @property
    @override
    def version(self) -> str:
        return str(self.outputs.get("version") or "")

    @property
    @override
    def locks(self) -> Sequence[Blocker]:
        if not self.outputs.get("deletionProtection"):
            return ()
        return (
            Blocker(
                str(self),
                "deletion protection is on",
                "EKS deletes the cluster only when it is off",
                f"`aws eks update-cluster-config --name {self.name} --no-deletion-protection`",
            ),
        )

    @property
    @override
    def _words(self) -> str:
        return f"cluster --name {self.name}"


class EksAddon(EksComponent):
    """An EKS add-on. Its version is independent of the Kubernetes version."""

    rank = Rank.ADDON
    noun = "add-on"
    _name_key = "addonName"

    @property
    def release(self) -> str:
        """Its version, such as ``v1.35.0-eksbuild.2``; empty if unknown."""
        return str(self.outputs.get("addonVersion") or "")

    def releases(self, version: str) -> str:
        """Return the command that lists its versions for a minor version of Kubernetes."""
        return f"`aws eks describe-addon-versions --addon-name {self.name} --kubernetes-version {version}`"


class EksGroup(EksComponent, Group):
    """A managed node group."""

    noun = "node group"
    replaced_by = EksNodeGroup.rolling_inputs
    on_cluster_deletion = "EKS does not delete a cluster that still has node groups"
    _name_key = "nodeGroupName"

    @property
    @override
    def version(self) -> str:
        return str(self.outputs.get("version") or "")

    @property
    @override
    def labels(self) -> Mapping[str, str]:
        return self.inputs.get("labels") or {}

    @property
    @override
    def keeps_version(self) -> bool:
        # EKS updates the group of a block only while it has no nodes, so the program leaves it alone.
        return self.holds_data or self.inputs.get("capacityType") == CAPACITY_BLOCK

    @property
    @override
    def sizes(self) -> Sizes | None:
        known = self._known("scalingConfig") or {}
        low, size, high = (known.get(key) for key in ("minSize", "desiredSize", "maxSize"))
        return None if low is None or size is None or high is None else Sizes(int(low), int(size), int(high))

    @property
    @override
    def delete(self) -> str:
        return f"`aws eks delete-{self._words}`"

    @override
    def upgrade(self, version: str) -> str:
        return f"`aws eks update-nodegroup-version {self._is} --kubernetes-version {version}`"

    @override
    def resize(self, low: int, high: int, size: int) -> str:
        scaling = f"minSize={low},maxSize={high},desiredSize={size}"
        return f"`aws eks update-nodegroup-config {self._is} --scaling-config {scaling}`"

    @property
    def _is(self) -> str:
        return f"--cluster-name {self.cluster} --nodegroup-name {self.name}"


READERS: Final = {CLUSTER: EksCluster, ADDON: EksAddon, GROUP: EksGroup}


def components(
    urn: str, type_: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> Iterator[ClusterComponent]:
    """Return the component that a resource is; none for other types."""
    if reader := READERS.get(type_):
        yield reader(urn, type_, inputs, outputs)
