"""Every writer, where the place to write to is wrong, full or goes away: OSError, no half-written file."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HANGS

import skinpy
from skinpy.__main__ import main
from skinpy.files import whole

Writer = Callable[[Path], object]
SIZE = (24, 24)
FRAME = np.random.default_rng(3).integers(0, 255, (24, 24, 4), np.uint8)  # noise: no format makes it small


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.crane()


def picture(suffix: str) -> Any:
    def write(model: skinpy.Model, path: Path) -> None:
        pytest.importorskip("PIL")
        from skinpy.output import save_picture

        save_picture(path, FRAME)

    return (suffix, write)


def film(suffix: str) -> Any:
    def write(model: skinpy.Model, path: Path) -> None:
        pytest.importorskip("PIL")
        from skinpy.output import save_film

        if suffix == ".mp4" and not shutil.which("ffmpeg"):
            pytest.importorskip("imageio_ffmpeg")
        save_film(path, (np.roll(FRAME, i, 0) for i in range(8)), 10)

    return (suffix, write)


def drawn(suffix: str) -> Any:
    def write(model: skinpy.Model, path: Path) -> None:
        pytest.importorskip("moderngl")
        model.clips["slew"].save(path, size=SIZE)

    return (suffix, write)


def write_truth(model: skinpy.Model, path: Path) -> None:
    pytest.importorskip("moderngl")
    from skinpy.render import Renderer

    with Renderer(model, size=SIZE) as renderer:
        renderer.render("slew", 0.1).save(path)


def write_curves(model: skinpy.Model, path: Path) -> None:
    pytest.importorskip("matplotlib")
    model.clips["slew"].plot("slew", path)


def write_machine(model: skinpy.Model, path: Path) -> None:
    skinpy.StateMachine({"start": "a", "states": {"a": {"clip": "slew"}}}).save(path)


def command(*words: str) -> Callable[[skinpy.Model, Path], None]:
    """The command, which says what is wrong and ends with 1; the test wants OSError."""

    def write(model: skinpy.Model, path: Path) -> None:
        source = Path(skinpy.__file__).parent / "data" / "crane.glb"
        status = main([word.format(source=source, path=path) for word in words])
        if status:
            raise OSError(f"the command ended with {status}")

    return write


def drawing(*words: str) -> Callable[[skinpy.Model, Path], None]:
    def write(model: skinpy.Model, path: Path) -> None:
        pytest.importorskip("moderngl")
        command(*words)(model, path)

    return write


WRITERS: dict[str, tuple[str, Callable[[skinpy.Model, Path], object]]] = {
    "Model.save .skn": (".skn", lambda model, path: model.save(path)),
    "Model.save .glb": (".glb", lambda model, path: model.save(path)),
    "Model.to_html": (".html", lambda model, path: model.to_html(path, "slew", fps=2.0)),
    "Clip.to_html": (".html", lambda model, path: model.clips["slew"].to_html(path, fps=2.0)),
    "Clip.save .html": (".html", lambda model, path: model.clips["slew"].save(path, fps=2.0)),
    "Page.save": (".html", lambda model, path: model.page("slew", fps=2.0).save(path)),
    "BakedTexture.save": (".npz", lambda model, path: model.bake_texture("slew", 4.0).save(path)),
    "GroundTruth.save": (".npz", write_truth),
    "StateMachine.save": (".json", write_machine),
    "Clip.plot .svg": (".svg", write_curves),
    "Clip.plot .png": (".png", write_curves),
    "Clip.save .png": drawn(".png"),
    "Clip.save .gif": drawn(".gif"),
    "explain --html": (".html", command("explain", "{source}", "--vertex", "5", "--html", "{path}")),
    "curves -o": (".svg", command("curves", "{source}", "--joint", "slew", "-o", "{path}")),
    "render -o .png": (".png", drawing("render", "{source}", "--size", "24x24", "-o", "{path}")),
    "render -o .gif": (
        ".gif",
        drawing("render", "{source}", "--size", "24x24", "--fps", "4", "-o", "{path}"),
    ),
    "sheet -o": (".png", drawing("sheet", "{source}", "--frames", "2", "--size", "24x24", "-o", "{path}")),
    "page -o": (".html", command("page", "{source}", "-o", "{path}")),
    **{f"save_picture {suffix}": picture(suffix) for suffix in (".png", ".jpg", ".tif", ".bmp")},
    **{f"save_film {suffix}": film(suffix) for suffix in (".png", ".gif", ".webp", ".mp4")},
}


@pytest.fixture(params=sorted(WRITERS))
def suffix_and_writer(request: pytest.FixtureRequest, model: skinpy.Model) -> tuple[str, Writer]:
    suffix, write = WRITERS[request.param]
    return suffix, lambda path: write(model, path)


@contextmanager
def files_of_at_most(count: int) -> Iterator[None]:
    """A disk that is full after so many bytes of a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_wrong_place(suffix_and_writer: tuple[str, Writer], tmp_path: Path) -> None:
    """No folder, a file for a folder, a folder for a file, a name too long, a place for no files at all."""
    suffix, write = suffix_and_writer
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / f"folder{suffix}").mkdir()
    places = ["no/a", "file/a", "folder", "x" * 300]
    for place in [*(tmp_path / f"{place}{suffix}" for place in places), Path(f"/proc/a{suffix}")]:
        with pytest.raises(OSError, match=r"."):
            write(place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", f"folder{suffix}"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_full_disk(suffix_and_writer: tuple[str, Writer], tmp_path: Path) -> None:
    """The old file stays, and nothing of the new one; and then, with room, the new one is written."""
    suffix, write = suffix_and_writer
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"old")
    with files_of_at_most(40), pytest.raises(OSError, match=r"."):
        write(path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == [path.name]
    write(path)
    assert path.stat().st_size > 40 and os.listdir(tmp_path) == [path.name]


def test_a_working_folder_that_was_removed(
    suffix_and_writer: tuple[str, Writer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    suffix, write = suffix_and_writer
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(OSError, match=r".") as error:
        write(Path(f"file{suffix}"))
    words = f"{error.value}{capsys.readouterr().err}"  # commands print theirs
    assert f"'file{suffix}'" in words and "make the folder first" in words


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_device(suffix_and_writer: tuple[str, Writer], tmp_path: Path) -> None:
    suffix, write = suffix_and_writer
    path = tmp_path / f"full{suffix}"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"."):
        write(path)
    assert os.listdir(tmp_path) == [path.name] and path.is_symlink()


def test_a_folder_that_goes_away(
    suffix_and_writer: tuple[str, Writer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the file is written, just before it would get its name."""
    suffix, write = suffix_and_writer
    folder = tmp_path / "folder"
    folder.mkdir()
    replace = os.replace

    def vanish(draft: Path, target: Path) -> None:
        shutil.rmtree(folder)
        replace(draft, target)

    monkeypatch.setattr(whole.os, "replace", vanish)
    with pytest.raises(OSError, match=r"."):
        write(folder / f"a{suffix}")
    assert os.listdir(tmp_path) == []


def test_errors_say_the_path_and_what_helps(model: skinpy.Model, tmp_path: Path) -> None:
    with files_of_at_most(40), pytest.raises(OSError, match=r"a\.skn") as caught:
        model.save(tmp_path / "a.skn")
    assert caught.value.errno == errno.EFBIG and "another disk" in str(caught.value)
    with pytest.raises(OSError, match=r"machine\.json") as caught:
        write_machine(model, tmp_path / "no" / "machine.json")
    assert "make the folder first" in str(caught.value)


# ------------------------------------------------------------------------------------------------ Ctrl-C

INTERRUPTED = """
    import sys, signal
    import numpy as np
    import skinpy
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kind, path = sys.argv[1:]
    model = skinpy.crane()
    try:
        print("ready", flush=True)
        if kind == "film":
            from skinpy.output import save_film
            frame = np.random.default_rng(1).integers(0, 255, (256, 256, 4), np.uint8)
            save_film(path, (np.roll(frame, i, 0) for i in range(1_000_000)), 10)
        elif kind == "drawn":
            model.clips["slew"].save(path, fps=1000.0, size=(640, 480), turntable=True)
        elif kind == "batch":
            while True:
                model.palette("slew", np.zeros(20_000))
        elif kind == "write":
            while True:
                model.save(path)
    except KeyboardInterrupt:
        assert model.palette("slew", 0.1).shape == (6, 4, 4)
        print("interrupted", flush=True)
"""


LONG_WORK = [("film", ".mp4"), ("film", ".gif"), ("drawn", ".webp"), ("batch", ".none"), ("write", ".skn")]


def needs_of(kind: str, suffix: str) -> None:
    if kind in ("film", "drawn", "render"):
        pytest.importorskip("PIL")
    if kind in ("drawn", "render"):
        pytest.importorskip("moderngl")
    if suffix == ".mp4" and not shutil.which("ffmpeg"):
        pytest.importorskip("imageio_ffmpeg")


@contextmanager
def interrupted(
    command: list[str], number: int, folder: Path, writes: bool = True
) -> Iterator[subprocess.Popen[str]]:
    """A program that gets a signal while it writes into the folder."""
    child = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        if "-c" in command:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
        deadline = time.monotonic() + HANGS
        while writes and not os.listdir(folder) and child.poll() is None:
            assert time.monotonic() < deadline, "nothing is written"
            time.sleep(0.01)
        time.sleep(0.3)  # any moment will do
        child.send_signal(number)
        yield child
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize(("kind", "suffix"), LONG_WORK)
def test_ctrl_c(kind: str, suffix: str, tmp_path: Path) -> None:
    """Long exports and batches end at Ctrl-C, and what they were writing is gone, or whole."""
    needs_of(kind, suffix)
    path = tmp_path / f"a{suffix}"
    command = ["-c", textwrap.dedent(INTERRUPTED), kind, str(path)]
    with interrupted(command, signal.SIGINT, tmp_path, writes=kind != "batch") as child:
        said, errors = child.communicate(timeout=HANGS)
    assert said == "interrupted\n" and child.returncode == 0, errors
    check_whole(kind, path)


def check_whole(kind: str, path: Path) -> None:
    """What was being written is gone, or whole, and nothing else is there."""
    assert os.listdir(path.parent) in ([], [path.name])
    if kind == "write" and path.exists():
        assert skinpy.load(path).clips.names == skinpy.crane().clips.names
    else:
        assert not path.exists()


@pytest.mark.parametrize(("kind", "suffix"), LONG_WORK)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_that_end_a_script_leave_nothing_behind(
    number: int, kind: str, suffix: str, tmp_path: Path
) -> None:
    """The script ends by the signal, as any program that has no handler for it."""
    needs_of(kind, suffix)
    path = tmp_path / f"a{suffix}"
    command = ["-c", textwrap.dedent(INTERRUPTED), kind, str(path)]
    with interrupted(command, number, tmp_path, writes=kind != "batch") as child:
        said, errors = child.communicate(timeout=HANGS)
    assert said == errors == "" and child.returncode == -number
    check_whole(kind, path)


@pytest.mark.parametrize("suffix", [".mp4", ".webp", ".gif"])
def test_so_does_a_command(suffix: str, tmp_path: Path) -> None:
    needs_of("render", suffix)
    path = tmp_path / f"a{suffix}"
    command = ["-m", "skinpy", "demo", "--size", "1600x1200", "--fps", "50", "--turntable", "-o", str(path)]
    with interrupted(command, signal.SIGTERM, tmp_path) as child:
        said, errors = child.communicate(timeout=HANGS)
    assert child.returncode == -signal.SIGTERM, (said, errors)
    check_whole("render", path)


def test_every_writer_cleans_up_at_sigterm(
    suffix_and_writer: tuple[str, Writer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal comes as soon as there is a draft; then this process would end."""
    suffix, write = suffix_and_writer
    ends: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", ends.append)
    monkeypatch.setattr(whole, "_keep_permissions", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit, match="143"):
            write(tmp_path / f"a{suffix}")
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ends == [signal.SIGTERM] and not os.listdir(tmp_path)


HANDLES = """
import os, signal, sys, threading
from pathlib import Path
from skinpy.files.whole import replacing
how, folder = sys.argv[1:]
def write(number=signal.SIGTERM):
    try:
        with replacing(Path(folder, "a")) as file:
            file.write(b"half")
            os.kill(os.getpid(), number)
            file.write(b"whole")
    except Stop: print("stopped")
class Stop(Exception): pass
def stop(*_): raise Stop
if how == "handler": signal.signal(signal.SIGTERM, stop)
if how == "ignored": signal.signal(signal.SIGTERM, signal.SIG_IGN)
if how == "swallowed":
    try:
        with replacing(Path(folder, "a")) as file:
            try: os.kill(os.getpid(), signal.SIGTERM)
            except BaseException: file.write(b"whole")
    finally: print("never said")
if how == "twice":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with replacing(Path(folder, "a")) as file:
        try: os.kill(os.getpid(), signal.SIGTERM)
        finally: os.kill(os.getpid(), signal.SIGTERM); os.kill(os.getpid(), signal.SIGHUP)
if how == "thread":
    thread = threading.Thread(target=write, args=[0])
    thread.start(); thread.join()
else: write()
if how != "ignored": assert signal.getsignal(signal.SIGTERM) is (stop if how == "handler" else signal.SIG_DFL)
print(os.listdir(folder))
"""


@pytest.mark.parametrize(
    ("how", "status", "said", "left"),
    [
        ("plain", -signal.SIGTERM, "", []),
        ("handler", 0, "stopped\n[]\n", []),
        ("ignored", 0, "['a']\n", ["a"]),
        ("swallowed", -signal.SIGTERM, "", ["a"]),
        ("twice", -signal.SIGTERM, "", []),
        ("thread", 0, "['a']\n", ["a"]),
    ],
)
def test_other_handlers_stay_as_they_are(
    how: str, status: int, said: str, left: list[str], tmp_path: Path
) -> None:
    done = subprocess.run([sys.executable, "-c", HANDLES, how, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (status, said), done.stderr
    assert os.listdir(tmp_path) == left


SET_WITHIN = """
import os, signal, sys
from pathlib import Path
from skinpy.files.whole import replacing
heard = []
with replacing(Path(sys.argv[1], "a")) as file:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: heard.append("mine"))
        os.kill(os.getpid(), number)
os.kill(os.getpid(), signal.SIGTERM)
print(heard)
"""

FORKED_WITHIN = """
import os, signal, sys, time
from pathlib import Path
from skinpy.files.whole import replacing
with replacing(Path(sys.argv[1], "a")) as file:
    ready, ends = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(ends, b"!")
        time.sleep(60)
        os._exit(1)
    os.read(ready, 1)  # Python forgets signals that come while it forks
    os.kill(child, signal.SIGTERM)
    print(os.waitpid(child, 0)[1], len(os.listdir(sys.argv[1])))
"""


@pytest.mark.parametrize(
    ("code", "said"),
    [(SET_WITHIN, "['mine', 'mine', 'mine']\n"), (FORKED_WITHIN, f"{int(signal.SIGTERM)} 1\n")],
)
def test_handlers_and_processes_of_what_makes_the_frames(code: str, said: str, tmp_path: Path) -> None:
    """A handler that is set while a file is written stays; a child that is ended does not clean up."""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, said), done.stderr
    assert os.listdir(tmp_path) == ["a"]


# ---- who may read it -------------------------------------------------------------------------------


def test_a_file_that_is_replaced_stays_as_private_as_it_was(model: skinpy.Model, tmp_path: Path) -> None:
    path, link = tmp_path / "model.skn", tmp_path / "link.skn"
    link.symlink_to(path)
    before = os.umask(0o022)
    try:
        model.save(path)
        assert path.stat().st_mode & 0o777 == 0o644
        for mode in (0o600, 0o664):
            path.chmod(mode)
            for name in (path, link):
                model.save(name)
                assert path.stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write the files of others")
def test_a_file_that_root_replaces_stays_its_owner_s(model: skinpy.Model, tmp_path: Path) -> None:
    path = tmp_path / "model.skn"
    path.touch()
    os.chown(path, 1234, 2345)
    model.save(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)
