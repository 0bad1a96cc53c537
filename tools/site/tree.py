"""The pages of the site, and where each file of the repository is on it.

Every page is a Markdown file of the repository, which also reads well there, or derived from files: a page for each
rule and each kind's keys, which are sections of longer pages, whole stack files by kind, the commands, and files that
pages link to.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

import yaml

from components.contract.clusters import DESCRIPTORS
from infra.config import CONFIG_KEY
from policies.examples import FOLDER as RULES_FOLDER
from tools.site.commands import page as command_page
from tools.site.markdown import fenced, portable, slug
from tools.tracked import tracked
from workbench.system.paths import PROJECT_ROOT

CONFIGURATION: Final = "docs/configuration.md"
POLICIES: Final = "docs/policies.md"
ELSEWHERE: Final = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "docs/decisions/README.md": "decisions/index.md",
}
"""Pages of the site by their file, if the path below ``docs`` is not theirs."""

_KIND: Final = re.compile(r"^## Kind (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_RULE: Final = re.compile(r'^<a id="([a-z]{2}-\d\d)"></a>\n\n## (.*?)\n(.*?)(?=^<a id=|\Z)', re.MULTILINE | re.DOTALL)
_MERMAID: Final = re.compile(r"```mermaid\n(.*?)```\n", re.DOTALL)
_ARROW: Final = re.compile(r"^ *(\S+) --> (\S+)$", re.MULTILINE)
_TEXT_OF_ARROW: Final = re.compile(r' (?:-- "(.+?)" -->|-\. "?([^".]+?)"? \.->) ')
_SUBGRAPH: Final = re.compile(r"subgraph (\w+)\n(.*?)\n *end$", re.DOTALL | re.MULTILINE)
_LABEL: Final = re.compile(r'(\w+)\["?([^\]"]+)"?\]')
_LANGUAGES: Final = {".py": "python", ".yaml": "yaml", ".yml": "yaml"}
_COPIED: Final = (".png", ".svg", ".json")
"""Suffixes of files that a browser shows as they are."""
_UNSEARCHED: Final = "---\nsearch:\n  exclude: true\n---\n\n"


@dataclass(frozen=True)
class Page:
    """A page before its links are those of the site.

    Parameters
    ----------
    path
        Its Markdown file on the site.
    origin
        The file of the repository to which its links are relative.
    text
        Its Markdown, as for GitHub.
    is_searched
        Whether the site's search finds it.
    """

    path: str
    origin: str
    text: str
    is_searched: bool = True


@dataclass
class Site:
    """All pages, and what they link to.

    Parameters
    ----------
    root
        The checkout.
    """

    root: Path = PROJECT_ROOT
    _shown: dict[str, str] = field(default_factory=dict)

    @cached_property
    def files(self) -> list[str]:
        """Files that Git tracks, and new ones that it does not ignore."""
        return tracked(root=self.root, and_new=True)

    @cached_property
    def stack_files(self) -> Mapping[str, list[str]]:
        """The complete stack files, by kind of cluster."""
        found: dict[str, list[str]] = {each.kind: [] for each in DESCRIPTORS}
        for name in self.files:
            path = PurePosixPath(name)
            is_example = path.parts[0] == "examples" or len(path.parts) == 1
            if is_example and re.fullmatch(r"Pulumi\.[\w-]+\.yaml", path.name):
                settings = yaml.safe_load(self.read(name))["config"][CONFIG_KEY]
                if "base" not in settings:
                    found[settings["cluster"]["kind"]].append(name)
        return found

    @cached_property
    def places(self) -> Mapping[str, str]:
        """Places on the site, some with an anchor, by file, or by file and anchor for sections that are pages."""
        found = {name: _place(name) for name in self.files if _is_page(name)} | ELSEWHERE
        for kind, _ in _KIND.findall(self.read(CONFIGURATION)):
            found[f"{CONFIGURATION}#kind-{kind}"] = f"reference/{kind}.md"
        for anchor, title, _ in _RULE.findall(self.read(POLICIES)):
            found |= dict.fromkeys((f"{POLICIES}#{anchor}", f"{POLICIES}#{slug(title)}"), f"rules/{anchor}.md")
        for path in RULES_FOLDER.glob("*/examples/*.yaml"):
            found[path.relative_to(self.root).as_posix()] = f"rules/{path.stem}.md#examples"
        for kind, names in self.stack_files.items():
            found |= dict.fromkeys(names, f"examples/{kind}.md")
        return found

    def read(self, name: str) -> str:
        """Return the text of a file of the repository."""
        return (self.root / name).read_text(encoding="utf-8")

    def link(self, page: Page, target: str) -> str:
        """Return the target of a link on the site; the file that it leads to is shown there too."""
        file, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            return target
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page.origin), file)) if file else page.origin
        section = self.places.get(f"{name}#{anchor}")
        place, _, own = (section or self.places.get(name) or self._show(name)).partition("#")
        anchor = "" if section else own or anchor
        relative = posixpath.relpath(place, posixpath.dirname(page.path) or ".")
        return f"#{anchor}" if place == page.path and anchor else f"{relative}{'#' * bool(anchor)}{anchor}"

    def staged(self) -> Iterator[tuple[str, str | bytes]]:
        """Yield the path and the content of each file of the site's source."""
        commands = Page("commands.md", "docs/commands.md", command_page())
        for page in (*self.documents(), *self._rules(), *self._kinds(), *self._stack_files(), commands):
            yield self._staged(page)
        done = set[str]()
        while waiting := [name for name in self._shown if name not in done]:
            for name in waiting:
                done.add(name)
                yield self._staged_file(name)

    def _staged(self, page: Page) -> tuple[str, str]:
        text = portable(page.text, lambda target: self.link(page, target))
        return page.path, text if page.is_searched else _UNSEARCHED + text

    def _show(self, name: str) -> str:
        """Return where a file or folder is shown that has no page of its own."""
        place = name.removeprefix("docs/") if name.startswith("docs/") else f"source/{name}"
        place = place.replace("/.", "/")  # the generator leaves hidden files out
        self._shown[name] = place if name.endswith(_COPIED) else f"{place.removesuffix('.md')}.md"
        return self._shown[name]

    def _staged_file(self, name: str) -> tuple[str, str | bytes]:
        place, path = self._shown[name], self.root / name
        if name.endswith(_COPIED):
            return place, path.read_bytes()
        if name.endswith(".md"):
            return self._staged(Page(place, name, self.read(name), is_searched=False))
        if path.is_dir():
            listed = "\n".join(each for each in self.files if each.startswith(f"{name}/"))
            return place, f"{_UNSEARCHED}# {name}/\n\n{fenced(listed, 'text')}\n"
        shown = fenced(self.read(name), _LANGUAGES.get(path.suffix, "text"))
        return place, f"{_UNSEARCHED}# {name}\n\n{shown}\n"

    def documents(self) -> Iterator[Page]:
        """Yield the pages that are files of the repository, without sections that are pages of their own."""
        for name in self.files:
            if _is_page(name) or name in ELSEWHERE:
                text = _KIND.sub("", self.read(name)) if name == CONFIGURATION else self.read(name)
                text = _RULE.sub("", text) if name == POLICIES else text
                yield Page(self.places[name], name, _MERMAID.sub(lambda found: _arrows(found.group(1)), text))

    def _rules(self) -> Iterator[Page]:
        examples = {path.stem: path for path in RULES_FOLDER.glob("*/examples/*.yaml")}
        for anchor, title, text in _RULE.findall(self.read(POLICIES)):
            shown = fenced(examples[anchor].read_text(encoding="utf-8"), "yaml")
            also = "[All rules](policies.md) · [how to waive one](policies-in-use.md#a-waiver)"
            whole = f"# {title}\n\n{also}\n{text}\n## Examples\n\n{shown}\n"
            yield Page(f"rules/{anchor}.md", POLICIES, whole)

    def _kinds(self) -> Iterator[Page]:
        for kind, text in _KIND.findall(self.read(CONFIGURATION)):
            also = f"Keys of `cluster` for kind `{kind}`. [Keys of all kinds](configuration.md)"
            yield Page(f"reference/{kind}.md", CONFIGURATION, f"# Keys of kind {kind}\n\n{also}\n{text}")

    def _stack_files(self) -> Iterator[Page]:
        for kind, names in self.stack_files.items():
            parts = [f"# Stack files of kind {kind}", "Complete stack files, which the tests build and check."]
            for name in names:
                parts += [f"## {name}", fenced(self.read(name), "yaml")]
            yield Page(f"examples/{kind}.md", CONFIGURATION, "\n\n".join(parts))


def _is_page(name: str) -> bool:
    return name.startswith("docs/") and name.endswith(".md") and name not in ELSEWHERE


def _place(name: str) -> str:
    return name.removeprefix("docs/")


def _arrows(diagram: str) -> str:
    """Return the arrows of a diagram as a table: the site draws none, because that would need a library of its own.

    Those of a diagram whose arrows have texts are in the table one by one, with the labels of what they connect.
    """
    if _TEXT_OF_ARROW.search(diagram):
        labels = {name: label.replace("<br>", ": ") for name, label in _LABEL.findall(diagram)}
        for name, inside in _SUBGRAPH.findall(diagram):
            labels[name] = f"{name} ({', '.join(label for _, label in _LABEL.findall(inside))})"
        listed = [
            f"| {labels.get(before, before)} | {text} | {labels.get(after, after)} |"
            for line in diagram.splitlines()
            for before, text, after in _links(_LABEL.sub(r"\1", line))
        ]
        return "\n".join(["| from | how | to |", "|---|---|---|", *listed, ""])
    rows: dict[str, list[str]] = {}
    for importer, imported in _ARROW.findall(diagram):
        rows.setdefault(importer, []).append(f"`{imported}`")
    if not rows:
        return fenced(diagram, "text")
    listed = [f"| `{importer}` | {', '.join(imported)} |" for importer, imported in rows.items()]
    return "\n".join(["| from | to |", "|---|---|", *listed, ""])


def _links(line: str) -> Iterator[tuple[str, str, str]]:
    """Yield the arrows of a line, which may be a chain of them: from, text, to."""
    before, *others = _TEXT_OF_ARROW.sub(r" --> \1\2|", line).split(" --> ")
    for each in others:
        text, _, after = each.rpartition("|")
        yield before.strip(), text, after.strip()
        before = after
