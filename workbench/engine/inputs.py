"""What the engine's runs read: fixed when a command starts, since it judges the plan of one run and others apply it.

Meanwhile an editor, or a command in another terminal or checkout, may write the same files; that counts for the next
command.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE
from components.stack_files import yaml_source
from workbench.stacks.policy_overrides import Overrides, attaching
from workbench.system.files import write_private

CONFIG_FILE: Final = "PULUMI_OPTION_CONFIG_FILE"
"""The engine's option for its stack file."""

SECRETS_AS_IN_THE_STATE: Final = {"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER": "true"}
"""For stack files without the engine's settings: each run would make a new salt, in a file that goes with the run, and
plain ``pulumi`` would make one in the user's file.
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/cmd/pulumi/stack/secrets.go.
"""


@dataclass(frozen=True)
class Inputs:
    """What the runs of one command read.

    Parameters
    ----------
    document
        The whole stack file, with the settings of its base in place. Default: the engine reads the file that the
        session's variables name.
    packs
        Folders of the policy packs. Default: they are not attached, or the session's variables attach them.
    overrides
        Those in the folder of the stack files. Default: none.
    inventory
        The inventory of an existing cluster. Default: none.
    """

    document: Mapping[str, Any] | None = None
    packs: Sequence[Path] | None = None
    overrides: Overrides = field(default_factory=Overrides)
    inventory: str = ""

    def written(self, stack: str, folder: Path) -> dict[str, str]:
        """Write the files of ``stack`` into ``folder`` and return the variables that name them."""
        variables = dict[str, str]()
        if self.document is not None:
            file = folder / "Pulumi.stack.yaml"
            write_private(file, yaml_source.written(dict(self.document)))
            variables |= {CONFIG_FILE: str(file), **SECRETS_AS_IN_THE_STATE}
        if self.packs is not None:
            variables |= attaching(self.packs, self.overrides.configuration(stack), folder / "policies.json")
        if self.inventory:
            file = folder / "inventory.json"
            write_private(file, self.inventory)
            variables[INVENTORY_VARIABLE] = str(file)
        return variables
