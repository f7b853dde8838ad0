"""What a model and a clip show of themselves in a notebook."""

from __future__ import annotations

import base64
import builtins
import io
import json
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import skinpy

pytest.importorskip("moderngl", reason="previews are drawn: install the extra 'view'")
pytest.importorskip("PIL", reason="Pillow (the extra `view`) writes the previews")

from PIL import Image

from skinpy.output import encode_film, preview
from skinpy.output.preview import preview_times
from skinpy.render import Renderer, turntable
from skinpy.render.gpu import context as gl

LIMIT = 300_000  # bytes, as text in the notebook's file


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine, no frame is left out to save time."""
    monkeypatch.setattr(preview, "_DRAWING_SECONDS", 1e6)


@pytest.fixture
def model() -> skinpy.Model:
    """A new model each time, which has no preview yet."""
    return skinpy.character()


def noisy() -> skinpy.Model:
    """A wall of 100 x 75 faces, each of another brightness, in a clip: nothing of it can be packed."""
    rng = np.random.default_rng(5)
    x, y = np.meshgrid(np.arange(100.0), np.arange(75.0))
    corners = np.stack([x, y, 0 * x], -1).reshape(-1, 1, 3) + [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    first = 4 * np.arange(len(corners))[:, None]
    normals = np.repeat(rng.normal(size=(len(corners), 3)), 4, axis=0)
    clip = skinpy.Clip.from_arrays(
        "slide", fps=10, joints=["root"], translation=rng.uniform(-9, 9, (21, 1, 3)) * (1, 1, 0)
    )
    return skinpy.Model.from_arrays(
        ["root"],
        [-1],
        np.eye(4)[None],
        positions=corners.reshape(-1, 3),
        faces=np.concatenate([first + [0, 1, 2], first + [0, 2, 3]]),
        joints=np.zeros((4 * len(corners), 1), int),
        weights=np.ones((4 * len(corners), 1)),
        normals=normals / np.linalg.norm(normals, axis=1, keepdims=True),
        clips=[clip],
    )


def opened(thing: Any) -> Image.Image:
    found = thing._repr_mimebundle_()
    assert sorted(found) == ["image/png", "text/plain"] and found["text/plain"] == repr(thing)
    assert len(found["image/png"]) < LIMIT
    image = Image.open(io.BytesIO(base64.b64decode(found["image/png"], validate=True)))
    assert image.format == "PNG"
    assert image.info.get("loop", 0) == 0  # for ever
    return image


def frame(image: Image.Image, number: int) -> Any:
    image.seek(number)
    return np.array(image.convert("RGBA"))


def test_a_model_shows_its_first_clip(model: skinpy.Model) -> None:
    image = opened(model)
    assert image.size == (240, 180)
    assert image.n_frames == 15  # one second
    with Renderer(model, size=(240, 180)) as renderer:
        want = renderer.frame("walk", 4 / 15)
    # 64 levels, of 4 each: a level is off by 3 at most, and 252 stands for 255.
    assert np.abs(frame(image, 4).astype(int) - want).max() <= 3
    assert (frame(image, 4)[0, 0] == 0).all()  # transparent


def test_a_clip_shows_itself(model: skinpy.Model) -> None:
    image = opened(model.clips["wave"])
    assert image.n_frames <= 24
    durations = []
    for number in range(image.n_frames):
        image.seek(number)
        durations.append(image.info["duration"])
    assert sum(durations) == 2400
    with Renderer(model, size=image.size) as renderer:
        want = renderer.frame("wave", 0.0)
    assert np.abs(frame(image, 0).astype(int) - want).max() <= 3
    assert (frame(image, 0) != frame(image, image.n_frames // 3)).any()


def test_what_does_not_move_is_turned(model: skinpy.Model) -> None:
    keys = skinpy.Clip.from_arrays("pose", times=[0.0], joints=["Head"], rotation=[[[0, 0, 0, 1]]])
    pose = model.add_clips(keys).clips["pose"]
    assert pose.duration == 0
    image = opened(pose)
    assert image.n_frames == 24
    with Renderer(pose.model, size=(240, 180)) as renderer:
        camera = turntable(pose.model, pose, 24, aspect=4 / 3)[6]
        want = renderer.frame(pose, 0.0, camera=camera)
    assert np.abs(frame(image, 6).astype(int) - want).max() <= 3


def test_what_cannot_be_packed_becomes_smaller() -> None:
    model = noisy()
    image = opened(model)
    assert 2 <= image.n_frames < 24
    assert frame(image, 0)[..., 3].max() == 255
    with Renderer(model, size=(240, 180)) as renderer:  # ensures that the full size would not fit
        data = encode_film(renderer.frames(0, np.linspace(0, 2, 24)), 12, "png")
    assert len(data) * 4 / 3 > LIMIT


def test_the_smallest_fits_whatever_it_shows() -> None:
    (width, height), frames = preview._LADDER[-1]
    rng = np.random.default_rng(1)
    data = encode_film(rng.integers(0, 256, (frames, height, width, 4), np.uint8), 10, "png")
    assert len(data) < preview._MAX_BYTES and preview._MAX_BYTES * 4 / 3 <= LIMIT


@pytest.mark.parametrize(
    ("duration", "most", "count", "fps", "last"),
    [
        (1.0, 24, 15, 15.0, 14 / 15),
        (2.4, 24, 24, 10.0, 2.3),
        (60.0, 24, 24, 8.0, 2.875),  # the first three seconds
        (60.0, 3, 3, 1.0, 2.0),
        (0.01, 24, 1, 100.0, 0.0),
        (0.0, 24, 24, 6.0, 0.0),
    ],
)
def test_times(duration: float, most: int, count: int, fps: float, last: float) -> None:
    times, rate = preview_times(duration, most)
    assert len(times) == count and rate == pytest.approx(fps) and times[-1] == pytest.approx(last)


def test_slow_models_get_fewer_frames(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "_DRAWING_SECONDS", 0.0)
    assert getattr(opened(model), "n_frames", 1) == 1


def test_so_many_frames_as_can_be_drawn_in_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(preview.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(preview, "_DRAWING_SECONDS", 2.0)
    seconds = iter((5.0, 0.28))  # the first takes longer, and does not count

    def draw() -> None:
        clock[0] += next(seconds)

    assert preview._affordable(draw) == 7


def test_it_is_drawn_once(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    clip = model.clips["run"]
    first, other = model._repr_mimebundle_(), clip._repr_mimebundle_()
    monkeypatch.setattr(preview, "_fitting", None)
    assert model._repr_mimebundle_() == first and clip._repr_mimebundle_() == other
    assert first["image/png"] != other["image/png"]


def test_a_preview_is_not_pickled(model: skinpy.Model) -> None:
    before = len(pickle.dumps(model))
    model._repr_mimebundle_()
    assert len(pickle.dumps(model)) == before


@pytest.mark.parametrize(
    ("include", "exclude", "kinds"),
    [
        (None, None, ["image/png", "text/plain"]),
        ({"text/plain"}, None, ["text/plain"]),
        (["image/png"], None, ["image/png"]),
        (None, {"image/png"}, ["text/plain"]),
        ({"image/png"}, {"image/png"}, []),
        ({"text/html"}, None, []),
    ],
)
def test_kinds_that_are_wanted(model: skinpy.Model, include: Any, exclude: Any, kinds: list[str]) -> None:
    for thing in (model, model.clips["run"]):
        found = thing._repr_mimebundle_(include=include, exclude=exclude)
        assert sorted(found) == kinds
        json.dumps(found)


def test_nothing_is_drawn_that_is_not_wanted(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(preview, "_fitting", lambda *_: drawn.append(1))
    model._repr_mimebundle_(include={"text/plain"})
    model.clips[0]._repr_mimebundle_(exclude={"image/png"})
    assert not drawn


# ---- text alone ----------------------------------------------------------------------------------------


def assert_text_alone(*things: Any) -> None:
    for thing in things:
        assert thing._repr_mimebundle_() == {"text/plain": repr(thing)}


def test_a_clip_that_nobody_can_draw(model: skinpy.Model) -> None:
    assert_text_alone(
        skinpy.Clip.from_arrays("turn", fps=1, rotation=np.tile([0.0, 0, 0, 1], (2, 1, 1))),
        model.clips["wave"].additive(),
    )


def test_without_opengl(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: Any) -> Any:
        raise OSError("libEGL.so is not there")

    monkeypatch.setattr(gl.moderngl, "create_standalone_context", none)
    monkeypatch.setattr(gl, "_thread", None)  # a thread whose context is still to be made
    assert_text_alone(model, model.clips["run"])


@pytest.mark.parametrize("missing", ["PIL", "render"])
def test_without_a_package(missing: str, model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name == missing:
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    assert_text_alone(model, model.clips["run"])


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, skinpy.ShaderError])
def test_any_error_of_drawing(
    error: type[Exception], model: skinpy.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise error("while drawing")

    monkeypatch.setattr(Renderer, "frame", failing)
    assert_text_alone(model, model.clips["run"])


def test_an_interrupt_is_not_held_back(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(preview, "_fitting", stopped)
    with pytest.raises(KeyboardInterrupt):
        model._repr_mimebundle_()


def test_import_and_text_load_no_graphics() -> None:
    code = """
import sys, skinpy
model = skinpy.character()
assert model._repr_mimebundle_(include={'text/plain'}) == {'text/plain': repr(model)}
print([name for name in ('moderngl', 'glcontext', 'PIL', 'IPython', 'skinpy.render') if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_ipython_takes_it(model: skinpy.Model) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    found, _ = formatters.DisplayFormatter().format(model)
    assert sorted(found) == ["image/png", "text/plain"]


# ---- films as bytes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["png", ".apng", "GIF", "webp"])
def test_a_film_as_bytes(format: str, tmp_path: Any) -> None:
    frames = np.random.default_rng(3).integers(0, 256, (3, 8, 8, 4), np.uint8)
    path = skinpy.output.save_film(tmp_path / f"a.{format.lstrip('.')}", frames, 10)
    assert encode_film(frames, 10, format) == path.read_bytes()


@pytest.mark.parametrize(
    ("frames", "fps", "format", "words"),
    [
        ([], 10, "png", "frames is empty"),
        ([np.zeros((4, 4, 4), np.uint8)], 0, "png", "fps is 0"),
        ([np.zeros((4, 4, 4), np.uint8)], 60, "gif", "at most 50 in .gif"),
        ([np.zeros((4, 4, 4), np.uint8)], 10, "mp4", "film format is 'mp4'; expected png, apng, gif or webp"),
        ([np.zeros((4, 4, 4), np.uint8)], 10, "", "film format is ''"),
    ],
)
def test_bad_films_as_bytes(frames: Any, fps: float, format: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        encode_film(frames, fps, format)
