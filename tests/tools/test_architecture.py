from tools.architecture import PAGE, page


def test_the_architecture_page_shows_the_imports_of_now() -> None:
    assert page(PAGE.read_text()) == PAGE.read_text()
