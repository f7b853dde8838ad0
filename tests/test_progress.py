"""The line that shows progress on a terminal: when it comes, what it says, and that it goes in any case."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import _progress
from skinpy._progress import shown, working

PATIENCE = 120.0  # seconds for whatever is waited for; the machine may be busy


class Terminal(io.StringIO):
    """Standard error as a terminal that keeps what is written."""

    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> list[str]:
        """The lines that a reader sees, without empty ones."""
        return screen_of(self.getvalue())

    def until(self, words: str) -> None:
        """Wait until words have been written."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.getvalue():
            assert time.monotonic() < deadline, (words, self.getvalue())
            time.sleep(0.002)


def screen_of(written: str) -> list[str]:
    """What is seen where "\\r" goes back to the start of a line, whose letters are then written over."""
    lines = []
    for line in written.replace("\r\n", "\n").split("\n"):
        letters: list[str] = []
        for part in line.split("\r"):
            letters[: len(part)] = part
        lines.append("".join(letters).rstrip())
    return [line for line in lines if line]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    terminal = Terminal()
    # pytest takes standard error for itself between a fixture and its test.
    monkeypatch.setattr(_progress, "_terminal", lambda: terminal)
    monkeypatch.setattr(_progress, "DELAY", 0.0)
    monkeypatch.setattr(_progress, "_INTERVAL", 0.002)
    monkeypatch.setenv("COLUMNS", "60")
    yield terminal
    assert terminal.screen == []
    assert _progress._line is None
    assert not [one for one in threading.enumerate() if one.name == "skinpy-progress"]


def test_what_the_line_says(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "_ESTIMATED", 0.0)
    for number, _ in enumerate(shown(range(4), 4, "a.webp")):
        terminal.until(f"a.webp: {25 * number} % ({number} of 4)")
        if number:
            terminal.until(f"({number} of 4), 0 s left")
    with working("writing b.glb"):
        terminal.until("writing b.glb: 0 s")
        assert list(shown(iter("abc"), None, "c")) == ["a", "b", "c"]


def test_it_is_one_line_of_printable_text(terminal: Terminal) -> None:
    for title, seen in (("a\x1b]0;b\x07c\n" + "w" * 200, "www..."), ("\u9aa8" * 80, "\u9aa8...")):
        with working(title):
            terminal.until(seen)
            assert len(terminal.screen) == 1 and len(terminal.screen[0]) <= 59
    assert not re.search(r"[^\r\x20-\ud7ff\ue000-\uffff]", terminal.getvalue())


def test_the_innermost_work_is_shown_and_the_outer_one_comes_back(terminal: Terminal) -> None:
    with working("outer"):
        terminal.until("outer: 0 s")
        for _ in shown(range(1), 1, "inner"):
            terminal.until("inner: 0 %")
        with pytest.raises(ZeroDivisionError):
            loop(terminal)
        before = terminal.getvalue().count("outer")
        terminal.until("outer")
        while terminal.getvalue().count("outer") == before:
            time.sleep(0.002)


def loop(terminal: Terminal) -> None:
    """A loop that an error stops: its iterator lives on in the traceback."""
    with working("loop"):
        for _ in shown(range(9), 9, "failing"):
            terminal.until("failing: 0 %")
            raise ZeroDivisionError


def test_an_error_removes_it(terminal: Terminal) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        loop(terminal)
    assert terminal.screen == [] and caught.value is not None
    with working("next"):
        terminal.until("next: 0 s")


def test_another_thread_has_no_line_of_its_own(terminal: Terminal) -> None:
    done: list[int] = []
    with working("mine"):
        terminal.until("mine: 0 s")
        thread = threading.Thread(target=lambda: done.extend(shown(range(3), 3, "yours")))
        thread.start()
        thread.join()
    assert done == [0, 1, 2] and "yours" not in terminal.getvalue()


def test_a_warning_stands_alone(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    from skinpy.__main__ import _print_warning

    monkeypatch.setattr(sys, "stderr", terminal)
    with working("work"):
        terminal.until("work: 0 s")
        _print_warning("one")
        terminal.until("one\n")
    assert terminal.screen == ["skinpy: warning: one"]
    terminal.truncate(0)
    terminal.seek(0)


@pytest.mark.parametrize("kind", ["no terminal", "dumb", "closed", "none"])
def test_elsewhere_nothing_is_written(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream: Any = Terminal() if kind == "dumb" else io.StringIO()
    monkeypatch.setenv("TERM", "dumb" if kind == "dumb" else "xterm")
    monkeypatch.setattr(_progress, "DELAY", 0.0)
    if kind == "closed":
        stream.close()
    monkeypatch.setattr(sys, "stderr", None if kind == "none" else stream)
    before = threading.active_count()
    with working("work", 3):
        assert list(shown(range(3), 3, "steps")) == [0, 1, 2]
        assert threading.active_count() == before
    assert kind in ("closed", "none") or stream.getvalue() == ""


def test_short_work_shows_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "DELAY", 3600.0)
    assert list(shown(range(1000), 1000, "quick")) == list(range(1000))
    assert terminal.getvalue() == ""


# ---- all that takes long --------------------------------------------------------------------------------


def frames() -> list[Any]:
    return [np.full((8, 8, 4), value, np.uint8) for value in (0, 80, 255)]


def long_work() -> dict[str, tuple[Callable[[Path], object], str]]:
    """What may take long, and what its line says."""
    from skinpy import output, storage, view

    character = skinpy.character
    walk = "walk"
    small: dict[str, Any] = {"fps": 2, "size": (16, 16)}
    return {
        "film": (lambda folder: output.save_film(folder / "a.gif", frames(), 10), "a.gif"),
        "turntable": (
            lambda folder: character().clips[walk].save(folder / "b.gif", turntable=True, **small),
            "b.gif",
        ),
        "sheet": (lambda _: output.sheet(character(), [walk], frames=2, size=(60, 60)), "drawing a sheet"),
        "page": (lambda _: view.make_page(character(), walk, fps=2), "making a page"),
        "vertices": (lambda _: character().bake_vertices(walk, fps=3), "baking walk"),
        "texture": (lambda _: character().bake_texture(walk, fps=3), "baking clips"),
        "glb": (lambda folder: character().save(folder / "c.glb"), "writing c.glb"),
        "skn": (lambda folder: character().save(folder / "d.skn"), "writing d.skn"),
        "bvh": (lambda folder: character().clips[walk].save(folder / "e.bvh"), "writing e.bvh"),
        "npz": (lambda folder: character().clips[walk].to_npz(folder / "f.npz"), "writing f.npz"),
        "compress": (lambda _: character().clips[walk].compress(0.01), "compressing walk"),
        "quantize": (lambda _: storage.quantize(character().clips[walk], 0.01), "quantizing walk"),
        "compare": (lambda _: storage.compare(character(), walk, fps=5), "measuring walk"),
    }


@pytest.mark.parametrize("name", long_work())
def test_all_that_takes_long_shows_a_line(
    name: str, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[str] = []

    class Noted(_progress._Work):
        def __init__(self, title: str, *more: Any) -> None:
            super().__init__(title, *more)
            titles.append(title)

    monkeypatch.setattr(_progress, "_Work", Noted)
    work, title = long_work()[name]
    work(tmp_path)
    assert title in titles


def on_a_terminal(command: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command whose controlling terminal, standard error and standard input are a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=follower,
        stderr=follower,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        start_new_session=True,
        preexec_fn=take_terminal,
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(follower)
    return process, leader


def take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def read(leader: int, until: bytes = b"") -> str:
    """What is written to a terminal, to its end or until some bytes have come."""
    text, deadline = b"", time.monotonic() + PATIENCE
    while not (until and until in text):
        assert time.monotonic() < deadline, text
        if select.select([leader], [], [], 1.0)[0]:
            try:
                part = os.read(leader, 4096)
            except OSError:  # the last process has closed it
                part = b""
            if not part:
                break
            text += part
    return text.decode("utf-8", "replace")


def test_ctrl_c_ends_a_film_and_its_line(tmp_path: Path) -> None:
    pytest.importorskip("moderngl")
    pytest.importorskip("PIL", reason="Pillow (the extra `view`) writes films")
    file = str(Path(skinpy.__file__).parent / "data" / "character.glb")
    options = ["--turntable", "--fps", "900", "--size", "640x480"]
    command = [sys.executable, "-m", "skinpy", "render", file, "-o", "a.webp", *options]
    process, leader = on_a_terminal(command, tmp_path)
    try:
        seen = read(leader, b" % (")
        assert "a.webp: " in seen
        os.write(leader, b"\x03")
        seen += read(leader)
        assert process.wait(PATIENCE) == 130
    finally:
        process.kill()
        process.wait()
        os.close(leader)
    assert screen_of(seen.replace("^C", "")) == []
    assert list(tmp_path.iterdir()) == []
