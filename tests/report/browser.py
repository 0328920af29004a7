"""A headless Chromium driven through a pipe, so that a page is tested as a reader meets it."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATH = next(filter(None, map(shutil.which, NAMES)), None)
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-sandbox",  # containers run as root; the pages are our own
    "--disable-background-networking",
)


class Browser:
    """Speaks the DevTools protocol: commands on descriptor 3, answers and events on 4."""

    def __init__(self, folder):
        down, self._out = os.pipe()
        self._in, up = os.pipe()

        # The child finds its ends at 3 and 4 wherever they were opened.
        def ends():
            os.dup2(down, 100)
            os.dup2(up, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self._process = subprocess.Popen(
            [PATH, *_FLAGS, f"--user-data-dir={folder}"],
            close_fds=False,
            preexec_fn=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(down)
        os.close(up)
        self._buffer, self._id, self.events = b"", 0, []

    def close(self):
        with contextlib.suppress(OSError):
            self._send("Browser.close", {}, None)
        os.close(self._out)
        self._process.wait(20)
        os.close(self._in)

    def _send(self, method, params, session):
        self._id += 1
        message = {"id": self._id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._id

    def _receive(self):
        while b"\0" not in self._buffer:
            read = os.read(self._in, 1 << 20)
            if not read:
                msg = "the browser ended"
                raise EOFError(msg)
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        """Send a command; return its result, keeping the events that come before it."""
        wanted = self._send(method, params, session)
        while (message := self._receive()).get("id") != wanted:
            self.events.append(message)
        assert "error" not in message, (method, message["error"])
        return message["result"]

    def until(self, method, session):
        """Wait for an event."""
        while True:
            for index, message in enumerate(self.events):
                if message.get("method") == method and message.get("sessionId") == session:
                    return self.events.pop(index)
            self.events.append(self._receive())


class Tab:
    """One page, opened at an address with a window of a given width."""

    def __init__(self, browser, address, width=1280, *, dark=False, height=900, script=True):
        self.browser = browser
        self._attach(browser.call("Target.createTarget", url="about:blank")["targetId"])
        self.resize(width, height)
        if dark:
            value = {"name": "prefers-color-scheme", "value": "dark"}
            self.call("Emulation.setEmulatedMedia", features=[value])
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.load(address)

    def _attach(self, target):
        self.target = target
        attached = self.browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def inside(self, address):
        """Return the frame at an address, which has a process of its own."""
        while True:
            for target in self.browser.call("Target.getTargets")["targetInfos"]:
                if target["type"] == "iframe" and target["url"] == address:
                    frame = object.__new__(Tab)
                    frame.browser = self.browser
                    frame._attach(target["targetId"])
                    return frame

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height=900):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def load(self, address):
        self.call("Page.navigate", url=address)
        self.browser.until("Page.loadEventFired", self.session)

    def eval(self, expression):
        """Return what an expression of the page's own world is, awaited, with a click's rights."""
        found = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key, code, text=""):
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def said(self, *methods):
        """Return the events of some kinds that this tab has sent so far."""
        self.eval("1")
        return [
            each
            for each in self.browser.events
            if each.get("sessionId") == self.session and each.get("method") in methods
        ]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


@contextlib.contextmanager
def opened():
    """Yield a browser with a profile of its own."""
    folder = tempfile.mkdtemp(prefix="symreln-browser-")
    browser = Browser(Path(folder) / "profile")
    try:
        yield browser
    finally:
        browser.close()
        shutil.rmtree(folder, ignore_errors=True)
