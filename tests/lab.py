"""Drives a real JupyterLab: a server of its own, a notebook in it, and a Chromium that looks at it."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from browser import CHROMIUM, NO_BROWSER, Browser, Tab

MISSING = [name for name in ("jupyterlab", "ipykernel", "jupyter_rfb") if not importlib.util.find_spec(name)]
WHY_NOT = f"not installed: {', '.join(MISSING)}" if MISSING else "" if CHROMIUM else NO_BROWSER

_PATIENCE = 900.0  # seconds for whatever is waited for; the machine may be busy

# The picture of a live view, and the middle of an element on the page.
PICTURE = ".renderview-view"
_MIDDLE = """(e => {
    e.scrollIntoView({block: 'nearest'});
    const r = e.getBoundingClientRect();
    return [r.left + r.width / 2, r.top + r.height / 2, r.width, r.height];
})"""


_COUNT = f"""(() => {{
    const picture = document.querySelector({PICTURE!r});
    if (picture.counted === undefined) {{
        picture.counted = 0;
        new MutationObserver(() => picture.counted++).observe(picture, {{attributeFilter: ['src']}});
    }}
    return picture.counted;
}})()"""


class Lab:
    """JupyterLab with one notebook open; use it in a `with` block."""

    def __init__(self, cells: Sequence[str], size: tuple[int, int] = (1100, 1000)) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="skinpy-lab-", ignore_cleanup_errors=True)
        self.root = Path(self._folder.name, "notebooks")
        self.root.mkdir()
        self.path = self.root / "live.ipynb"
        self.path.write_text(json.dumps(_notebook(cells)))
        self._serve()
        try:
            self._browser, self._size = Browser("--disable-gpu"), size  # nothing here needs WebGL
            self.load()
        except BaseException:
            self.close()
            raise

    def _serve(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._token = secrets.token_hex(16)
        folder = Path(self._folder.name)
        news = folder / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
        news.parent.mkdir(parents=True)
        news.write_text('{"fetchNews": "false"}')
        homes = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
        environment = os.environ | {f"JUPYTER_{name}": str(folder / name) for name in homes}
        environment |= {"JUPYTERLAB_SETTINGS_DIR": str(folder), "JUPYTERLAB_WORKSPACES_DIR": str(folder)}
        options = {
            "IdentityProvider.token": self._token,
            "ServerApp.port": str(self._port),
            "ServerApp.open_browser": "False",
            "ServerApp.allow_root": "True",
            "ServerApp.root_dir": str(self.root),
            "LabApp.expose_app_in_browser": "True",
        }
        command = [
            sys.executable,
            "-m",
            "jupyterlab",
            *(f"--{key}={value}" for key, value in options.items()),
        ]
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self._server = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def load(self) -> None:
        """Open the notebook's page, as a person who comes, or comes back."""
        address = f"http://127.0.0.1:{self._port}"
        self.until(lambda: _answers(f"{address}/api?token={self._token}"), "the server")
        self.tab = Tab(self._browser, self._size)
        self.tab.send("Page.navigate", url=f"{address}/lab/tree/{self.path.name}?token={self._token}")
        kernel = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
        self.until(lambda: self.tab.run(f"{kernel} == 'idle'"), "the notebook with a kernel")
        if not self.tab.run("window.jupyterapp.shell.leftCollapsed"):
            self.command("application:toggle-left-area")

    def leave(self) -> None:
        """Close the page, without a word to the kernel."""
        self.tab.close()

    def command(self, name: str) -> None:
        """One of JupyterLab's commands, such as "docmanager:save"."""
        self.tab.run(f"window.jupyterapp.commands.execute({name!r}).then(() => 0)")

    def run_cell(self, number: int, wait: bool = True) -> str:
        """Run a cell; the text that it put out, if it is waited for."""
        panel = "window.jupyterapp.shell.currentWidget.content"
        self.tab.run(f"{panel}.activeCellIndex = {number}; 0")
        code = "window.jupyterapp.commands.execute('notebook:run-cell')"
        self.tab.run(f"{code}.then(() => 0)" if wait else f"{code}; 0")
        return self.output(number) if wait else ""

    def output(self, number: int) -> str:
        """The text that a cell has put out."""
        panel = "window.jupyterapp.shell.currentWidget.content"
        texts = f"[...{panel}.widgets[{number}].node.querySelectorAll('.jp-OutputArea-output pre')]"
        return str(self.tab.run(f"{texts}.map(e => e.innerText).join('')"))

    def place(self, selector: str, text: str = "") -> tuple[float, float, float, float]:
        """Middle, width and height of the first element of that kind that has a text in it."""
        found = f"[...document.querySelectorAll({selector!r})].find(e => e.innerText.includes({text!r}))"
        if not text:
            found = f"document.querySelector({selector!r})"
        self.until(lambda: self.tab.run(f"!!({found})"), f"{selector} {text}")
        x, y, width, height = self.tab.run(f"{_MIDDLE}({found})")
        return x, y, width, height

    def click(self, selector: str, text: str = "") -> None:
        x, y, *_ = self.place(selector, text)
        self.tab.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.tab.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def choose(self, label: str, option: str) -> None:
        """Choose from the menu with that label."""
        code = """(label, option) => {
            const box = [...document.querySelectorAll('.widget-dropdown')].find(
                e => e.querySelector('label')?.innerText == label);
            const menu = box.querySelector('select');
            menu.value = [...menu.options].find(o => o.text == option).value;
            menu.dispatchEvent(new Event('change', {bubbles: true})); return 0 }"""
        self.tab.run(f"({code})({label!r}, {option!r})")

    def scrub(self, share: float) -> None:
        """Drag the time slider to a share of its length."""
        left, y, width, _ = self.place(".widget-slider .noUi-base")
        handle = self.place(".widget-slider .noUi-handle")[0]
        self.tab.drag((handle, y), (left - width / 2 + share * width, y))

    def pictures(self) -> int:
        """How many pictures the live view has shown since this was first asked for."""
        return int(self.tab.run(_COUNT))

    def wait_for_pictures(self, count: int = 3) -> None:
        """Until the live view has shown so many more."""
        before = self.pictures()
        self.until(lambda: self.pictures() >= before + count, f"picture {count} of the live view")

    def until(self, condition: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come. {self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)

    def close(self) -> None:
        if hasattr(self, "_browser"):
            self._browser.close()
        os.killpg(self._server.pid, signal.SIGTERM)  # the server ends its kernels
        try:
            self._server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
        self._folder.cleanup()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _notebook(cells: Sequence[str]) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    listed = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for number, source in enumerate(cells)
    ]
    return {"cells": listed, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False
