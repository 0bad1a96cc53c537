"""Tags of everything that EKS keeps, by ARN."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from emulators.aws.server.eks.store import Request, Resource, Store
from emulators.aws.server.errors import AwsError

TAGS_MAX: Final = 50
"""Of one resource: botocore's model, ``TagMap``."""


class Tags:
    """TagResource, UntagResource and ListTagsForResource."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {"ListTagsForResource": self.list, "TagResource": self.tag, "UntagResource": self.untag}

    def list(self, request: Request) -> dict[str, Any]:
        """Return the tags of a resource."""
        return {"tags": self._find(request).body["tags"]}

    def tag(self, request: Request) -> dict[str, Any]:
        """Add tags to a resource, or give those that it has another value."""
        resource = self._find(request)
        tags = {**resource.body["tags"], **request["tags"]}
        check(tags, "BadRequestException")
        resource.body["tags"] = tags
        return {}

    def untag(self, request: Request) -> dict[str, Any]:
        """Take tags from a resource; one that it does not have is fine."""
        resource = self._find(request)
        kept = {key: value for key, value in resource.body["tags"].items() if key not in request["tagKeys"]}
        resource.body["tags"] = kept
        return {}

    def _find(self, request: Request) -> Resource:
        found = dict(self._store.everything())
        if request["resourceArn"] not in found:
            raise AwsError("NotFoundException", 404, f"Resource not found: {request['resourceArn']}")
        return found[request["resourceArn"]]


def check(tags: Mapping[str, str], code: str) -> None:
    """Refuse, with a code, too many tags or some that AWS keeps to itself."""
    if len(tags) > TAGS_MAX:
        raise AwsError(code, 400, f"{len(tags)} tags, at most {TAGS_MAX} are allowed")
    if reserved := sorted(key for key in tags if key.lower().startswith("aws:")):
        raise AwsError(code, 400, f"Tag keys cannot start with aws:, given {', '.join(reserved)}")
