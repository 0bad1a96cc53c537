"""What belongs to a stack in its cloud, as people are told of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CloudResource:
    """Something in a cloud that belongs to a stack.

    Parameters
    ----------
    type, id
        As a state has them; for what no state has, a word of ours and the cloud's id.
    name
        What people know it by; empty if it has no name.
    state
        The cloud's own word; empty for what has none.
    look, delete
        How the cloud's command line shows it, and deletes it.
    holds_data
        Whether a deletion loses what cannot be had back.
    is_byproduct
        Whether the cluster made it, so that no state has it.
    """

    type: str
    id: str
    name: str
    state: str
    look: str
    delete: str
    holds_data: bool = False
    is_byproduct: bool = False

    @property
    def words(self) -> str:
        """Kind, id, name and state."""
        named = f" '{self.name}'" if self.name and self.name not in self.id else ""
        return f"{self.type.rpartition(':')[2]} {self.id}{named}" + (f" ({self.state})" if self.state else "")
