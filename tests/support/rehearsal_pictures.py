"""Pictures of the page of a rehearsal, for the documentation: of an outcome made by hand.

``python -m support.rehearsal_pictures --write``, with ``tests`` on the path and a ``chromium`` on PATH, renews them.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from support import outcomes
from support.browser import CHROMIUM, WHY_NOT, chromium
from workbench.rehearsal.report import page
from workbench.system.paths import PROJECT_ROOT

FOLDER: Final = PROJECT_ROOT / "docs" / "pictures"
PICTURES: Final = {"rehearsal-light": False, "rehearsal-dark": True}
"""Names of the pictures, and whether they are dark."""

BYTES_MAX: Final = 300_000
WIDTH: Final = 1_280
SCALE: Final = 0.8


def main() -> None:
    """Write the pictures: each shows the page from its top to the end of the chart."""
    if CHROMIUM is None:
        sys.exit(WHY_NOT)
    with TemporaryDirectory() as folder, chromium() as browser:
        file = Path(folder, "page.html")
        file.write_text(page.render([outcomes.night()]), encoding="utf-8")
        for name, dark in PICTURES.items():
            shown = browser.page()
            shown.open(file, width=WIDTH, dark=dark)
            end = shown.evaluate("document.querySelector('.chart').getBoundingClientRect().bottom + window.scrollY")
            picture = FOLDER / f"{name}.png"
            shown.screenshot(picture, height=end + 24, scale=SCALE)
            if picture.stat().st_size > BYTES_MAX:
                sys.exit(f"{picture.name} has more than {BYTES_MAX:,} bytes: show less of the page")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m support.rehearsal_pictures --write")
    main()
