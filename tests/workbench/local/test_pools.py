import pytest

from components.contract.labels import AnnotationKey
from workbench.local.pools import Pools

CONFIG = "nodegroups: {fromNodeLabelKey: pool}"


def test_groups_are_read_from_a_list_of_nodes() -> None:
    nodes = "{kind: List, items: [{metadata: {labels: {pool: a}}}, {metadata: {labels: {pool: b}}}]}"
    assert Pools(CONFIG, nodes).groups == {"a", "b"}


def test_groups_are_read_from_documents_of_one_node_each() -> None:
    nodes = "metadata: {labels: {pool: a}}\n---\nmetadata: {labels: {pool: b}}\n---\n"
    assert Pools(CONFIG, nodes).groups == {"a", "b"}


def test_an_annotation_names_a_group_before_the_label_does() -> None:
    name = f"annotations: {{{AnnotationKey.GROUP}: pool-large}}"
    nodes = f"{{items: [{{metadata: {{labels: {{pool: pool}}}}}}, {{metadata: {{labels: {{pool: pool}}, {name}}}}}]}}"
    assert Pools(CONFIG, nodes).groups == {"pool", "pool-large"}


@pytest.mark.parametrize(
    ("config", "templates"),
    [("{", "items: []"), ("a: 1", "items: []"), (CONFIG, "[1]"), (CONFIG, "items: [{metadata: {}}]"), ("1", "{}")],
)
def test_an_unreadable_text_is_an_error_and_not_a_cluster_without_groups(config: str, templates: str) -> None:
    with pytest.raises(ValueError, match="not readable"):
        _ = Pools(config, templates).groups
