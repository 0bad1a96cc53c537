"""Refuses a smaller size of a Lustre file system: FSx cannot shrink it, and the provider would create an empty one.

https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/fsx/lustre_file_system.go
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.contract.shared_storage import Storage
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.fixed_choice import resources_of

LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"


def size_blockers(stack: str, storage: Mapping[str, Storage], deployment: Mapping[str, Any]) -> Iterator[Blocker]:
    """Return a blocker for each Lustre file system that is larger than the stack file asks for.

    Parameters
    ----------
    stack
        Name of the stack, the prefix of its resources' names.
    storage
        Shared storage of the stack file.
    deployment
        The stack's state, as exported.
    """
    for each in resources_of(deployment, LUSTRE):
        name = each["urn"].rpartition("::")[2].removeprefix(f"{stack}-lustre-")
        live = int(each["inputs"].get("storageCapacity", 0))
        wanted = storage[name].size_gib if name in storage else None
        if wanted and wanted < live:
            yield Blocker(
                f"storage.{name}.sizeGib",
                f"{wanted}, but the file system has {live}",
                "FSx lets a file system grow and never shrink",
                f"Set it back to {live}. For {wanted}, add a storage of another name and copy the data there.",
            )
