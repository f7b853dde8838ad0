"""Ctrl-C at any moment of anything long: KeyboardInterrupt, and nothing that stays.

tests/hostile/interrupt.py presses; here is what it must see, and a short run of it.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FULL_RUN, HANGS
from test_faults_memory import script

import skinpy
from skinpy._signals import answered, undisturbed

HERE = Path(__file__).resolve().parent
COUNT = 300 if FULL_RUN else 40

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is left is read from Linux's /proc")


def test_random_signals_leave_nothing_behind() -> None:
    # How soon an isolated load ends is the machine's pace: the script judges that on a quiet machine.
    options = ("--count", str(COUNT), "--latest", str(HANGS))
    command = [sys.executable, str(HERE / "hostile/interrupt.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert f"{COUNT} signals to " in done.stdout and done.stdout.endswith(" 0 faults\n")


# ---- what the script must see ---------------------------------------------------------------------------


@pytest.fixture
def interrupt() -> Iterator[Any]:
    usual = signal.getsignal(signal.SIGINT)
    yield script("interrupt")
    signal.signal(signal.SIGINT, usual)


LONG = 2000.0  #: seconds: what lasts so long ends by Ctrl-C alone
waiting = threading.Event()  #: set when `wait` has begun


def wait() -> None:
    waiting.set()
    time.sleep(LONG)


def pressed(
    interrupt: Any, during: Callable[[], object], path: Path | None = None, wanted: Any = None
) -> Any:
    """What is found where Ctrl-C comes in `during`, a work that a later call does at once: when it has come
    to `wait`, or after its end."""
    calls: list[Callable[[], object]] = [during]
    work = interrupt.Work("work", lambda: calls.pop()() if calls else None, path, wanted=wanted)
    waiting.clear()
    interrupt.press(work, 0.0, waiting)
    return work


def test_what_ends_well_is_no_fault(interrupt: Any) -> None:
    work = pressed(interrupt, wait)
    assert not work.faults and work.ended == 1 and 0 < work.late[0] < LONG / 3
    work = pressed(interrupt, lambda: None)
    assert not work.faults and work.ended == work.lost == 0


def test_loads_that_end_late_again_and_again_are_seen(interrupt: Any) -> None:
    def faults(name: str, *late: float) -> list[str]:
        work = interrupt.Work(name, lambda: None, late=list(late))
        interrupt.judge_lateness(work, 0.1)
        return list(work.faults)

    (words,) = faults("load a.glb", 0.001, 0.12, 0.13, 0.2)
    assert "ends late: after 125.0 ms (worst 200.0)" in words
    assert not faults("load a.glb", 0.001, 0.002, 0.003, 9.0), "one alone may be the machine's"
    assert not faults("load a.glb", 9.0, 9.0, 9.0), "too few"
    assert not faults("load a.glb here", 9.0, 9.0, 9.0, 9.0) and not faults("palette", 9.0, 9.0, 9.0, 9.0)


def test_what_stays_is_seen(interrupt: Any, tmp_path: Path) -> None:
    kept: list[Any] = []

    def leaving(what: Callable[[], object]) -> Callable[[], None]:
        return lambda: (kept.append(what()), wait())[1]

    def child() -> Any:
        return subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"])

    path = tmp_path / "a"
    fresh_model()
    try:
        for during, words in (
            (leaving(lambda: os.open(os.devnull, os.O_RDONLY)), "leaves open files"),
            (leaving(lambda: (tmp_path / "half").write_bytes(b"h")), "leaves files"),
            (leaving(lambda: path.write_bytes(b"half")), "neither the old nor the new"),
            (leaving(child), "leaves processes"),
            (leaving(fresh_model), "bytes of the core"),
        ):
            work = pressed(interrupt, during, path)
            assert len(work.faults) == 1 and words in work.faults[0], (words, work.faults)
    finally:
        for thing in kept:
            if isinstance(thing, subprocess.Popen):
                thing.kill()
                thing.wait()
    os.close(kept[0])


def fresh_model() -> skinpy.Model:
    """One whose block the core holds."""
    model: skinpy.Model = pickle.loads(pickle.dumps(skinpy.crane()))
    return model


def test_other_results_and_other_errors_are_seen(interrupt: Any) -> None:
    assert "another one" in pressed(interrupt, wait, wanted=5).faults[0]

    def mistake() -> None:
        try:
            wait()
        except KeyboardInterrupt:
            raise ValueError("this is no answer to Ctrl-C") from None

    assert "no answer to Ctrl-C" in pressed(interrupt, mistake).faults[0]


def test_signals_that_a_finalizer_swallows_are_counted(interrupt: Any) -> None:
    def swallow() -> None:
        with contextlib.suppress(KeyboardInterrupt):
            wait()

    work = pressed(interrupt, swallow)
    assert work.lost == 1 and work.ended == 0


# ---- steps that are not cut in two ----------------------------------------------------------------------


def send() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_waits_for_the_end_of_a_block() -> None:
    usual, done = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with undisturbed():
            send()
            done.append(1)
            send()
            done.append(2)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1, 2] and signal.getsignal(signal.SIGINT) is usual


def test_an_error_in_the_block_does_not_lose_ctrl_c() -> None:
    def work(disturb: Callable[[], None]) -> None:
        with undisturbed():
            disturb()
            raise ValueError("of the block")

    with pytest.raises(KeyboardInterrupt) as caught:
        work(send)
    assert isinstance(caught.value.__context__, ValueError)
    with pytest.raises(ValueError, match="of the block"):
        work(lambda: None)


def test_other_threads_and_other_handlers_are_left_alone() -> None:
    usual, seen = signal.getsignal(signal.SIGINT), []

    def elsewhere() -> None:
        with undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        elsewhere()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert seen == [usual, signal.SIG_IGN]


# ---- blocks that swallow it -----------------------------------------------------------------------------


def swallowing() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        send()
        time.sleep(LONG)


def test_ctrl_c_that_becomes_another_error_or_none_is_raised_after_all() -> None:
    usual, done = signal.getsignal(signal.SIGINT), []

    def fail() -> None:
        with answered():
            swallowing()
            raise ValueError("of what was swallowed")

    def go_on() -> None:
        with answered():
            swallowing()
            done.append(1)

    def end() -> None:
        with answered():
            send()
            time.sleep(LONG)

    for work, cause in ((fail, ValueError), (go_on, type(None)), (end, type(None))):
        with pytest.raises(KeyboardInterrupt) as caught:
            work()
        assert type(caught.value.__cause__) is cause
        assert signal.getsignal(signal.SIGINT) is usual
    assert done == [1]


def test_without_ctrl_c_errors_are_as_they_were() -> None:
    with pytest.raises(ValueError, match="of the block"), answered():
        raise ValueError("of the block")


def test_matplotlib_does_not_make_another_error_of_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its compiled code says "Invalid bounding box" of whatever is raised while it asks for one."""
    boxes = pytest.importorskip("matplotlib.transforms").BboxBase
    usual, path, asked = boxes.__array__, tmp_path / "curves.png", 0

    def plot(press_at: int) -> None:
        nonlocal asked
        asked = 0

        def disturbed(box: Any, *arguments: Any, **options: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == press_at:
                send()
            return usual(box, *arguments, **options)

        monkeypatch.setattr(boxes, "__array__", disturbed)
        skinpy.character().clips["walk"].plot("Hips", path)

    plot(0)
    whole, boxes_of_plot = path.read_bytes(), asked
    assert boxes_of_plot > 2
    for press_at in (1, 2, boxes_of_plot // 2, boxes_of_plot):
        path.write_bytes(b"old")
        with pytest.raises(KeyboardInterrupt):
            plot(press_at)
        assert path.read_bytes() in (b"old", whole) and os.listdir(tmp_path) == [path.name]
