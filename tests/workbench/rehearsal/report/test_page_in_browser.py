"""The page in a real browser; skipped where there is none."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from support import outcomes
from support.browser import CHROMIUM, WHY_NOT, Browser, Page, chromium
from support.rehearsal_site import LASTS
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.report import page as report
from workbench.rehearsal.report.comparison import compare

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)

RIGHT, END = 39, 35
BAD = "<img src=x onerror='document.title=1'></script><script>document.title=1</script><!--"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


class Open(Protocol):
    """Opens a page that shows outcomes."""

    def __call__(self, shown: Sequence[Outcome], **options: Any) -> Page: ...


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    pages = []

    def show(shown: Sequence[Outcome], **options: Any) -> Page:
        file = tmp_path / "page.html"
        two = outcomes.night(), outcomes.night(gpu_max=6)
        file.write_text(report.render(shown, [compare(*two)] if len(shown) > 1 else []), encoding="utf-8")
        pages.append(browser.page())
        pages[-1].open(file, **options)
        return pages[-1]

    yield show
    for page in pages:
        page.close()


SEVERAL = [outcomes.night(), outcomes.skipped(), outcomes.calm()]
SAMPLES = {
    "one": [outcomes.night()],
    "several": SEVERAL,
    "skipped": [outcomes.skipped()],
    "hostile": [outcomes.hostile(BAD)],
    "long": [outcomes.hostile("x" * 300)],
    "empty": [outcomes.empty()],
    "large": [outcomes.large()],
}


@pytest.mark.parametrize("name", list(SAMPLES))
def test_a_page_complains_of_nothing_requests_nothing_and_fits_its_width(
    opened: Open, tmp_path: Path, name: str
) -> None:
    page = opened(SAMPLES[name], width=1280)
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    page.resize(390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("document.querySelector('.chart svg')?.viewBox.baseVal.width ?? 0") <= 390
    assert page.complaints == []
    assert page.requests == [(tmp_path / "page.html").as_uri()]


def test_hostile_names_stay_text(opened: Open) -> None:
    page = opened(SAMPLES["hostile"])
    assert page.evaluate("document.querySelectorAll('img, script').length") == 2  # data and script, both ours
    assert page.evaluate("document.title") != "1"
    assert BAD in page.evaluate("document.querySelector('.moment').textContent")
    assert BAD in page.evaluate("document.querySelector('.chart svg').textContent")


def test_every_node_has_a_lane_and_every_placed_pod_a_bar(opened: Open) -> None:
    night = outcomes.night()
    assert night.record is not None
    page = opened([night])
    ours = [pod for pod in night.record.pods if pod.kind != "daemon-set" and pod.node]
    assert page.evaluate("document.querySelectorAll('.lane').length") == len(night.record.nodes)
    assert page.evaluate("document.querySelectorAll('.pod').length") == len(ours)
    titles = page.evaluate("[...document.querySelectorAll('.pod > title')].map(each => each.textContent)")
    assert {title.partition(" ")[0] for title in titles} == {pod.name for pod in ours}


def test_bars_of_a_lane_do_not_overlap(opened: Open) -> None:
    page = opened([outcomes.night()])
    boxes = page.evaluate(
        "[...document.querySelectorAll('.pod rect')].map(r => ['x','y','width','height'].map(n => +r.getAttribute(n)))"
    )
    for at, (x, y, width, height) in enumerate(boxes):
        for left, top, wide, high in boxes[at + 1 :]:
            assert x + width <= left + 1 or left + wide <= x + 1 or y + height <= top or top + high <= y


def test_the_slider_shows_what_the_nodes_held_at_that_moment(opened: Open) -> None:
    page = opened([outcomes.night()])
    page.evaluate("document.querySelector('input[type=range]').value = 1500")
    page.evaluate("document.querySelector('input[type=range]').dispatchEvent(new Event('input'))")
    text = page.evaluate("document.querySelector('.moment').innerText")
    assert "Nodes at 00:25:00" in text
    card = page.evaluate(
        "[...document.querySelectorAll('.card')].find(c => c.querySelector('strong').textContent === 'gpu-0').innerText"
    )
    assert "train-0-worker" in card
    assert "0 free" in card  # its GPU
    assert "4.2 free" in card  # CPU: 7.91 less 3.5 of the job and 0.18 of the DaemonSet


def test_the_slider_follows_the_keyboard(opened: Open) -> None:
    page = opened([outcomes.night()])
    value = "Number(document.querySelector('input[type=range]').value)"
    shown = "document.querySelector('output').textContent"
    page.evaluate("document.querySelector('input[type=range]').focus()")
    before = page.evaluate(value), page.evaluate(shown)
    page.press("ArrowRight", RIGHT)
    after = page.evaluate(value), page.evaluate(shown)
    assert after[0] > before[0]
    assert after[1] != before[1]
    page.press("End", END)
    assert page.evaluate(value) == LASTS
    assert "02:30:00" in page.evaluate(shown)


def test_an_event_leads_to_its_moment(opened: Open) -> None:
    page = opened([outcomes.night()])
    page.evaluate("document.querySelectorAll('.events button')[1].click()")
    assert "00:35:00" in page.evaluate("document.querySelector('output').textContent")
    assert "workload-1" not in page.evaluate("document.querySelector('.moment').innerText")


def test_the_matrix_and_the_picker_choose_the_outcome(opened: Open) -> None:
    page = opened(SEVERAL)
    seen = "[...document.querySelectorAll('article')].filter(a => a.offsetHeight).map(a => a.id)"
    assert page.evaluate(seen) == ["outcome-0"]
    page.evaluate("document.querySelector('[data-pick=\"2\"]').click()")
    assert page.evaluate(seen) == ["outcome-2"]
    assert page.evaluate("document.getElementById('picker').value") == "2"
    page.evaluate("document.getElementById('picker').value = '1'")
    page.evaluate("document.getElementById('picker').dispatchEvent(new Event('change'))")
    assert page.evaluate(seen) == ["outcome-1"]
    assert page.complaints == []


def test_more_nodes_than_fit_share_a_lane_until_the_reader_asks(opened: Open) -> None:
    page = opened([outcomes.large()])
    lanes = "document.querySelectorAll('.lane').length"
    assert page.evaluate(lanes) < 100
    assert "980 share a lane" in page.evaluate("document.querySelector('.offer').textContent")
    page.evaluate("document.querySelector('.offer').click()")
    assert page.evaluate(lanes) == 400
    assert page.evaluate("document.querySelectorAll('*').length") < 40_000


@pytest.mark.parametrize(("dark", "paper"), [(False, False), (True, False), (True, True)])
def test_colours_follow_the_reader_and_paper_is_white(opened: Open, dark: bool, paper: bool) -> None:
    page = opened([outcomes.night()], dark=dark, paper=paper)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(16, 21, 27)" if dark and not paper else "rgb(255, 255, 255)")


@pytest.mark.parametrize("dark", [False, True])
def test_texts_stand_out_from_their_background(opened: Open, dark: bool) -> None:
    page = opened([outcomes.night()], dark=dark)
    names = {"text": 7, "dim": 4.5, "good": 4.5, "bad": 4.5, "accent": 4.5}
    style = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
    page_colour = page.evaluate(style.format("page"))
    for name, least in names.items():
        assert contrast(page.evaluate(style.format(name)), page_colour) >= least, name
    for index in range(6):
        ink, fill = (page.evaluate(style.format(f"{kind}{index}")) for kind in ("on", "c"))
        assert contrast(ink, fill) >= 3, index


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours, by WCAG 2."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(each * 2 for each in colour[1:])
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_paper_has_all_outcomes_and_no_slider(opened: Open) -> None:
    page = opened(SEVERAL, paper=True)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    seen = "[...document.querySelectorAll('article')].filter(a => a.offsetHeight).length"
    assert page.evaluate(seen) == 3
    assert page.evaluate("document.querySelectorAll('.chart svg').length") == 2
    hidden = "[...document.querySelectorAll('.controls, .moment, .picker')].every(e => !e.offsetHeight)"
    assert page.evaluate(hidden) is True
