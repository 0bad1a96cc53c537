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
        words = {word: each for each, word in self.spelling.lifecycles.items() if each is not Lifecycle.RESERVED}
        found = self._props.at(self.spelling.lifecycle_input).choice(words) or Lifecycle.ON_DEMAND
        return Lifecycle.RESERVED if found is Lifecycle.ON_DEMAND and self.is_reserved else found

    @property
    def is_reserved(self) -> bool:
        """Whether its machines are of reserved capacity, whose lifecycle is on demand too in the cloud's terms."""
        return False

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
