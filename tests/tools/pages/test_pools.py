from xml.etree import ElementTree as ET

from tools.pages import pools

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_current() -> None:
    assert pools.PICTURE.read_text() == pools.picture(), "run python -m tools.pages.pools --write"


def test_a_pool_has_as_many_squares_as_it_may_have_nodes_and_fills_those_that_always_run() -> None:
    groups = ET.fromstring(pools.picture()).findall(f"{SVG}g")  # noqa: S314 our own
    kinds = [[each.get("class") for each in group.findall(f"{SVG}rect")] for group in groups]
    assert [(len(each), each.count("node always")) for each in kinds] == [(2, 2), (10, 1), (20, 0), (5, 0), (4, 0)]
