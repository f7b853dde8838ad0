"""Drives a Chromium without a window, by its own protocol over a pipe: no driver, no package, no port.

SKINPY_CHROMIUM names the program; without it `chromium` on the PATH is taken.
"""

from __future__ import annotations

import base64
import fcntl
import io
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHROMIUM = os.environ.get("SKINPY_CHROMIUM") or shutil.which("chromium")
NO_BROWSER = "no Chromium: set SKINPY_CHROMIUM, or install one as `chromium`"

_PATIENCE = 900.0  # seconds for one answer; the machine may be busy
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    # WebGL in software, the same on every machine.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)


class Browser:
    """One Chromium with a profile of its own; `close` ends it. Use it in a `with` block."""

    def __init__(self, *flags: str) -> None:
        assert CHROMIUM, NO_BROWSER
        self._folder = tempfile.TemporaryDirectory(prefix="skinpy-chromium-", ignore_cleanup_errors=True)
        self._unread = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self._start([CHROMIUM, *_FLAGS, *flags, f"--user-data-dir={self._folder.name}", "about:blank"])

    def _start(self, command: list[str]) -> None:
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # root has none
        # The browser reads 3 and writes 4; numbers from 10 on cannot be in their way.
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out)]
        os.close(theirs_in)
        os.close(theirs_out)
        self._log = Path(self._folder.name, "log")
        actions: list[Any] = [
            (os.POSIX_SPAWN_DUP2, ends[0], 3),
            (os.POSIX_SPAWN_DUP2, ends[1], 4),
            (os.POSIX_SPAWN_OPEN, 1, str(self._log), os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        # A group of its own: the processes that it starts end with it.
        self._process = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setpgroup=0)
        for end in ends:
            os.close(end)
        self._in, self._out = ours_in, ours_out

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Say something and wait for the answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        number = self._number
        answer = self._until(lambda heard: heard.get("id") == number, f"an answer to {method}")
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def wait(self, method: str, session: str, **facts: Any) -> dict[str, Any]:
        """Wait for an event with these parameters, or give one that has come already."""

        def wanted(heard: dict[str, Any]) -> bool:
            if heard.get("method") != method or heard.get("sessionId") != session:
                return False
            return facts.items() <= {key: heard["params"].get(key) for key in facts}.items()

        for place, event in enumerate(self.events):
            if wanted(event):
                return self.events.pop(place)
        return self._until(wanted, f"{method} {facts or ''}")

    def _until(self, wanted: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        deadline = time.monotonic() + _PATIENCE
        while True:
            heard = self._hear(deadline, what)
            if wanted(heard):
                return heard
            if "method" in heard:
                self.events.append(heard)

    def _hear(self, deadline: float, what: str) -> dict[str, Any]:
        while b"\0" not in self._unread:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self._in], [], [], left)[0]
            part = os.read(self._in, 1 << 20) if ready else b""
            if not part:
                words = self._log.read_text(errors="replace")[-2000:] if self._log.exists() else ""
                raise AssertionError(f"Chromium did not send {what}. It wrote: {words}")
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        heard: dict[str, Any] = json.loads(message)
        return heard

    def close(self) -> None:
        for end in (self._in, self._out):
            os.close(end)
        os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        self._folder.cleanup()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Tab:
    """One page of a browser: what it shows, what it asked for, what it wrote to the console."""

    def __init__(self, browser: Browser, size: tuple[int, int] = (640, 480)) -> None:
        self._browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=target, flatten=True)
        self._target, self.session = target, attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.setLifecycleEventsEnabled", enabled=True)
        self.resize(size)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.send(method, self.session, **parameters)

    def resize(self, size: tuple[int, int]) -> None:
        width, height = size
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, **features: str) -> None:
        """Media features, such as prefers_reduced_motion="reduce"."""
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", features=listed)

    def open(self, path: Path) -> None:
        """Go to a file, and wait until it, and not the page before, is loaded."""
        gone = self.send("Page.navigate", url=path.resolve().as_uri())
        assert "errorText" not in gone, gone
        self._browser.wait("Page.lifecycleEvent", self.session, name="load", loaderId=gone["loaderId"])

    def run(self, code: str) -> Any:
        """The value of an expression; a promise's is waited for."""
        answer = self.send("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self) -> NDArray[np.uint8]:
        """(h, w, 3) uint8: what is seen."""
        from PIL import Image

        data = base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        with Image.open(io.BytesIO(data)) as image:
            return np.asarray(image.convert("RGB"))

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A mouse event: "mousePressed", "mouseMoved", "mouseReleased" or "mouseWheel"."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start: tuple[float, float], end: tuple[float, float], button: str = "left") -> None:
        held = {"button": button, "buttons": {"left": 1, "right": 2, "middle": 4}[button]}
        self.mouse("mousePressed", *start, clickCount=1, **held)
        for step in range(1, 6):
            x, y = (a + (b - a) * step / 5 for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", x, y, **held)
        self.mouse("mouseReleased", *end, button=button, clickCount=1)

    def key(self, key: str, code: str, **more: Any) -> None:
        """Press and release a key."""
        facts = {"key": key, "code": code, **more}
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **facts, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **facts)

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for."""
        self.run("0")  # what has happened has been said by then
        return [event["params"]["request"]["url"] for event in self._of("Network.requestWillBeSent")]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings in the console, and exceptions that nobody caught."""
        self.run("0")
        logged = [event["params"]["entry"] for event in self._of("Log.entryAdded")]
        said = [event["params"] for event in self._of("Runtime.consoleAPICalled")]
        return [
            *(str(event["params"]["exceptionDetails"]) for event in self._of("Runtime.exceptionThrown")),
            *(entry["text"] for entry in logged if entry["level"] in ("error", "warning")),
            *(str(one["args"]) for one in said if one["type"] in ("error", "warning", "assert")),
        ]

    def _of(self, method: str) -> list[dict[str, Any]]:
        events = self._browser.events
        return [e for e in events if e["method"] == method and e.get("sessionId") == self.session]

    def close(self) -> None:
        self._browser.send("Target.closeTarget", targetId=self._target)
