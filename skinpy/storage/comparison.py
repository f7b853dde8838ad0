"""What each kind of animation stores for one clip, in bytes and in error; and clips in fewer bits.

`compare` makes the table, `quantize` the smallest form of a clip. docs/storage.md explains both.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _block
from .._progress import shown
from .._types import Array, Floats, PathLike
from ..clip import Clip
from ..clips.evaluate import Evaluator
from ..kinds import Kind, VertexAnimation, bake_vertices
from ..kinds.rigid import RigidCut
from ..kinds.sampling import frame_times
from ..models.frames import checked_rate, chunks
from .compress import FLOOR, ShareSearch, SkinError, Thinner, checked_error, size_of
from .quantize import decode, encode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Model

__all__ = ["Comparison", "Quantized", "Row", "compare", "quantize"]

_BETWEEN = 4  # measurements in each frame
_SLOT_BYTES = 48  # 3 x 4 float32 of a palette slot
_PLACE_BYTES = 12  # two places among stored frames, and the share of the second
_EVALUATED = 40  # numbers of float64 that a vertex takes while it is evaluated
_TRIES = 14


# ---- fewer bits -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Quantized:
    """A clip as bytes, in 8 or 16 bits a number: to keep and to send. To play it, make a Clip of it again."""

    data: bytes  #: all of it: header, key times, channels
    error: float  #: model units: the largest distance of a vertex or joint from where the source has it
    source: Clip  #: the clip that it was made of

    @property
    def nbytes(self) -> int:
        """Length of `data`."""
        return len(self.data)

    def clip(self) -> Clip:
        """The clip that the bytes hold, bound to the source's model, its keys expanded to float32."""
        return decode(self.data, self.source)

    def __repr__(self) -> str:
        return f"<Quantized {self.source.name!r}: {self.nbytes} bytes, error {self.error:.3g}>"


def quantize(clip: Clip, max_error: float | None = None) -> Quantized:
    """`clip` with keys dropped as by `clip.compress` and the rest in 8 or 16 bits, within max_error.

    max_error is a distance in model units, by default 1e-4 of the size; what dropped keys and rounded
    numbers do together is measured at the skin as `compress` does. 16 bits have an end: where even they
    lead a vertex further astray, the most exact result that was found is given, and its `error` says so.

    Raises ValueError for a clip that is bound to no model or additive, and for a negative max_error.
    """
    bound = checked_error(max_error, clip)
    thinner, measure = Thinner(clip, bound * FLOOR), SkinError(clip)
    found: list[Quantized] = []
    search = ShareSearch()
    for _ in shown(range(_TRIES), _TRIES, f"quantizing {clip.name}"):
        thin = thinner.clip(bound * search.share)
        data = encode(thin, thinner.limits(thin, bound * search.share / 4))
        worst = measure.of(decode(data, clip))
        found.append(Quantized(data, worst, clip))
        if not search.narrow(worst, bound):
            break
    fitting = [one for one in found if one.error <= bound]
    return min(fitting, key=lambda one: one.nbytes) if fitting else min(found, key=lambda one: one.error)


# ---- the table ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One way to store a clip. Bytes, seconds, and errors against float64 evaluation of the source."""

    name: str
    kind: Kind
    geometry: int  #: bytes that are stored once, whatever the clip
    motion: int  #: bytes of the clip
    per_second: float | None  #: bytes of motion for a second of it; None where it lasts none
    per_frame: int  #: bytes that are sent to the GPU for each picture, beside camera and lights
    max_error: float  #: model units: the largest distance of any vertex at any time
    rms_error: float  #: model units: the root of the mean square of all those distances
    max_percent: float  #: of the size
    rms_percent: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `compare` found: a table that prints itself, in a terminal and in Jupyter."""

    rows: tuple[Row, ...]
    clip: str  #: name of the clip
    duration: float  #: seconds
    fps: float  #: frames per second of the full frames
    allowed: float  #: model units: the bound for key frames, dropped keys and fewer bits
    size: float  #: model units: the longest side of the box around the vertices at the clip's start
    vertices: int

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, strings, lists and dicts, fit for JSON."""
        found = asdict(self)
        found["rows"] = list(found["rows"])
        return found

    @property
    def _title(self) -> str:
        return (
            f"{self.clip!r}: {self.duration:.3f} s, {self.vertices:,} vertices, {self.fps:g} frames/s; "
            f"size {self.size:.4g}, error allowed {self.allowed:.3g}"
        )

    def __repr__(self) -> str:
        table = [_HEADINGS, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in table) for column in range(len(_HEADINGS))]
        lines = [
            "  ".join(
                cell.ljust(width) if not column else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in table
        ]
        return "\n".join([self._title, *lines])

    def _repr_html_(self) -> str:
        def line(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line(_cells(row), "td") for row in self.rows)
        caption = f"<caption>{html.escape(self._title)}</caption>"
        return f"<table>{caption}<thead>{line(_HEADINGS, 'th')}</thead><tbody>{body}</tbody></table>"

    def plot(self, path: PathLike | None = None) -> Figure:
        """A matplotlib Figure of bytes and errors; with a path also a file, whose suffix says the format.

        Needs matplotlib (the extra `plot`): ImportError without it. Raises ValueError for a suffix that
        matplotlib does not know, and OSError; the file appears whole or not at all.
        """
        from .._plots import plotted
        from .plot import draw

        return plotted(partial(draw, self), path)


_HEADINGS = (
    "stored as",
    "kind",
    "geometry B",
    "motion B",
    "B/s",
    "B/frame to GPU",
    "max error",
    "% of size",
    "RMS error",
    "% of size",
)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        row.kind,
        f"{row.geometry:,}",
        f"{row.motion:,}",
        "-" if row.per_second is None else f"{row.per_second:,.0f}",
        f"{row.per_frame:,}",
        f"{row.max_error:.2e}",
        f"{row.max_percent:.5f}",
        f"{row.rms_error:.2e}",
        f"{row.rms_percent:.5f}",
    )


def compare(
    model: Model,
    clip: Clip | str | int | None = None,
    *,
    fps: float = 30.0,
    max_error: float | None = None,
) -> Comparison:
    """The clip stored as each kind of animation that can carry it, from full frames to fewer bits.

    clip is a Clip of the model, its name or number, by default the first. fps is the rate of the full frames.
    max_error, a distance in model units and by default 1e-4 of the size, is what key frames, dropped keys
    and fewer bits may cost. Errors are those of the vertices that skinpy shows (float32) against float64
    evaluation of the clip as it is, at every frame and three times between any two, where stored frames
    have to make up what they do not hold. Textures and materials are the same for all and left out.

    Raises KeyError and IndexError (no such clip), ValueError (a model without clips or without a mesh, a clip
    of another model, of none or additive, fps not positive, a negative max_error) and TypeError.
    """
    rate = checked_rate(fps)
    source = _source(model, clip)
    bound = checked_error(max_error, source)
    forms = _forms(model, source, rate, bound)
    size = size_of(source)
    errors = _errors(model, source, forms, frame_times(source.duration, _BETWEEN * rate))
    rows = tuple(_row(form, error, source.duration, size) for form, error in zip(forms, errors, strict=True))
    count = len(model.mesh.positions)
    return Comparison(rows, source.name, source.duration, rate, bound, size, count)


def _source(model: Model, clip: Clip | str | int | None) -> Clip:
    if not len(model.mesh.positions):
        raise ValueError("model has no mesh; there are no vertices to compare")
    if clip is None:
        if not len(model.clips):
            raise ValueError("model has no clip; there is no motion to compare")
        return model.clips[0]
    if isinstance(clip, (str, int, np.integer)):
        return model.clips[clip]
    if not isinstance(clip, Clip):
        raise TypeError(f"clip is of type {type(clip).__name__}; expected a Clip, its name or its number")
    if clip.model is not model:
        whom = "no model" if clip.model is None else "another model"
        raise ValueError(
            f"clip {clip.name!r} is bound to {whom}; model.add_clips(clip) gives one that has it"
        )
    return clip


@dataclass(frozen=True, eq=False)
class _Form:
    """One way to store the clip, and what it shows."""

    name: str
    kind: Kind
    geometry: int
    motion: int
    per_frame: int
    points: Callable[[Array], Floats]  #: (N,) seconds -> (N,V,3)
    vertices: Array | None = None  #: which of the source's vertices those are; None: all


_LOOK = ("FACES", "UVS", "COLORS")
_SKELETON = ("JOINT_PARENTS", "REST_TRANSLATION", "REST_ROTATION", "REST_SCALE", "REST_LOCAL")
_SKIN = ("SLOT_JOINTS", "SLOT_INVERSE_BIND", "VERTEX_SLOTS", "VERTEX_WEIGHTS")
_SHAPE = ("POSITIONS", "NORMALS", "TANGENTS")
_MORPHS = ("TARGETS", "TARGET_VERTICES", "TARGET_POSITIONS", "TARGET_NORMALS")
_POSED = (*_LOOK, *_SHAPE, *_SKELETON, *_SKIN, *_MORPHS)


def _bytes_of(model: Model, sections: Sequence[str]) -> int:
    return sum(_block.section(model._block, name).nbytes for name in sections)


def _forms(model: Model, source: Clip, fps: float, bound: float) -> list[_Form]:
    full = bake_vertices(model, source, fps)
    keyed = full.to_keyed(bound)
    forms = [
        _stored_form("full frames", full, model),
        _stored_form("key frames", keyed, model),
    ]
    if source.kind == "skinned" and len(model.mesh.faces):
        rigid = model.as_rigid()
        hung = Clip(source._block, source._index, rigid, source.name)
        forms.append(_posed_form("rigid parts", hung, hung.nbytes, RigidCut(model).source))
    thin, coded = source.compress(bound), quantize(source, bound)
    what = "morph weights" if source.kind == "keyed" else source.kind
    forms += [
        _posed_form(f"{what}, keys as imported", source, source.nbytes),
        _posed_form(f"{what}, fewer keys", thin, thin.nbytes),
        _posed_form(f"{what}, quantized (stored size)", coded.clip(), coded.nbytes),
    ]
    return forms


def _stored_form(name: str, animation: VertexAnimation, model: Model) -> _Form:
    def points(times: Array) -> Floats:
        return animation.sample(times, loop="clamp")[0]

    return _Form(name, animation.kind, _bytes_of(model, _LOOK), animation.nbytes, _PLACE_BYTES, points)


def _posed_form(name: str, clip: Clip, motion: int, vertices: Array | None = None) -> _Form:
    model = clip.model
    assert model is not None

    def points(times: Array) -> Floats:
        return model.deform(clip.sample(times, loop="clamp"), normals=False)[0]

    per_frame = _SLOT_BYTES * len(model.skin) + 4 * len(model.targets)
    return _Form(name, clip.kind, _bytes_of(model, _POSED), motion, per_frame, points, vertices)


def _errors(model: Model, source: Clip, forms: list[_Form], times: Array) -> list[tuple[float, float]]:
    """Largest distance of each form's vertices from the source's, and root of the mean square."""
    evaluator = Evaluator(model)
    largest, square, count = np.zeros(len(forms)), np.zeros(len(forms)), np.zeros(len(forms))
    parts = list(chunks(len(times), _EVALUATED * len(model.mesh.positions)))
    for part in shown(parts, len(parts), f"measuring {source.name}"):
        wanted = evaluator.deform(source, times[part])
        for number, form in enumerate(forms):
            away = form.points(times[part]) - (wanted if form.vertices is None else wanted[:, form.vertices])
            distance = np.einsum("nvc,nvc->nv", away, away)
            largest[number] = max(largest[number], distance.max(initial=0.0))
            square[number] += distance.sum()
            count[number] += distance.size
    mean = square / np.maximum(count, 1)
    return [(math.sqrt(high), math.sqrt(low)) for high, low in zip(largest, mean, strict=True)]


def _row(form: _Form, error: tuple[float, float], duration: float, size: float) -> Row:
    high, low = error
    percent = 100.0 / size if size > 0 else 0.0
    return Row(
        form.name,
        form.kind,
        form.geometry,
        form.motion,
        form.motion / duration if duration > 0 else None,
        form.per_frame,
        high,
        low,
        high * percent,
        low * percent,
    )
