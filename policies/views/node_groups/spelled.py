"""Node groups of a cloud, read and corrected in its spelling."""

from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override

from components.contract.lifecycle import Lifecycle
from components.contract.spelling import Spelling
from components.contract.taints import TaintEffect
from policies.values import Value
from policies.views.node_groups.facts import NodeGroupFacts


class SpelledGroup(NodeGroupFacts):
    """One group whose lifecycle, labels and taints are inputs of a cloud's resource."""

    spelling: ClassVar[Spelling]

    @property
    @override
    def lifecycle(self) -> Lifecycle:
        words = {word: lifecycle for lifecycle, word in self.spelling.lifecycles.items()}
        return self._props.at(self.spelling.lifecycle_input).choice(words) or Lifecycle.ON_DEMAND

    @classmethod
    def effects(cls) -> Mapping[str, TaintEffect]:
        """Return the taint effects by the cloud's spelling."""
        return {word: effect for effect, word in cls.spelling.effects.items()}

    def taint_entries(self) -> tuple[Value, ...]:
        """Return the taints as they are declared."""
        return self._props.at(self.spelling.taints_input).elements()

    @override
    def _labels(self) -> Value:
        return self._props.at(self.spelling.labels_input)
