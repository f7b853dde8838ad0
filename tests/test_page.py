"""One-file pages: what is in them, read back without a browser; and how they look and work, in Chromium.

The first half unpacks a page by the rules that its own script follows, written a second time here. The
second half (tests/browser.py) compares screenshots with the desktop's picture of the same camera.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import io
import json
import math
import os
import re
import time as clock
import zlib
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from conftest import HANGS, data_file
from numpy.typing import NDArray
from test_look_render import animated_looks
from test_render import PictureGltf, square
from view_models import long_names

import skinpy
from skinpy.__main__ import main

pytest.importorskip("moderngl", reason="pages use the shaders of skinpy.render: install the extra `view`")
pytest.importorskip("PIL", reason="Pillow (the extra `view`) reads textures and screenshots")

from browser import CHROMIUM, NO_BROWSER, Browser, Tab
from PIL import Image

from skinpy.render import Camera, Floor, Overlays, render
from skinpy.render.gpu import context as gl
from skinpy.view import Page, make_page, save_page

MODELS = ("character", "crane", "chair")
MOST_BYTES = 100_000  # of a page, besides its data


# ---- the page read without a browser ------------------------------------------------------------------


class Reader(HTMLParser):
    """The page as a browser's parser takes it apart."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag in ("script", "style", "title"):
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open in self.texts:
            self.texts[self._open][-1] += data

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def content_of(page: Page | str) -> dict[str, Any]:
    text = page if isinstance(page, str) else page.html
    found: dict[str, Any] = json.loads(Reader(text).texts["script"][0])
    return found


DTYPES = {"f4": "<f4", "u1": "u1", "u2": "<u2", "u4": "<u4"}


def unpacked(packed: dict[str, Any]) -> NDArray[Any]:
    """The array, by the rules in the docstring of page_arrays.packed."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), np.uint8)
    dtype, shape = np.dtype(DTYPES[packed["type"]]), tuple(packed["shape"])
    if packed["packing"] == "plain":
        return raw.view(dtype).reshape(shape)
    words = np.ascontiguousarray(raw.reshape(dtype.itemsize, -1).T).view(f"<u{dtype.itemsize}")
    columns = words.reshape(math.prod(shape[1:]), shape[0])
    sums = np.cumsum(columns, axis=1, dtype=np.uint64).astype(words.dtype)
    return np.ascontiguousarray(sums.T).view(dtype).reshape(shape)


def bundled(name: str) -> skinpy.Model:
    model: skinpy.Model = getattr(skinpy, name)()
    return model


def times_of(duration: float, fps: float) -> NDArray[np.float64]:
    """0, 1 / fps, ... and the end."""
    return np.append(np.arange(math.ceil(duration * fps - 1e-4)) / fps, duration)


@pytest.mark.parametrize("name", MODELS)
def test_the_palettes_in_the_page_are_those_of_the_model(name: str) -> None:
    model = bundled(name)
    content = content_of(make_page(model, fps=24))
    palettes, joints = (
        unpacked(part) for part in (content["mesh"]["palettes"], content["joints"]["positions"])
    )
    assert [clip["name"] for clip in content["clips"]] == list(model.clips.names)
    for clip, facts in zip(model.clips, content["clips"], strict=True):
        times = times_of(clip.duration, 24)
        rows = slice(facts["row"], facts["row"] + facts["frames"])
        exact = model.palette(clip, times, affine=True, loop="clamp")
        np.testing.assert_array_equal(palettes[rows].reshape(exact.shape), exact)
        places = model.joint_positions(clip, times, loop="clamp")
        np.testing.assert_array_equal(joints[rows], places.astype(np.float32))
    assert sum(facts["frames"] for facts in content["clips"]) == len(palettes) == len(joints)


@pytest.mark.parametrize("name", MODELS)
def test_the_mesh_in_the_page_is_that_of_the_model(name: str) -> None:
    model = bundled(name)
    mesh = content_of(make_page(model))["mesh"]
    streams = {name: unpacked(stream) for name, stream in mesh["streams"].items()}
    for stream, values in streams.items():
        np.testing.assert_array_equal(values, model.mesh.interleaved[stream])
    faces = unpacked(mesh["faces"])
    assert faces.dtype == np.uint16

    def sorted_rows(rows: NDArray[Any]) -> list[tuple[int, ...]]:
        return sorted(map(tuple, rows.astype(int).tolist()))

    assert sorted_rows(faces) == sorted_rows(model.mesh.faces)
    assert sum(draw["count"] for draw in mesh["draws"]) == len(faces)


def test_what_is_no_data_takes_less_than_the_limit() -> None:
    """Everything but the base64: markup, style, script, shaders, names and numbers."""
    file = builders.chain(6, step=0.3)
    for model in (*map(bundled, MODELS), skinpy.load(file.glb(), format="glb")):
        text = make_page(model).html
        bare = re.sub(r'"data":"[A-Za-z0-9+/=]*"', "", text)
        assert len(bare.encode()) < MOST_BYTES
        assert len(bare) > 30_000  # it is all in there


def test_packing_is_smaller_than_deflate_alone() -> None:
    model = skinpy.character()
    packed = content_of(make_page(model))["mesh"]["palettes"]
    plain = zlib.compress(unpacked(packed).tobytes(), 9)
    assert len(base64.b64decode(packed["data"])) < 0.85 * len(plain)


def test_morph_targets_and_their_weights_are_in_the_page() -> None:
    model = skinpy.load(data_file("models", "AnimatedMorphCube.gltf"))
    content = content_of(make_page(model, fps=10))
    morph = content["mesh"]["morph"]
    times = times_of(model.clips[0].duration, 10)
    weights = model.pose(0, times, loop="clamp").morph_weights
    np.testing.assert_array_equal(unpacked(morph["weights"]), weights)
    runs, deltas = unpacked(morph["runs"]), unpacked(morph["deltas"])
    for number, target in enumerate(model.targets):
        moved = np.zeros_like(model.mesh.positions)
        for vertex, (first, count) in enumerate(runs.tolist()):
            for delta in deltas[first : first + count]:
                moved[vertex] += delta[:3] * (delta[3] == number)
        expected = np.zeros_like(moved)
        expected[target.vertices] = target.positions
        np.testing.assert_array_equal(moved, expected)


def boxes_of(model: skinpy.Model) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """(N, 2, 3) of all clips in the page; and the vertices (V, 3) in each of these frames."""
    clips = content_of(make_page(model, fps=20))["clips"]
    boxes = np.concatenate([unpacked(facts["boxes"]) for facts in clips]).reshape(-1, 2, 3)
    poses = [model.pose(clip, times_of(clip.duration, 20), loop="clamp") for clip in model.clips]
    return boxes, [points for pose in poses for points in model.deform(pose, normals=False)[0]]


@pytest.mark.parametrize(
    ("name", "share"), [("character", 0.25), ("crane", 0.5), ("AnimatedMorphCube.gltf", 1.0)]
)
def test_the_boxes_in_the_page_hold_what_is_seen(
    name: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are as tight as can be; where vertices are too many, they come from the slots and are larger."""
    model = skinpy.load(data_file("models", name)) if "." in name else bundled(name)
    boxes, frames = boxes_of(model)
    tight = np.array([[points.min(axis=0), points.max(axis=0)] for points in frames])
    size = np.ptp(tight, axis=1).max()
    rounding = 1e-5 * size
    np.testing.assert_allclose(boxes, tight, atol=rounding, rtol=0)
    monkeypatch.setattr("skinpy.view.page.boxes._MAX_POINTS", 0)
    safe = boxes_of(model)[0]
    assert (safe[:, 0] <= tight[:, 0] + rounding).all() and (safe[:, 1] >= tight[:, 1] - rounding).all()
    assert np.abs(safe - tight).max() < share * size


def test_stored_frames_are_in_the_page_as_they_are() -> None:
    animation = skinpy.VertexAnimation.load(data_file("models", "faerie.md2")).cut(0, 20)
    (clip,) = content_of(make_page(animation.model, animation))["clips"]
    np.testing.assert_array_equal(unpacked(clip["stored"]["positions"]), animation.frames)
    np.testing.assert_array_equal(unpacked(clip["stored"]["normals"]), animation.normals)
    np.testing.assert_array_equal(clip["stored"]["times"], animation.times)
    assert clip["kind"] == "vertex"


def test_a_model_without_clips_shows_its_rest_pose() -> None:
    model = skinpy.load(two_squares().glb(), format="glb")
    content = content_of(make_page(model))
    (clip,) = content["clips"]
    assert (clip["kind"], clip["duration"], clip["frames"]) == ("rest", 0.0, 1)
    rest = model.palette(None, 0.0, affine=True)
    np.testing.assert_array_equal(unpacked(content["mesh"]["palettes"]).reshape(rest.shape), rest)


def two_squares() -> PictureGltf:
    """One red, one half transparent."""
    file = PictureGltf()
    square(file, file.material((1, 0, 0, 1)))
    square(file, file.material((0, 0, 1, 0.5), alphaMode="BLEND"), z=0.5)
    return file


# ---- images --------------------------------------------------------------------------------------------


def textured(data: bytes, kind: str = "image/png") -> skinpy.Model:
    file = PictureGltf()
    number = file.raw_image(data)
    file.images[number]["mimeType"] = kind
    square(file, file.material(texture=number))
    return skinpy.load(file.glb(), format="glb")


def encoded(pixels: NDArray[np.uint8], kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return buffer.getvalue()


NOISE = np.random.default_rng(1).integers(0, 256, (64, 96, 3), np.uint8)


@pytest.mark.parametrize(("kind", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_what_browsers_read_stays_as_it_is(kind: str, mime: str) -> None:
    data = encoded(NOISE, kind)
    (image,) = content_of(make_page(textured(data, mime)))["mesh"]["images"]
    assert image["type"] == mime
    assert base64.b64decode(image["data"]) == data


@pytest.mark.parametrize(("kind", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_large_images_are_made_smaller(kind: str, mime: str) -> None:
    model = textured(encoded(NOISE, kind), mime)
    (image,) = content_of(make_page(model, texture_size=48))["mesh"]["images"]
    assert image["type"] == mime
    with Image.open(io.BytesIO(base64.b64decode(image["data"]))) as small:
        assert small.size == (48, 32)


def test_what_browsers_do_not_read_becomes_png() -> None:
    model = textured(encoded(NOISE, "TGA"), "image/x-tga")
    (image,) = content_of(make_page(model))["mesh"]["images"]
    assert image["type"] == "image/png"
    with Image.open(io.BytesIO(base64.b64decode(image["data"]))) as picture:
        np.testing.assert_array_equal(np.asarray(picture)[..., :3], NOISE)


def test_a_turned_photo_is_shown_as_it_is_stored() -> None:
    exif = Image.Exif()
    exif[274] = 6  # browsers would turn it
    model = textured(encoded(NOISE, "JPEG", exif=exif), "image/jpeg")
    (image,) = content_of(make_page(model))["mesh"]["images"]
    with Image.open(io.BytesIO(base64.b64decode(image["data"]))) as picture:
        assert picture.size == (96, 64)
        assert 274 not in picture.getexif()


def test_a_broken_image_is_left_out_with_a_warning() -> None:
    model = textured(encoded(NOISE)[:200])
    with pytest.warns(skinpy.SkinpyWarning, match="is not drawn"):
        page = make_page(model)
    (draw,) = content_of(page)["mesh"]["draws"]
    assert draw["image"] is None


# ---- names, and what the page may do -----------------------------------------------------------------

HOSTILE = (
    "</script><script>globalThis.owned = 1</script>",
    "<!--<script>",
    '"><img src=x onerror="globalThis.owned = 2">',
    "</title><script>globalThis.owned = 3</script>",
    "${script} $content \\u003c/script\\u003e \u2028",
    "\udcff\udcfe",
)


def renamed(name: str) -> skinpy.Model:
    """Two joints and a clip that are called so."""
    file = builders.chain(3, step=0.3)
    for node in file.nodes:
        node["name"] = name + node["name"]
    for animation in file.document()["animations"]:
        animation["name"] = name
    model = skinpy.load(file.glb(), format="glb")
    keys = {"times": [0.0, 1.0], "rotation": np.tile([0, 0, 0, 1.0], (2, len(model.skeleton), 1))}
    return model.add_clips(skinpy.Clip.from_arrays(name, joints=list(model.skeleton.names), **keys))


@pytest.mark.parametrize("name", HOSTILE[:5])
def test_names_never_become_markup(name: str) -> None:
    model = renamed(name)
    page = make_page(model, [name, 0], title=name)
    plain = make_page(renamed("plain"), ["plain", 0], title="plain")
    ours, theirs = Reader(page.html), Reader(plain.html)
    assert [tag for tag, _ in ours.tags] == [tag for tag, _ in theirs.tags]
    assert ours.texts["title"] == [name]
    assert ours.texts["script"][1:] == theirs.texts["script"][1:]
    assert content_of(page)["clips"][0]["name"] == name


def test_names_that_are_no_text_can_be_written(tmp_path: Path) -> None:
    model = skinpy.character()
    path = model.to_html(tmp_path / "a.html", "walk", title=HOSTILE[5])
    assert Reader(path.read_text("utf-8")).texts["title"] == ["\ufffd\ufffd"]


def test_the_policy_allows_this_script_and_style_and_nothing_else() -> None:
    reader = Reader(make_page(skinpy.character()).html)
    (policy,) = [m["content"] for m in reader.attributes("meta") if m.get("http-equiv")]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == digest(reader.texts["script"][1])
    assert rules["style-src"] == digest(reader.texts["style"][0])
    assert rules["img-src"] == "data:"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}


def test_nothing_comes_from_elsewhere() -> None:
    page = make_page(skinpy.character())
    for _, attributes in Reader(page.html).tags:
        assert not {"src", "srcset", "action", "style"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "data:,") == "data:,"
    scripts = Reader(page.html).texts["script"][1]
    assert not re.search(r"\bfetch\b|XMLHttpRequest|import\(|https?:|eval\(|innerHTML|WebSocket", scripts)


def test_every_control_has_a_label() -> None:
    reader = Reader(make_page(skinpy.character()).html)
    labelled = {label.get("for") for label in reader.attributes("label")}
    inside = re.findall(r'<label><input type="checkbox" id="(\w+)">', make_page(skinpy.character()).html)
    for control in (*reader.attributes("input"), *reader.attributes("select")):
        assert control["id"] in labelled | set(inside)


def test_the_files_of_the_page_are_in_the_package() -> None:
    folder = importlib.resources.files("skinpy.view.page").joinpath("web")
    names = {entry.name for entry in folder.iterdir()}
    page = Reader(make_page(skinpy.character()).html)
    for name in names:
        text = folder.joinpath(name).read_text("utf-8")
        assert "\t" not in text and "\r" not in text
        assert max(map(len, text.splitlines())) <= 110, name
        if name.endswith(".js"):
            assert text in page.texts["script"][1], f"{name} is in no page"


# ---- arguments, files, notebooks, the command line ------------------------------------------------------

BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"clips": "nosuch"}, KeyError, "nosuch"),
    ({"clips": 17}, IndexError, "17"),
    ({"clips": []}, ValueError, r"clips is \[\]; expected at least one clip"),
    ({"clips": 1.5}, TypeError, r"clip is 1\.5"),
    ({"fps": 0}, ValueError, "fps is 0; expected a positive number"),
    ({"fps": math.nan}, ValueError, "fps"),
    ({"time": math.inf}, ValueError, "time is inf; expected a finite number"),
    ({"height": 0}, ValueError, "height is 0; expected at least 1"),
    ({"height": 1.5}, TypeError, r"height is 1\.5; expected a whole number"),
    ({"texture_size": 0}, ValueError, "texture_size is 0"),
    ({"limit": 1000}, ValueError, r"clips take [\d.]+ MB of frames .*; limit is 0\.001 MB\. Expected fewer"),
    ({"background": "mauve-ish"}, ValueError, "background is 'mauve-ish'"),
    ({"floor": "yes"}, TypeError, "floor is str; expected a Floor, True or False"),
    ({"uv": {"nosuch": skinpy.UVAnimation()}}, KeyError, "nosuch"),
    ({"overlays": "skeleton"}, TypeError, "overlays is str"),
    ({"overlays": Overlays(boxes=True)}, ValueError, "overlays has boxes; a page can only show skeleton"),
]


@pytest.mark.parametrize(("options", "error", "words"), BAD, ids=[str(bad[0]) for bad in BAD])
def test_bad_arguments(options: dict[str, Any], error: type[Exception], words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=words):
        save_page(tmp_path / "a.html", skinpy.character(), **options)
    assert not list(tmp_path.iterdir())


def test_a_clip_of_another_model_is_refused() -> None:
    with pytest.raises(ValueError, match="another model"):
        make_page(skinpy.crane(), skinpy.character().clips[0])
    with pytest.raises(ValueError, match="bound to no model"):
        skinpy.Clip.from_arrays("free", fps=1, translation=np.zeros((2, 1, 3))).page()


WRITERS: list[Callable[[str], Any]] = [
    lambda path: skinpy.character().to_html(path),
    lambda path: skinpy.character().clips["walk"].to_html(path),
    lambda path: skinpy.character().clips["walk"].save(path),
    lambda path: make_page(skinpy.character()).save(path),
]


@pytest.mark.parametrize("number", range(len(WRITERS)))
def test_where_it_cannot_be_written(number: int, tmp_path: Path) -> None:
    write = WRITERS[number]
    with pytest.raises(ValueError, match=r"expected .*\.html or \.htm for a page"):
        write(str(tmp_path / "a.xhtml"))
    with pytest.raises(OSError, match="make the folder first"):
        write(str(tmp_path / "nowhere" / "a.html"))
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(OSError, match="folder"):
        write(str(tmp_path / "folder.html"))
    if os.path.exists("/dev/full"):
        (tmp_path / "full.html").symlink_to("/dev/full")
        with pytest.raises(OSError, match="make room"):
            write(str(tmp_path / "full.html"))
    assert {path.name for path in tmp_path.iterdir()} <= {"folder.html", "full.html"}


def test_a_page_is_made_without_opengl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("OpenGL was asked for")

    monkeypatch.setattr(gl, "call", refuse)
    path = skinpy.character().clips["walk"].save(tmp_path / "walk.html", fps=10, time=0.5)
    content = content_of(path.read_text("utf-8"))
    assert [clip["name"] for clip in content["clips"]] == ["walk"]
    assert (content["clips"][0]["fps"], content["time"], content["show"]["floor"]) == (10, 0.5, True)


def test_in_a_notebook_it_is_a_frame_that_can_only_run_its_script() -> None:
    page = skinpy.character().clips["walk"].page(height=321)
    (frame,) = Reader(page._repr_html_()).attributes("iframe")
    assert frame["sandbox"] == "allow-scripts"
    assert frame["srcdoc"] == page.html
    assert frame["height"] == "321"
    assert re.fullmatch(r"<Page: \d+ kB, 321 pixels high in a notebook>", repr(page))


def test_a_clip_shows_no_page_unless_it_is_asked_for() -> None:
    shown = skinpy.character().clips["walk"]._repr_mimebundle_(exclude=["image/png"])
    assert set(shown) == {"text/plain"}


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(skinpy.__file__).parent / "data" / "character.glb")
    path = tmp_path / "a.html"
    assert main(["page", file, "-o", str(path), "--clip", "run", "--clip", "0", "--fps", "12"]) == 0
    content = content_of(path.read_text("utf-8"))
    assert [clip["name"] for clip in content["clips"]] == ["run", "walk"]
    assert content["clips"][0]["fps"] == 12
    assert Reader(path.read_text("utf-8")).texts["title"] == ["character"]
    assert main(["render", file, "-o", str(tmp_path / "b.html"), "--clip", "run", "--floor"]) == 0
    assert content_of((tmp_path / "b.html").read_text("utf-8"))["show"]["floor"] is True
    with pytest.raises(SystemExit, match="2"):
        main(["page", file, "-o", str(tmp_path / "c.png")])
    said = capsys.readouterr().err
    assert re.search(r"skinpy: argument -o/--output: .*c\.png' is not a page; expected .*\.html", said)
    assert not (tmp_path / "c.png").exists()


def test_command_line_takes_stored_frames(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    assert main(["page", str(data_file("models", "faerie.md2")), "-o", str(path)]) == 0
    (clip,) = content_of(path.read_text("utf-8"))["clips"]
    assert clip["kind"] == "vertex"


# ---- in a browser --------------------------------------------------------------------------------------

SIZE = (480, 400)
BACKGROUND = "#f0e8ff"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        if os.environ.get("SKINPY_CI") == "1":
            raise AssertionError(NO_BROWSER)
        pytest.skip(NO_BROWSER)
    with Browser() as browser:
        yield browser


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    tab = Tab(browser, SIZE)
    tab.prefer(prefers_reduced_motion="reduce")  # paused at the start
    yield tab
    tab.close()


# What the tests say to the page: a frame that has been drawn, and the camera that it is seen through.
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


def opened(tab: Tab, page: Page, folder: Path) -> Tab:
    path = page.save(folder / "page.html")
    tab.open(path)
    assert tab.run(
        "skinpyViewer.then((viewer) => { globalThis.viewer = viewer; return Boolean(viewer); })"
    ), tab.run("document.getElementById('message').textContent")
    tab.run(DRAWN)
    return tab


def seen(tab: Tab) -> NDArray[np.uint8]:
    """(h, w, 3): the picture alone, without the controls."""
    tab.run(DRAWN)
    height = tab.run("document.getElementById('view').clientHeight")
    return tab.picture()[:height]


def camera_of(tab: Tab) -> Camera:
    facts = tab.run("(({ axes, matrix, ...rest }) => rest)(viewer.orbit.camera(viewer.aspect))")
    return Camera(**{name: tuple(v) if isinstance(v, list) else v for name, v in facts.items()})


def differences(first: NDArray[Any], second: NDArray[Any]) -> tuple[float, float]:
    """Mean difference of the pixels that are no background in either, of 255; and how far the two silhouettes
    overlap, 0 to 1."""
    background = first[0, 0].astype(int)
    shown = [(abs(picture.astype(int) - background) > 6).any(axis=2) for picture in (first, second)]
    both, either = shown[0] & shown[1], shown[0] | shown[1]
    gap = abs(first.astype(int) - second.astype(int))[either]
    return float(gap.mean()), both.sum() / either.sum()


def animated_uv() -> tuple[skinpy.Model, skinpy.UVAnimation]:
    file = PictureGltf()
    pixels = np.zeros((8, 8, 4), np.uint8)
    pixels[:, :3], pixels[:, 3:], pixels[:4, 3:] = (200, 40, 40, 255), (40, 80, 200, 255), (250, 220, 90, 255)
    square(file, file.material(texture=file.image(pixels)))
    return skinpy.load(file.glb(), format="glb"), skinpy.UVAnimation(
        scroll=(0.31, 0.17),
        rotate=0.7,
        scale=(1.5, 2.0),
        wrap="mirror",
        keys={"times": [0.5, 1.0, 2.0], "offset": [[0, 0], [0.2, 0.1], [0, 0.3]]},
    )


def cases() -> dict[str, Callable[[], tuple[skinpy.Model, Any, float, dict[str, Any]]]]:
    """Model, clip, time and options of pages, by what they show."""

    def shared(name: str, clip: Any, time: float) -> Any:
        return lambda: (skinpy.load(data_file("models", name)), clip, time, {})

    def stored() -> tuple[skinpy.Model, Any, float, dict[str, Any]]:
        animation = skinpy.VertexAnimation.load(data_file("models", "faerie.md2")).cut(0, 30)
        return animation.model, animation, 1.234, {}

    sliding = skinpy.UVAnimation(scroll=(0.4, 0.1), rotate=0.5)

    def moved() -> tuple[skinpy.Model, Any, float, dict[str, Any]]:
        model, animation = animated_uv()
        return model, None, 1.3, {"uv": animation}

    return {
        "skinned": lambda: (skinpy.character(), "walk", 0.3, {}),
        "between two frames": lambda: (skinpy.character(), "run", 0.3123, {}),
        "floor": lambda: (skinpy.character(), "walk", 0.61, {"floor": Floor()}),
        "moving floor": lambda: (skinpy.character(), "walk", 0.61, {"floor": Floor(uv=sliding)}),
        "rigid": lambda: (skinpy.crane(), 0, 2.4, {}),
        "chair": lambda: (skinpy.chair(), 0, 0.9, {}),
        "blended": lambda: (skinpy.load(two_squares().glb(), format="glb"), None, 0.0, {}),
        "texture coordinates": moved,
        "texture": shared("Fox.glb", "Run", 0.4),
        "morph": shared("AnimatedMorphCube.gltf", 0, 1.5),
        "steps": shared("interpolation_test.gltf", 4, 0.7),
        "no mesh": shared("sinusoidal.bvh", 0, 0.6),
        "stored frames": stored,
        "looks": lambda: (animated_looks(), "look", 0.6, {}),
    }


def desktop(case: str, tab: Tab, later: float = 0.0) -> NDArray[np.uint8]:
    """(h, w, 3): the renderer's picture of what the tab shows, or of a time so much later."""
    model, clip, time, options = cases()[case]()
    seconds = tab.run("viewer.player.seconds")
    assert seconds == pytest.approx(time)
    size = tab.run("viewer.stage.target.size")
    uv, floor = options.get("uv"), options.get("floor")
    look: dict[str, Any] = {"camera": camera_of(tab), "background": BACKGROUND, "floor": floor, "uv": uv}
    return render(model, clip, seconds + later, size, **look)[..., :3]


@pytest.mark.filterwarnings("ignore:lost while loading")
@pytest.mark.parametrize("case", cases())
def test_it_looks_as_on_the_desktop(case: str, tab: Tab, opengl: None, tmp_path: Path) -> None:
    """Silhouettes overlap by 99.5 % and colors differ by less than 1.5 of 255 in the mean over them. Two
    rasterizers do that at edges and in how they filter textures: 99.8 % and 1.0 at worst were measured."""
    model, clip, time, options = cases()[case]()
    page = make_page(model, clip, time=time, background=BACKGROUND, fps=60, **({"floor": False} | options))
    opened(tab, page, tmp_path)
    ours, theirs = seen(tab), desktop(case, tab)
    gap, overlap = differences(theirs, ours)
    kept = tmp_path / "difference.png"
    if gap >= 1.5 or overlap <= 0.995:
        Image.fromarray(np.concatenate([theirs, ours], axis=1)).save(kept)
    assert gap < 1.5 and overlap > 0.995, f"{gap:.2f}, {overlap:.4f}: {kept}"
    if tab.run("viewer.player.clip.duration") or "uv" in options:
        gap, overlap = differences(desktop(case, tab, later=0.1), ours)
        assert gap > 1.5 or overlap < 0.995, "the comparison sees no difference of 0.1 s"
    assert_undisturbed(tab)


def test_the_shadow_is_that_of_the_desktop(tab: Tab, opengl: None, tmp_path: Path) -> None:
    """How much darker the floor is by it: within 3 of 255 in the mean, where it is 10 or more."""
    model, pictures = skinpy.character(), []
    for floor in (Floor(shadow=0.0), Floor(shadow=0.7)):
        opened(tab, make_page(model, "walk", time=0.61, background=BACKGROUND, fps=60, floor=floor), tmp_path)
        ours, size = seen(tab), tab.run("viewer.stage.target.size")
        look: dict[str, Any] = {"camera": camera_of(tab), "background": BACKGROUND, "floor": floor}
        pictures.append((ours.astype(int), render(model, "walk", 0.61, size, **look)[..., :3].astype(int)))
    ours, theirs = (pictures[0][i] - pictures[1][i] for i in (0, 1))
    dark = theirs.mean(axis=2) >= 10
    assert dark.sum() > 50
    assert theirs[dark].mean() > 15
    assert abs(ours - theirs)[dark].mean() < 3
    assert_undisturbed(tab)


def assert_undisturbed(tab: Tab) -> None:
    """Nothing was asked of a network, and nothing was complained of."""
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert tab.complaints == []


# ---- what it tells and does ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_joints_are_where_the_model_has_them(name: str, tab: Tab, tmp_path: Path) -> None:
    """To 2e-7 of the size: float32. Between two frames they lie on the line from one to the other."""
    model = bundled(name)
    opened(tab, make_page(model, fps=24), tmp_path)
    for number, clip in enumerate(model.clips):
        times = times_of(clip.duration, 24)
        places = model.joint_positions(clip, times, loop="clamp")
        size = np.ptp(model.bounds(), axis=0).max()
        for frame in (0, 7, len(times) - 2):
            between = 0.75 * times[frame] + 0.25 * times[frame + 1]
            for time, expected in (
                (times[frame], places[frame]),
                (between, 0.75 * places[frame] + 0.25 * places[frame + 1]),
            ):
                tab.run(f"viewer.choose({number}), viewer.seek({float(time)!r})")
                found = np.reshape(tab.run("[...viewer.player.jointPositions()]"), (-1, 3))
                np.testing.assert_allclose(found, expected, atol=2e-7 * size)


@pytest.mark.parametrize("up", ["+Y", "-Y", "+Z", "+X"])
def test_it_frames_the_clip_as_a_camera_of_ours(up: str, tab: Tab, tmp_path: Path) -> None:
    opened(tab, make_page(skinpy.character(), "walk"), tmp_path)
    from skinpy.render.camera import front_vector, up_vector

    box = [[-1.0, -2.0, 0.5], [2.0, 3.0, 4.0]]
    axes = [up_vector(up).tolist(), front_vector(up).tolist()]
    for aspect in (0.5, 1.7):
        theirs = Camera.frame(box, up=up, aspect=aspect)
        frame = f"orbit.frame({json.dumps(box)}, {aspect}), [orbit.camera(1).eye, orbit.target]"
        ours = tab.run(f"((orbit) => ({frame}))(new viewer.orbit.constructor(...{json.dumps(axes)}))")
        np.testing.assert_allclose(ours, [theirs.eye, theirs.target], rtol=1e-9, atol=1e-9)


def test_the_overlay_marks_the_joints(tab: Tab, tmp_path: Path) -> None:
    model = skinpy.character()
    page = model.clips["walk"].page(time=0.4, overlays=Overlays(skeleton=True), background=BACKGROUND)
    opened(tab, page, tmp_path)
    picture, camera = seen(tab).astype(int), camera_of(tab)
    height, width = picture.shape[:2]
    places = np.c_[model.joint_positions("walk", 0.4), np.ones(len(model.skeleton))]
    clip = places @ (camera.projection(width / height) @ camera.view()).T
    x, y = ((clip[:, :2] / clip[:, 3:] * [1, -1] + 1) / 2 * [width, height]).astype(int).T
    marked = (abs(picture[y, x] - [255, 214, 102]) < 30).all(axis=1)
    assert marked.all()
    tab.run("document.getElementById('joints').click()")
    assert not (abs(seen(tab).astype(int)[y, x] - [255, 214, 102]) < 30).all(axis=1).any()


@pytest.mark.parametrize("size", [SIZE, (200, 700), (900, 220)])
@pytest.mark.parametrize("ratio", [1, 2])
def test_names_of_joints_stand_apart(
    ratio: int, size: tuple[int, int], browser: Browser, tmp_path: Path
) -> None:
    """Inside the picture, none on another, the nearest joints first, and long ones cut."""
    tab = Tab(browser, size)
    tab.prefer(prefers_reduced_motion="reduce")
    tab.send(
        "Emulation.setDeviceMetricsOverride",
        width=size[0],
        height=size[1],
        deviceScaleFactor=ratio,
        mobile=False,
    )
    for model in (skinpy.character(), long_names()):
        opened(tab, make_page(model, overlays=Overlays(names=True)), tmp_path)
        assert tab.run("viewer.show.names && viewer.pixels") == ratio
        for azimuth in (30, 90, 200):
            tab.run(f"viewer.orbit.azimuth = {azimuth}, viewer.redraw()")
            tab.run(DRAWN)
            placed = tab.run("viewer.overlay.placed")
            width, height = tab.run("[viewer.overlay.canvas.width, viewer.overlay.canvas.height]")
            boxes = np.array([one["box"] for one in placed])
            assert len(boxes) >= 5
            assert (boxes[:, :2] >= 0).all() and (boxes[:, 2:] <= (width, height)).all()
            assert (boxes[:, 2] - boxes[:, 0]).max() <= min(150 * ratio, 0.45 * width)
            for number, box in enumerate(boxes):
                others = np.delete(boxes, number, axis=0)
                assert not ((others[:, :2] < box[2:]) & (others[:, 2:] > box[:2])).all(axis=1).any()
            names = model.skeleton.names
            cut = [one["words"].removesuffix("\u2026") for one in placed]
            assert all(any(name.startswith(words) for name in names) for words in cut)
    assert all(one["words"].endswith("\u2026") for one in placed)
    tab.close()


def view_of(tab: Tab) -> dict[str, Any]:
    names = "azimuth, elevation, distance, target"
    facts: dict[str, Any] = tab.run(f"(({{ {names} }}) => ({{ {names} }}))(viewer.orbit)")
    return facts


def test_mouse_turns_moves_and_zooms(tab: Tab, tmp_path: Path) -> None:
    opened(tab, make_page(skinpy.character(), "walk"), tmp_path)
    start, first = view_of(tab), seen(tab)
    tab.drag((320, 200), (420, 150))
    turned, second = view_of(tab), seen(tab)
    assert turned["azimuth"] < start["azimuth"] - 30 and turned["elevation"] < start["elevation"] - 10
    assert (turned["distance"], turned["target"]) == (start["distance"], start["target"])
    assert differences(first, second)[1] < 0.9
    tab.drag((320, 200), (420, 200), button="right")
    moved = view_of(tab)
    assert moved["target"] != turned["target"] and moved["azimuth"] == turned["azimuth"]
    tab.mouse("mouseWheel", 320, 200, deltaX=0, deltaY=-200)
    tab.run(DRAWN)
    assert view_of(tab)["distance"] < 0.8 * moved["distance"]
    tab.run("document.getElementById('reset').click()")
    assert view_of(tab) == start
    np.testing.assert_array_equal(seen(tab), first)
    assert_undisturbed(tab)


def touch(tab: Tab, *moments: list[tuple[float, float]]) -> None:
    """Fingers down at the first moment, and where they are at the others; then up."""
    kind = "touchStart"
    for moment in moments:
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(moment)]
        tab.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        kind = "touchMove"
    tab.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def test_fingers_turn_and_zoom(tab: Tab, tmp_path: Path) -> None:
    opened(tab, make_page(skinpy.character(), "walk"), tmp_path)
    start = view_of(tab)
    touch(tab, [(300, 200)], [(330, 200)], [(360, 200)])
    turned = view_of(tab)
    assert turned["azimuth"] < start["azimuth"] - 10 and turned["distance"] == start["distance"]
    touch(tab, [(300, 200), (340, 200)], [(260, 200), (380, 200)], [(240, 200), (400, 200)])
    assert view_of(tab)["distance"] < 0.6 * start["distance"]
    assert view_of(tab)["azimuth"] == turned["azimuth"]


def test_keys(tab: Tab, tmp_path: Path) -> None:
    opened(tab, make_page(skinpy.character(), ["walk", "run"], fps=20), tmp_path)
    tab.key("ArrowRight", "ArrowRight")
    assert tab.run("viewer.player.time") == pytest.approx(1 / 20)
    tab.key("ArrowLeft", "ArrowLeft")
    tab.key("ArrowLeft", "ArrowLeft")
    assert tab.run("viewer.player.time") == pytest.approx(skinpy.character().clips["walk"].duration)
    tab.key("ArrowDown", "ArrowDown")
    assert tab.run("viewer.player.clip.name") == "run"
    before = view_of(tab)
    tab.key("ArrowRight", "ArrowRight", modifiers=8)  # Shift
    assert view_of(tab)["azimuth"] == pytest.approx(before["azimuth"] + 10)
    for key, name in (("j", "joints"), ("n", "names"), ("w", "edges"), ("f", "floor")):
        was = tab.run(f"viewer.show.{name}")
        tab.key(key, f"Key{key.upper()}")
        assert tab.run(f"viewer.show.{name}") is not was
        assert tab.run(f"document.getElementById('{name}').checked") is not was
    tab.key(" ", "Space")
    assert tab.run("viewer.player.playing") is True
    # A key that a focused control has for itself stays with it.
    was = tab.run("document.getElementById('joints').focus(), viewer.show.joints")
    tab.key(" ", "Space")
    assert tab.run("viewer.show.joints") is not was
    assert tab.run("viewer.player.playing") is True
    assert_undisturbed(tab)


def test_controls(tab: Tab, tmp_path: Path) -> None:
    opened(tab, make_page(skinpy.character(), ["walk", "run"]), tmp_path)
    tell = "(id, value, kind) => { const e = document.getElementById(id); e.value = value;"
    tell += " e.dispatchEvent(new Event(kind, { bubbles: true })); }"
    first = seen(tab)
    tab.run(f"({tell})('scrub', 0.5, 'input')")
    assert tab.run("viewer.player.time") == pytest.approx(0.5)
    tab.run(DRAWN)
    assert tab.run("document.getElementById('clock').textContent") == "0.50 / 1.00 s"
    assert differences(first, seen(tab))[0] > 1
    tab.run(f"({tell})('clip', 'run', 'change')")
    assert tab.run("viewer.player.clip.name") == "run"
    tab.run(f"({tell})('speed', '2', 'change')")
    assert tab.run("viewer.player.speed") == 2
    tab.run("document.getElementById('play').click()")
    tab.run(f"{DRAWN}.then(() => {DRAWN})")
    assert tab.run("viewer.player.seconds") > 0
    assert tab.run("document.getElementById('play').textContent") == "Pause"


def test_it_plays_at_once_unless_the_reader_wants_calm(browser: Browser, tmp_path: Path) -> None:
    for preference, plays in (("no-preference", True), ("reduce", False)):
        tab = Tab(browser, SIZE)
        tab.prefer(prefers_reduced_motion=preference)
        opened(tab, make_page(skinpy.character(), "walk"), tmp_path)
        tab.run(f"{DRAWN}.then(() => {DRAWN})")
        assert tab.run("viewer.player.playing") is plays
        assert (tab.run("viewer.player.seconds") > 0) is plays
        tab.close()


def test_light_and_dark(tab: Tab, tmp_path: Path) -> None:
    page = make_page(skinpy.character(), "walk", floor=False)
    corners = []
    for scheme in ("light", "dark"):
        tab.prefer(prefers_reduced_motion="reduce", prefers_color_scheme=scheme)
        opened(tab, page, tmp_path)
        corners.append((seen(tab)[0, 0].mean(), tab.picture()[-1, 0].mean()))
    assert min(corners[0]) > 200 and max(corners[1]) < 80


def test_the_wireframe_adds_lines(tab: Tab, tmp_path: Path) -> None:
    opened(tab, make_page(skinpy.character(), "walk", floor=False, background=BACKGROUND), tmp_path)
    plain = seen(tab)
    tab.key("w", "KeyW")
    lines = seen(tab)
    gap, overlap = differences(plain, lines)
    assert overlap > 0.95  # the same figure, and half a line beyond its edge
    assert gap > 10
    assert lines.mean() < plain.mean()
    assert_undisturbed(tab)


def test_every_control_has_a_name_for_screen_readers(tab: Tab, tmp_path: Path) -> None:
    opened(tab, make_page(skinpy.character()), tmp_path)
    nodes = tab.send("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "combobox", "slider", "checkbox", "image", "DisclosureTriangle"}
    controls = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if node.get("role", {}).get("value") in roles
    ]
    assert len(controls) >= 10
    assert all(name for _, name in controls), controls
    assert ("slider", "Time") in controls and ("combobox", "Clip") in controls


@pytest.mark.parametrize("name", HOSTILE[:5])
def test_names_run_nothing(name: str, tab: Tab, tmp_path: Path) -> None:
    model = renamed(name)
    opened(tab, make_page(model, [name, 0], title=name, overlays=Overlays(names=True)), tmp_path)
    assert tab.run("typeof globalThis.owned") == "undefined"
    assert tab.run("document.querySelector('#clip option').textContent") == name
    assert tab.run("document.title") == name.replace("\n", " ").strip(" ")
    assert tab.run("document.scripts.length") == 2
    assert_undisturbed(tab)


def test_the_policy_holds(tab: Tab, tmp_path: Path) -> None:
    opened(tab, make_page(skinpy.character(), "walk"), tmp_path)
    refused = "(() => 'came', () => 'refused')"
    assert tab.run(f"fetch('data:,x').then{refused}") == "refused"
    tab.run(
        "(() => { const s = document.createElement('script'); s.textContent = 'globalThis.owned = 1';"
        " document.head.append(s); })()"
    )
    assert tab.run("typeof globalThis.owned") == "undefined"


# ---- where it cannot draw --------------------------------------------------------------------------------

HINDRANCES = {
    "no WebGL": ("HTMLCanvasElement.prototype.getContext = () => null", "this browser has no WebGL 2"),
    "too old": ("delete globalThis.DecompressionStream", "too old for this page"),
    "small textures": (
        "const gl = WebGL2RenderingContext.prototype, ask = gl.getParameter; gl.getParameter ="
        " function (name) { return name === this.MAX_TEXTURE_SIZE ? 64 : ask.call(this, name); }",
        "This browser allows textures of at most 64 texels per side",
    ),
    "a refusing driver": (
        "const gl = WebGL2RenderingContext.prototype, give = gl.shaderSource; gl.shaderSource ="
        " function (shader, text) { give.call(this, shader, text + 'nonsense'); }",
        "The graphics driver refuses a shader",
    ),
}


@pytest.mark.parametrize("case", HINDRANCES)
def test_what_hinders_is_said_in_the_page(case: str, tab: Tab, tmp_path: Path) -> None:
    code, words = HINDRANCES[case]
    tab.send("Page.addScriptToEvaluateOnNewDocument", source=code)
    tab.open(make_page(skinpy.character()).save(tmp_path / "a.html"))
    assert tab.run("skinpyViewer.then((viewer) => viewer ?? null)") is None
    assert words in tab.run("document.getElementById('message').textContent")
    assert tab.run("document.getElementById('message').checkVisibility()") is True
    assert tab.complaints == []


def test_it_goes_on_after_a_lost_context(tab: Tab, tmp_path: Path) -> None:
    model = skinpy.load(two_squares().glb(), format="glb")
    opened(tab, make_page(model), tmp_path)
    before = seen(tab)
    happened = "new Promise((done) => viewer.stage.canvas.addEventListener('%s', () => setTimeout(done, 0)))"
    tab.run("globalThis.taker = viewer.stage.gl.getExtension('WEBGL_lose_context'), 0")
    tab.run(f"(() => {{ const p = {happened % 'webglcontextlost'}; taker.loseContext(); return p; }})()")
    assert "taken the graphics card away" in tab.run("document.getElementById('message').textContent")
    tab.resize((500, 400))  # which needs no context
    tab.resize(SIZE)
    tab.run(DRAWN)
    tab.run(
        f"(() => {{ const p = {happened % 'webglcontextrestored'}; taker.restoreContext(); return p; }})()"
    )
    assert tab.run("document.getElementById('message').hidden") is True
    np.testing.assert_array_equal(seen(tab), before)


def test_it_runs_in_the_frame_of_a_notebook(tab: Tab, tmp_path: Path) -> None:
    """The frame is closed to us too, so this looks until it sees what the page shows by itself."""
    model = skinpy.load(two_squares().glb(), format="glb")  # which stands still
    page = model.page(height=SIZE[1])
    opened(tab, page, tmp_path)
    alone = tab.picture()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><style>body {{ margin: 0 }}</style>{page._repr_html_()}", "utf-8")
    tab.open(path)
    end = clock.monotonic() + HANGS
    while np.abs(tab.picture().astype(int) - alone).mean() > 1:
        assert clock.monotonic() < end, "the page in the frame never looked as it does alone"
    assert_undisturbed(tab)
