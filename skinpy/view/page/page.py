"""One file that plays a model in any browser and loads nothing else: docs/page.md."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import importlib.resources
import json
import os
import string
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from skinpy._arguments import whole
from skinpy._strict import Strict
from skinpy._text import html_text, quoted, unicode_text
from skinpy.clip import Clip
from skinpy.files.whole import replacing
from skinpy.kinds import VertexAnimation
from skinpy.models.frames import checked_rate

from ..._arguments import brief, check_model, instance, path_of
from ..._progress import working
from ...render import Floor, Overlays
from ...render.color import parse_color
from ...render.overlays.options import check_overlays
from ...render.posing import Poser, check_time
from ...render.scene.floor import chosen_floor
from .scene import Scene

if TYPE_CHECKING:
    from skinpy.model import Model

    from ..._options import SavedPageOptions
    from ...render.posing import ClipLike
    from ...render.scene.texturing import UVLike

FPS = 30.0  #: baked frames per second unless the caller says otherwise
MAX_BYTES = 128_000_000  #: of frames that a browser unpacks, unless the caller says otherwise
TEXTURE_SIZE = 2048  #: pixels of an image's longer side
HEIGHT = 480  #: pixels of a page in a notebook

_OVERLAYS = ("skeleton", "names", "wireframe")

# Each uses those before it; together they are one module.
_SCRIPTS = (
    "vectors.js",
    "data.js",
    "orbit.js",
    "motion.js",
    "skeleton.js",
    "gpu.js",
    "body.js",
    "shadow.js",
    "stage.js",
    "overlay.js",
    "player.js",
    "controls.js",
    "main.js",
)


class Page(Strict):
    """A page that plays a model. In a notebook it shows itself, in a frame that reaches nothing outside.

    A notebook saves what it shows: ``len(page.html)`` characters, and a sixth more.
    """

    def __init__(self, text: str, height: int = HEIGHT) -> None:
        self._text = instance("text", text, str, "a str")
        self._height = whole("height", height, 1)

    @property
    def html(self) -> str:
        """The text of the page, HTML."""
        return self._text

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, which appears whole or not at all.

        Parameters
        ----------
        path : path-like
            The file; its extension is .html or .htm.

        Returns
        -------
        Path
            The path.

        Raises
        ------
        ValueError
            If the file has another extension.
        OSError
            If the file cannot be written.
        """
        target = check_suffix(path)
        with replacing(target) as file:
            file.write(unicode_text(self._text).encode("utf-8"))
        return target

    def _repr_html_(self) -> str:
        """The page in a frame that may run its own scripts, and nothing else."""
        return (
            f'<iframe sandbox="allow-scripts" title="Animated 3D model" width="100%" height="{self._height}" '
            f'style="border: 0" srcdoc="{html.escape(unicode_text(self._text))}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Page: {len(self._text) / 1000:.0f} kB, {self._height} pixels high in a notebook>"


def make_page(
    model: Model,
    clips: ClipLike | Sequence[ClipLike] = None,
    *,
    fps: float = FPS,
    height: int = HEIGHT,
    title: str | None = None,
    time: float = 0.0,
    background: str | Sequence[float] | None = None,
    floor: Floor | bool | None = True,
    uv: UVLike = None,
    overlays: Overlays | None = None,
    texture_size: int = TEXTURE_SIZE,
    limit: int = MAX_BYTES,
) -> Page:
    """Make a page that plays clips of a model in any browser.

    The page is one file, which loads nothing and sends nothing. Making it needs the extra `view`, but no
    OpenGL.

    Parameters
    ----------
    model : Model
        The model.
    clips : Clip, VertexAnimation, str, int or sequence of these, optional
        The clips, their names or numbers. Without them the page has all clips of the model, or its rest pose
        if there are none. The first clip is shown at the start.
    fps : float, default 30.0
        Stored frames per second. The browser interpolates linearly between two frames.
    height : int, pixels, default 480
        Height of the page in a notebook.
    title : str, optional
        Title of the page; by default the name of the first clip.
    time : float, seconds, default 0.0
        Time at which the first clip starts.
    background : str or sequence of float, optional
        Background color, "#rrggbb" or 3 numbers, sRGB. Without it the page is light or dark, as the reader's
        browser is set.
    floor : Floor or bool, optional
        The ground plane; without it the reader can still show one. True by default.
    uv : UVAnimation or dict, optional
        Moved texture coordinates, as in `Renderer`.
    overlays : Overlays, optional
        What is shown at the start: a page has skeleton, names and wireframe.
    texture_size : int, pixels, default 2048
        Images whose longer side is larger are made smaller.
    limit : int, bytes, default 128000000
        The most that the frames may take when the browser unpacks them.

    Returns
    -------
    Page
        The page.

    Raises
    ------
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this number.
    ValueError
        If a clip belongs to another model, the frames are beyond the limit, or a number is out of range.
    TypeError
        If an argument has the wrong type.
    ImportError
        If Pillow or moderngl is not installed.

    Examples
    --------
    >>> page = skinpy.view.make_page(skinpy.character(), "walk", fps=24)
    >>> page.html[:15]
    '<!DOCTYPE html>'
    """
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title is {brief(title)}; expected str or None")
    check_model("model", model)
    rate = checked_rate(fps)
    largest, most = whole("texture_size", texture_size, 1), whole("limit", limit, 1)
    tall = whole("height", height, 1)
    color = None if background is None else parse_color("background", background)[:3]
    motions = _motions(model, clips)
    start = _start(time)
    ground = chosen_floor(floor)
    shown = {"floor": ground is not None} | _shown(overlays)
    name = title if title is not None else (motions[0].name if motions else "")
    with working("making a page"):
        scene = Scene(
            model, motions, fps=rate, limit=most, texture_size=largest, uv=uv, floor=ground or Floor()
        )
        content = scene.content()
        content |= {"background": color, "time": start, "show": shown}
        return Page(_assembled(name or "skinpy", content), tall)


def save_page(
    path: str | os.PathLike[str],
    model: Model,
    clips: ClipLike | Sequence[ClipLike] = None,
    **options: Unpack[SavedPageOptions],
) -> Path:
    """Make a page that plays clips of a model, and write it to a file.

    The file appears whole or not at all.

    Parameters
    ----------
    path : path-like
        The file; its extension is .html or .htm.
    model : Model
        The model.
    clips : Clip, VertexAnimation, str, int or sequence of these, optional
        The clips, as for `make_page`.
    **options
        The other arguments of `make_page`.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ValueError
        If the file has another extension, or an argument is wrong as in `make_page`.
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this number.
    TypeError
        If an argument has the wrong type.
    ImportError
        If Pillow or moderngl is not installed.
    OSError
        If the file cannot be written.
    """
    target = check_suffix(path)
    return make_page(model, clips, **options).save(target)


def check_suffix(path: str | os.PathLike[str]) -> Path:
    """`path` as a Path; ValueError unless it ends in .html or .htm."""
    target = Path(path_of("path", path))
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"path is {brief(os.fspath(path))}; expected .html or .htm for a page")
    return target


# ---- arguments --------------------------------------------------------------------------------------


def _motions(model: Model, clips: ClipLike | Sequence[ClipLike]) -> list[Clip | VertexAnimation]:
    poser = Poser(model)
    if clips is None:
        return list(model.clips)
    if isinstance(clips, (Clip, VertexAnimation, str)) or not isinstance(clips, Sequence):
        chosen: Sequence[ClipLike] = (clips,)
    else:
        chosen = clips
    if not chosen or any(clip is None for clip in chosen):
        raise ValueError(f"clips is {brief(clips)}; expected at least one clip, or None for all")
    motions = [poser.motion(clip) for clip in chosen]
    for motion in motions:
        if isinstance(motion, Clip) and motion.model is not model:
            raise ValueError(
                f"clip {quoted(motion.name)} is of another model; model.add_clips(clip) returns a "
                "model that has it"
            )
    return [motion for motion in motions if motion is not None]


def _shown(overlays: Overlays | None) -> dict[str, bool]:
    """What web/main.js shows at first."""
    chosen, none = check_overlays(overlays) or Overlays(), Overlays()
    for name in (field.name for field in dataclasses.fields(Overlays)):
        if name not in _OVERLAYS and getattr(chosen, name) != getattr(none, name):
            raise ValueError(f"overlays has {name}; a page can only show {', '.join(_OVERLAYS)}")
    return {"joints": chosen.skeleton or chosen.names, "names": chosen.names, "edges": chosen.wireframe}


def _start(time: float) -> float:
    check_time(time)
    return float(time)


# ---- the text ---------------------------------------------------------------------------------------


def _assembled(title: str, content: dict[str, Any]) -> str:
    style, script = _web("page.css"), "\n".join(_web(name) for name in _SCRIPTS)
    # Nothing may be loaded or sent, and only the script and the style with these hashes may run.
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return string.Template(_web("page.html")).substitute(
        title=html_text(title), policy=policy, style=style, script=script, content=_json(content)
    )


def _json(content: dict[str, Any]) -> str:
    """JSON that may stand in a script element: no name in it can end the element or begin another."""
    try:
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise ValueError("the model or its clips hold numbers too large or too small for a page") from None
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def _web(name: str) -> str:
    return importlib.resources.files("skinpy.view.page").joinpath("web", name).read_text("utf-8")
