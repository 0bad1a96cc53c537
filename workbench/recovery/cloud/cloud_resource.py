"""A cloud resource of a stack, described for people."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CloudResource:
    """A cloud resource that belongs to a stack.

    Parameters
    ----------
    type, id
        As in the state; for resources that are never in the state, a display name and the cloud's id.
    name
        Display name; empty if it has none.
    state
        State that the cloud reports; empty if it has none.
    look, delete
        Commands of the cloud's CLI that show and delete it.
    holds_data
        Whether deleting it loses data.
    is_byproduct
        Whether the cluster created it, so that it is never in the state.
    kept
        Why a `destroy` keeps it; empty if it deletes it.
    """

    type: str
    id: str
    name: str
    state: str
    look: str
    delete: str
    holds_data: bool = False
    is_byproduct: bool = False
    kept: str = ""

    @property
    def description(self) -> str:
        """Kind, id, name and state."""
        named = f" '{self.name}'" if self.name and self.name not in self.id else ""
        return f"{self.type.rpartition(':')[2]} {self.id}{named}" + (f" ({self.state})" if self.state else "")

    @property
    def removal(self) -> str:
        """Description, why it is kept, and the command that deletes it."""
        return f"{self.description}{f': {self.kept}' if self.kept else ''}\n  {self.delete}"
