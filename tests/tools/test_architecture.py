from tools.architecture import PAGE, page


def test_the_import_diagram_is_current() -> None:
    assert page(PAGE.read_text()) == PAGE.read_text()
