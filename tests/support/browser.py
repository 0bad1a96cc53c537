"""A headless Chromium that tests drive by the DevTools protocol over a pipe; it needs no package except the browser."""

import base64
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

CHROMIUM: Final = shutil.which("chromium")
WHY_NOT: Final = "needs chromium on PATH (Debian: apt-get install chromium)"

HANGS: Final = 120
"""Seconds without an answer after which the browser counts as hanging."""

_FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    "--remote-debugging-pipe",
)
_NOISE: Final = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")


@dataclass
class Page:
    """A page in the browser.

    Parameters
    ----------
    browser
        The browser that shows it.
    session, target
        Identify it to the browser.
    """

    browser: "Browser"
    session: str
    target: str
    complaints: list[str] = field(default_factory=list)
    """Everything that the console shows, errors first of all."""
    requests: list[str] = field(default_factory=list)
    """URLs of all requests, the page's own included."""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol for this page, and return its result."""
        return self.browser.call(method, parameters, self)

    def notice(self, event: Mapping[str, Any]) -> None:
        """Keep what the browser reports about the page."""
        parameters = event["params"]
        if event["method"] in _NOISE:
            self.complaints.append(json.dumps(parameters))
        elif event["method"] == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(
        self, file: Path, *, width: int = 1280, height: int = 900, dark: bool = False, paper: bool = False
    ) -> None:
        """Open a file and wait until it is loaded."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if paper else "", features=[scheme])
        self.call("Page.navigate", url=file.as_uri())
        self.browser.until("Page.loadEventFired")

    def resize(self, width: int, height: int = 900) -> None:
        """Give the page another size, and wait until it is drawn again."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression.

        Raises
        ------
        AssertionError
            The expression threw something.
        """
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def close(self) -> None:
        """Close the page."""
        self.browser.call("Target.closeTarget", {"targetId": self.target})
        self.browser.pages.pop(self.session, None)

    def press(self, key: str, code: int) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, file: Path, *, top: float = 0, height: float | None = None, scale: float = 1) -> None:
        """Write a picture of the page, from ``top`` down; of all of it by default."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": top, "width": size["width"], "height": height or size["height"] - top, "scale": scale}
        shot = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))


@dataclass
class Browser:
    """A running browser."""

    to: int
    back: int
    pages: dict[str, Page] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    _number: int = 0
    _rest: bytes = b""

    def call(self, method: str, parameters: Mapping[str, Any], page: Page | None = None) -> dict[str, Any]:
        """Call a method and return its result.

        Raises
        ------
        AssertionError
            The browser refuses it.
        """
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        os.write(self.to, json.dumps({**message, **({"sessionId": page.session} if page else {})}).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def until(self, event: str) -> None:
        """Wait for an event that may have come already."""
        while event not in self.events:
            self._next()
        self.events.clear()

    def page(self) -> Page:
        """Open an empty page."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self.pages[session] = Page(self, session, target)
        return self.pages[session]

    def _next(self) -> dict[str, Any]:
        waiting = select.poll()  # unlike select(), it takes descriptors beyond 1,024, which a long test run has
        waiting.register(self.back, select.POLLIN)
        while b"\0" not in self._rest:
            assert waiting.poll(HANGS * 1000), "the browser does not answer"
            part = os.read(self.back, 1 << 20)
            assert part, "the browser ended"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self.events.append(message["method"])
            if page := self.pages.get(message.get("sessionId", "")):
                page.notice(message)
        return message


def _command(folder: str, ends: Sequence[int]) -> list[str]:
    # The browser reads commands from descriptor 3 and answers on 4.
    redirected = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}'
    return ["bash", "-c", redirected, "bash", str(CHROMIUM), *_FLAGS, f"--user-data-dir={folder}"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser, and end it with its profile."""
    commands, to = os.pipe()
    back, answers = os.pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            _command(folder, (commands, answers)),
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": folder},
        )
        os.close(commands)
        os.close(answers)
        try:
            yield Browser(to, back)
        finally:
            os.close(to)  # it ends when its pipe is closed
            os.close(back)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
