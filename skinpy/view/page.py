"""One file that shows a model in any browser, with nothing from elsewhere: docs/page.md."""

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
from typing import TYPE_CHECKING, Any

from skinpy._arguments import whole
from skinpy._text import unicode_text
from skinpy.clip import Clip
from skinpy.files.whole import replacing
from skinpy.kinds import VertexAnimation
from skinpy.models.frames import checked_rate

from ..render import Floor, Overlays
from ..render.color import parse_color
from ..render.overlays.options import check_overlays
from ..render.posing import Poser, check_time
from ..render.scene.floor import chosen_floor
from .page_scene import Scene

if TYPE_CHECKING:
    from skinpy.model import Model

    from ..render.posing import ClipLike
    from ..render.scene.texturing import UVLike

FPS = 30.0  #: baked frames per second unless the caller says otherwise
LIMIT = 128_000_000  #: bytes of frames that a browser unpacks
TEXTURE_SIZE = 2048  #: pixels of an image's longer side
HEIGHT = 480  #: pixels of a page in a notebook

_OVERLAYS = ("skeleton", "names", "wireframe")

# Each uses what stands before it; together they are one module.
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


class Page:
    """A whole page as text, HTML. In a notebook it shows itself, in a frame that is closed to the rest.

    What a notebook shows is saved with it: `len(page.html)` characters, and a sixth more.
    """

    def __init__(self, text: str, height: int = HEIGHT) -> None:
        """`text` is the page; `height` pixels of the frame in a notebook."""
        self._text = text
        self._height = height

    @property
    def html(self) -> str:
        """The text of the page."""
        return self._text

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file that ends in .html or .htm; it appears whole or not at all.

        Returns the path. Raises ValueError for another suffix, and OSError.
        """
        target = check_suffix(path)
        with replacing(target) as file:
            file.write(self._text.encode("utf-8"))
        return target

    def _repr_html_(self) -> str:
        """The page in a frame that may run its scripts, and nothing else."""
        return (
            f'<iframe sandbox="allow-scripts" title="Animated 3D model" width="100%" height="{self._height}" '
            f'style="border: 0" srcdoc="{html.escape(self._text)}"></iframe>'
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
    limit: int = LIMIT,
) -> Page:
    """A page that plays clips of a model in a browser: one file, which asks nothing of any network.

    - clips: a Clip, its name or number, a VertexAnimation of the model, or a sequence of them; None is all
      clips of the model, or its rest pose where it has none. The first is shown, from `time` seconds on.
    - fps: frames per second at which clips are baked; the browser goes along straight lines between two.
    - height: pixels of the frame in a notebook. title: of the page, by default the first clip's name.
    - background: a color, "#rrggbb" or 3 numbers, sRGB; None follows the light or dark scheme of the reader.
    - floor: True, False (the reader can bring it in) or a skinpy.render.Floor. uv: as in
      skinpy.render.Renderer.
    - overlays: skeleton, names and wireframe are shown at first; there are no others in a page.
    - texture_size: pixels of the longer side of an image; larger ones are made smaller.
    - limit: bytes of frames that the browser is to unpack.

    Needs the extra "view", though no OpenGL here. Raises KeyError or IndexError for an unknown clip,
    ValueError for a clip of another model, frames beyond the limit, and wrong numbers; TypeError;
    ImportError for what is not installed.
    """
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title is {title!r}; expected str or None")
    rate = checked_rate(fps)
    largest, most = whole("texture_size", texture_size, 1), whole("limit", limit, 1)
    tall = whole("height", height, 1)
    color = None if background is None else parse_color("background", background)[:3]
    motions = _motions(model, clips)
    start = _start(time)
    ground = chosen_floor(floor)
    shown = {"floor": ground is not None} | _shown(overlays)
    scene = Scene(model, motions, fps=rate, limit=most, texture_size=largest, uv=uv, floor=ground or Floor())
    name = title if title is not None else (motions[0].name if motions else "")
    content = scene.content()
    content |= {"background": color, "time": start, "show": shown}
    return Page(_assembled(unicode_text(name) or "skinpy", content), tall)


def save_page(
    path: str | os.PathLike[str], model: Model, clips: ClipLike | Sequence[ClipLike] = None, **options: Any
) -> Path:
    """Write `make_page(model, clips, **options)` to a file and return its path.

    The file appears whole or not at all. Raises ValueError for a suffix that is neither .html nor .htm, what
    `make_page` raises, and OSError.
    """
    target = check_suffix(path)
    return make_page(model, clips, **options).save(target)


def check_suffix(path: str | os.PathLike[str]) -> Path:
    """`path` as a Path; ValueError unless it ends in .html or .htm."""
    target = Path(os.fsdecode(path))
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"path is {os.fsdecode(path)!r}; expected .html or .htm for a page")
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
        raise ValueError(f"clips is {clips!r}; expected at least one clip, or None for all")
    motions = [poser.motion(clip) for clip in chosen]
    for motion in motions:
        if isinstance(motion, Clip) and motion.model is not model:
            raise ValueError(f"clip {motion.name!r} is of another model; model.add_clips gives one with it")
    return [motion for motion in motions if motion is not None]


def _shown(overlays: Overlays | None) -> dict[str, bool]:
    """What web/main.js shows at first."""
    chosen, none = check_overlays(overlays) or Overlays(), Overlays()
    for name in (field.name for field in dataclasses.fields(Overlays)):
        if name not in _OVERLAYS and getattr(chosen, name) != getattr(none, name):
            raise ValueError(f"overlays has {name}; expected no others than {', '.join(_OVERLAYS)} in a page")
    return {"joints": chosen.skeleton or chosen.names, "names": chosen.names, "edges": chosen.wireframe}


def _start(time: float) -> float:
    check_time(time)
    return float(time)


# ---- the text ---------------------------------------------------------------------------------------


def _assembled(title: str, content: dict[str, Any]) -> str:
    style, script = _web("page.css"), "\n".join(_web(name) for name in _SCRIPTS)
    # Nothing may be loaded or sent, and no script or style may run but the two whose hashes stand here.
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return string.Template(_web("page.html")).substitute(
        title=html.escape(title), policy=policy, style=style, script=script, content=_json(content)
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
    return importlib.resources.files("skinpy.view").joinpath("web", name).read_text("utf-8")
