"""What templates of requests are filled with."""

from collections.abc import Mapping
from typing import Any

from emulators.aws.resources.kinds import Kind, parts
from workbench.offline.aws.inputs import children
from workbench.offline.provider import CloudError


class Keys(dict[str, Any]):
    """What templates are filled with. Of an import the id must tell it all.

    Parameters
    ----------
    wanted
        Template of an id that does.
    """

    def __init__(self, wanted: str, known: Mapping[str, Any]) -> None:
        super().__init__(known)
        self._wanted = wanted

    def __missing__(self, key: str) -> Any:
        raise CloudError(f"unexpected format of ID ({self.get('id')}), expected {self._wanted}: it does not tell {key}")


def keys_of(kind: Kind, type_: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs that the id tells, for resources whose description repeats them not."""
    names = parts(kind.id, str(keys["id"])).keys() & children(type_, "").keys()
    return {name: keys[name] for name in names}
