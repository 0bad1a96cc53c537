"""ARM ids: what they name, and which of them are the same."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

PROVIDERS: Final = "/providers/"
SUBSCRIPTION: Final = "Microsoft.Resources/subscriptions"
GROUP: Final = "Microsoft.Resources/resourceGroups"
"""Type of resource groups, whose ids say it in another way."""

CLUSTER: Final = "Microsoft.ContainerService/managedClusters"
POOL: Final = f"{CLUSTER}/agentPools"


@dataclass(frozen=True)
class ArmId:
    """An id, or the address of all of one type in something.

    Parameters
    ----------
    text
        As it was written, such as ``/subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/V``.
    """

    text: str

    @property
    def key(self) -> str:
        """The same for all ids of the same thing: Azure does not tell upper case from lower."""
        return self.text.lower()

    @cached_property
    def _parts(self) -> tuple[str, str, tuple[str, ...]]:
        """Return scope, namespace, and the words behind it, from the last ``/providers/`` on."""
        at = self.key.rfind(PROVIDERS)
        if at < 0:
            return "", "Microsoft.Resources", tuple(self.text.strip("/").split("/"))
        namespace, *words = self.text[at + len(PROVIDERS) :].split("/")
        return self.text[:at], namespace, tuple(words)

    @property
    def scope(self) -> str:
        """What it belongs to: a resource group, or the resource that it extends."""
        return self._parts[0]

    @property
    def type(self) -> str:
        """Such as ``Microsoft.Network/virtualNetworks/subnets``, in the case in which it was written."""
        _, namespace, words = self._parts
        if self.scope == "":
            kinds = words[::2]
            return f"{namespace}/{kinds[-1]}" if kinds else namespace
        return "/".join((namespace, *words[::2]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names from the outermost to its own."""
        return self._parts[2][1::2]

    @property
    def name(self) -> str:
        """Its own name."""
        return self.names[-1] if self.names else ""

    @property
    def is_whole(self) -> bool:
        """Whether it names a thing, and not all of a type or what is to be done."""
        return len(self._parts[2]) % 2 == 0

    @property
    def above(self) -> "ArmId":
        """The id without its last word: of what an action is about, or what a type is listed in."""
        return ArmId(self.text.rpartition("/")[0])

    @property
    def parent(self) -> "ArmId | None":
        """The resource that it is a part of, None if it is none's."""
        depth = 2
        if self.scope == "" or len(self.names) < depth:
            return None
        return self.above.above

    @property
    def group(self) -> "ArmId | None":
        """The resource group that it is in, None if it is in none."""
        words = self.text.split("/")
        depth = 5
        if len(words) < depth or words[3].lower() != "resourcegroups":
            return None
        return ArmId("/".join(words[:depth]))

    @property
    def subscription(self) -> str:
        """Id of the subscription."""
        return self.text.split("/")[2]

    def is_in(self, other: "ArmId") -> bool:
        """Return whether it lies below another one."""
        return self.key.startswith(f"{other.key}/")
