"""A headless Chromium, driven through its debugging pipe with the standard library alone."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

__all__ = ["PATIENCE", "Browser", "Tab", "binary"]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)
PATIENCE = 900.0
_LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def binary() -> str | None:
    """Path of a Chromium, $ANNOMODELS_CHROMIUM first; None without one."""
    named = os.environ.get("ANNOMODELS_CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


class Browser(contextlib.AbstractContextManager["Browser"]):
    """A browser of its own; ends with the ``with`` block.

    The protocol: JSON messages with a zero byte between them, to descriptor 3 of the browser and
    from its descriptor 4.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
        command = [sys.executable, "-c", _LAUNCH, *map(str, ends), str(binary()), *_QUIET]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={self._folder.name}", "about:blank"],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (theirs_in, theirs_out, *ends):
            os.close(end)
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._folder.cleanup()

    def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events that come before it are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self.receive()
            if found.get("id") == number:
                assert "error" not in found, found["error"]
                result: dict[str, Any] = found["result"]
                return result

    def receive(self) -> dict[str, Any]:
        """Give the next message; events are kept too."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("The browser does not answer.")
            piece = os.read(self._in, 1 << 16)
            if not piece:
                raise OSError("The browser has ended.")
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def tab(self, **kind: Any) -> Tab:
        """Open a tab; `kind` may hold width, dark=True, script=False."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Tab(self, session, target, **kind)


class Tab:
    """A tab that notes what the page asks for and complains about."""

    def __init__(
        self,
        browser: Browser,
        session: str,
        target: str,
        width: int = 1280,
        dark: bool = False,
        script: bool = True,
    ) -> None:
        self._browser, self._session, self._target = browser, session, target
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **params)

    def open(self, url: str) -> None:
        """Go to a page and wait until all of it is there."""
        before = self._loads()
        self.call("Page.navigate", url=url)
        while self._loads() == before:
            self._browser.receive()

    def _loads(self) -> int:
        return sum(e["method"] == "Page.loadEventFired" for e in self._events())

    def close(self) -> None:
        """Close the tab; what it noted is forgotten."""
        self._browser.call("Target.closeTarget", targetId=self._target)
        events = self._browser.events
        events[:] = [e for e in events if e.get("sessionId") != self._session]

    def evaluate(self, expression: str) -> Any:
        """Value of a JavaScript expression, or what its promise comes to."""
        kind = {"returnByValue": True, "awaitPromise": True}
        found = self.call("Runtime.evaluate", expression=expression, **kind)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def _events(self) -> list[dict[str, Any]]:
        return [e for e in self._browser.events if e.get("sessionId") == self._session]

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for."""
        sent = [e for e in self._events() if e["method"] == "Network.requestWillBeSent"]
        return [e["params"]["request"]["url"] for e in sent]

    @property
    def complaints(self) -> list[Any]:
        """Errors, warnings and blocked parts."""
        names = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [e["params"] for e in self._events() if e["method"] in names]
