import pytest

from tools.site.markdown import anchors, fenced, portable, slug

CASES = {
    "a list gets an empty line before it": ("Text:\n- one\n- two\n", "Text:\n\n-   one\n-   two\n"),
    "a list in a list is indented by four": (
        "1. one\n   - inner\n     more\n2. two\n",
        "1.  one\n    -   inner\n        more\n2.  two\n",
    ),
    "a block in an item is indented by four": (
        "- run\n  ```sh\n  make up\n  ```\n",
        "-   run\n\n    ```sh\n    make up\n    ```\n",
    ),
    "a list keeps its first number": ("3. three\n4. four\n", "3.  three\n4.  four\n"),
    "a block without a language holds commands": (
        "Do:\n```\nmake up\n```\nThen:\n",
        "Do:\n\n```sh\nmake up\n```\n\nThen:\n",
    ),
    "a bar in code of a table loses its backslash": (
        "| a |\n|---|\n| `x \\| y` and a \\| b |\n",
        "| a |\n|---|\n| `x | y` and a \\| b |\n",
    ),
    "a link in code stays": ("[a](b.md) `[a](b.md)`\n", "[a](B.MD) `[a](b.md)`\n"),
    "a link in a table changes": ("| a |\n|---|\n| [a](b.md) |\n", "| a |\n|---|\n| [a](B.MD) |\n"),
    "a picture is a link too": ("![a](b.png)\n", "![a](B.PNG)\n"),
    "a quote stays one": ("> a\n> b\n", "> a\n> b\n"),
    "HTML stays": ('<a id="x"></a>\n\ntext\n', '<a id="x"></a>\n\ntext\n'),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written(name: str) -> None:
    given, expected = CASES[name]
    assert portable(given, str.upper) == expected


@pytest.mark.parametrize("name", CASES)
def test_it_may_be_written_again(name: str) -> None:
    once = portable(CASES[name][0], str)
    assert portable(once, str) == once or "\\|" in CASES[name][0]


def test_a_fence_is_longer_than_those_inside() -> None:
    assert fenced("```sh\nmake\n```", "text") == "````text\n```sh\nmake\n```\n````"


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("A private API", "a-private-api"),
        ("`up`, and *down*: 2", "up-and-down-2"),
        ("HE-01: The API [is](x.md) closed", "he-01-the-api-is-closed"),
        ("a & b", "a--b"),
    ],
)
def test_anchors_are_those_of_github(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


def test_a_page_has_anchors_of_headings_outside_of_code_and_explicit_ones() -> None:
    text = '# One\n\n## Two\n\n```sh\n# three\n```\n\n## Two\n\n<a id="four"></a>\n'
    assert anchors(text) == {"one", "two", "two-1", "four"}
