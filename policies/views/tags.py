"""Tags of cloud resources, in each cloud's own place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from policies.resource import Resource, find_in
from policies.rule import EachOf
from policies.values import Value, some
from policies.views.node_groups import CLOUDS


@dataclass(frozen=True, slots=True)
class Tagged:
    """A taggable resource, or a part of one."""

    name: str
    """Logical name of the resource."""
    part: str
    """The part of the resource, such as its instances; empty for the whole resource."""
    maps: tuple[Value, ...]
    """Places of the tags; each map counts."""

    @override
    def __str__(self) -> str:
        """Return the start of every message about the thing."""
        return f"'{self.name}'" + (f" ({self.part})" if self.part else "")

    def says(self, key: str) -> bool:
        """Return whether the tag has a value, which may still be unknown."""
        return some(self.maps, lambda tags: tags.at(key).is_unknown or bool(tags.at(key).text()))


def _tagged(resource: Resource) -> Iterator[Tagged]:
    # From pulumi-aws 7 on the plug-in's check adds tagsAll: the resource's tags over the provider's default tags, which
    # appear nowhere else. Source: pulumi/pulumi-aws, provider/tags.go.
    yield Tagged(resource.name, "", (resource.props.at("tags"), resource.props.at("tagsAll")))
    for cloud in CLOUDS:
        for part, maps in find_in(resource, cloud.tagged_parts):
            yield Tagged(resource.name, part, maps)


TAGGED: Final = EachOf(
    noun="each taggable cloud resource",
    types=re.compile("|".join(type_ for cloud in CLOUDS for type_ in (*cloud.clusters, cloud.group, *cloud.tagged))),
    find=_tagged,
)
