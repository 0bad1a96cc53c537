"""Renders reports as self-contained HTML pages from their full Markdown, without scripts or network access."""

import sys
from typing import Final

from markdown_it import MarkdownIt

from workbench.report import markdown
from workbench.report.model import Outcome, Report
from workbench.report.words import verdict

_STYLE: Final = """
:root { color-scheme: light dark; --text: #1c2128; --dim: #59636e; --line: #d0d7de; --shade: #f3f5f7; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dfe5eb; --dim: #9aa5b1; --line: #3a424b; --shade: #1d232b; --page: #12161b; }
}
body { max-width: 62rem; margin: 2rem auto; padding: 0 1.5rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
body.passed { --verdict: #1a7f37; } body.review { --verdict: #9a6700; }
body.blocked { --verdict: #cf222e; } body.unjudged { --verdict: #8250df; }
h2:first-of-type { color: var(--verdict); border-left: .5rem solid var(--verdict); padding-left: .8rem; }
h2, h3 { border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h4 { margin: 1.2rem 0 .4rem; }
code { background: var(--shade); border-radius: 4px; padding: .1em .35em; font: .86em "DejaVu Sans Mono", monospace; }
table { border-collapse: collapse; margin: .6rem 0; }
th, td { border: 1px solid var(--line); padding: .3rem .7rem; text-align: left; overflow-wrap: normal; }
th { background: var(--shade); }
blockquote { margin: 1rem 0; padding: .1rem 1rem; border-left: 4px solid var(--line); color: var(--dim); }
summary { cursor: pointer; font-weight: 600; }
ul { padding-left: 1.4rem; margin: .4rem 0; }
"""

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>igz-clusters: {title}</title>
<style>{style}</style>
<body class="{outcome}">
{body}</body>
</html>
"""


def render(report: Report) -> str:
    """Return the page with the full report."""
    return page(markdown.render(report, limit=sys.maxsize), title=verdict(report), outcome=report.outcome)


def page(text: str, *, title: str, outcome: Outcome) -> str:
    """Return a page.

    Parameters
    ----------
    text
        Markdown, in which all untrusted text is already code or plain words.
    title, outcome
        Name of the page, as trusted text, and what colours it.
    """
    # HTML is enabled for collapsible sections.
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    return _PAGE.format(title=title, style=_STYLE, outcome=outcome.value, body=parser.render(text))
