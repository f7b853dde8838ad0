"""`compare`: one clip in each form that can carry it, and what each form costs in bytes and in error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import _block
from .._arguments import check_model
from .._progress import working
from .._text import quoted
from .._types import Array, Floats
from ..clip import Clip
from ..clips.evaluate import Evaluator
from ..kinds import Kind, VertexAnimation, bake_vertices
from ..kinds.rigid import RigidCut
from ..kinds.sampling import frame_times
from ..models.frames import checked_rate, chunks
from ..models.pickling import need_vertices
from .comparison import Comparison, Row
from .quantized import quantize
from .skin_error import checked_error, size_of

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["compare"]

_BETWEEN = 4  # measurements in each frame
_SLOT_BYTES = 48  # 3 x 4 float32 of a palette slot
_FRAME_BYTES = 12  # two indices of stored frames, and the fraction of the second
_EVALUATED = 40  # float64 numbers that a vertex takes while it is evaluated


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def compare(
    model: Model,
    clip: Clip | str | int | None = None,
    *,
    fps: float = 30.0,
    max_error: float | None = None,
) -> Comparison:
    """Store a clip in each form that can carry it, and return the bytes and errors of each.

    Textures and materials are the same for all forms and left out. docs/storage.md explains rows and columns.

    Parameters
    ----------
    model : Model
        A model with a mesh and clips.
    clip : Clip, str or int, optional
        A clip of the model, its name or its index. Without it the first clip.
    fps : float, default 30.0
        Frames per second of the full frames.
    max_error : float, model units, optional
        The error that key frames, dropped keys and fewer bits may cost. Without it 1e-4 of the size.

    Returns
    -------
    Comparison
        One row per form, from full frames to fewer bits.

    Raises
    ------
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this index.
    ValueError
        If the model has no clip or no mesh, the clip is additive or not bound to this model, `fps` is not
        positive, or `max_error` is negative.
    TypeError
        If `clip` is of another type.

    Notes
    -----
    Errors are those of the vertices that skinpy shows (float32), against evaluation of the source in float64.
    They are measured at every frame and at three times between any two, where stored frames have to
    interpolate.
    """
    check_model("model", model)
    rate = checked_rate(fps)
    source = _source(model, clip)
    bound = checked_error(max_error, source)
    with working(f"storing {source.name} in each form"):
        forms = _forms(model, source, rate, bound)
    size = size_of(source)
    errors = _errors(model, source, forms, frame_times(source.duration, _BETWEEN * rate))
    rows = tuple(_row(form, error, source.duration, size) for form, error in zip(forms, errors, strict=True))
    count = len(model.mesh.positions)
    return Comparison(rows, source.name, source.duration, rate, bound, size, count)


def _source(model: Model, clip: Clip | str | int | None) -> Clip:
    """Return the clip to store, checked."""
    need_vertices(model, "a comparison")
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
        owner = "no model" if clip.model is None else "another model"
        raise ValueError(
            f"clip {quoted(clip.name)} is bound to {owner}; model.add_clips(clip) returns a model that has it"
        )
    return clip


@dataclass(frozen=True, eq=False)
class _Form:
    """One form of the clip, and the points that it shows."""

    name: str
    kind: Kind
    geometry: int
    motion: int
    per_frame: int
    points: Callable[[Array], Floats]  #: (N,) seconds -> (N,V,3)
    vertices: Array | None = None  #: the source's vertex of each point; None: the same vertices


_LOOK = ("FACES", "UVS", "COLORS")
_SKELETON = ("JOINT_PARENTS", "REST_TRANSLATION", "REST_ROTATION", "REST_SCALE", "REST_LOCAL")
_SKIN = ("SLOT_JOINTS", "SLOT_INVERSE_BIND", "VERTEX_SLOTS", "VERTEX_WEIGHTS")
_SHAPE = ("POSITIONS", "NORMALS", "TANGENTS")
_MORPHS = ("TARGETS", "TARGET_VERTICES", "TARGET_POSITIONS", "TARGET_NORMALS")
_POSED = (*_LOOK, *_SHAPE, *_SKELETON, *_SKIN, *_MORPHS)


def _bytes_of(model: Model, sections: Sequence[str]) -> int:
    """Return the bytes of some sections of the model's block."""
    return sum(_block.section(model._block, name).nbytes for name in sections)


def _forms(model: Model, source: Clip, fps: float, bound: float) -> list[_Form]:
    """Return the clip in each form that can carry it."""
    full = bake_vertices(model, source, fps)
    keyed = full.to_keyed(bound)
    forms = [
        _stored_form("full frames", full, model),
        _stored_form("key frames", keyed, model),
    ]
    if source.kind == "skinned" and len(model.mesh.faces):
        rigid = model.as_rigid()
        on_rigid = Clip(source._block, source._index, rigid, source.name)
        forms.append(_posed_form("rigid parts", on_rigid, on_rigid.nbytes, RigidCut(model).source))
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

    return _Form(name, animation.kind, _bytes_of(model, _LOOK), animation.nbytes, _FRAME_BYTES, points)


def _posed_form(name: str, clip: Clip, motion: int, vertices: Array | None = None) -> _Form:
    model = clip.model
    assert model is not None

    def points(times: Array) -> Floats:
        return model.deform(clip.sample(times, loop="clamp"), normals=False)[0]

    per_frame = _SLOT_BYTES * len(model.skin) + 4 * len(model.targets)
    return _Form(name, clip.kind, _bytes_of(model, _POSED), motion, per_frame, points, vertices)


def _errors(model: Model, source: Clip, forms: list[_Form], times: Array) -> list[tuple[float, float]]:
    """Return for each form the largest distance of its vertices from the source's, and the RMS."""
    evaluator = Evaluator(model)
    largest, square, count = np.zeros(len(forms)), np.zeros(len(forms)), np.zeros(len(forms))
    spans = list(chunks(len(times), _EVALUATED * len(model.mesh.positions)))
    with working(f"measuring {source.name}", len(spans)) as work:
        for span in spans:
            wanted = evaluator.deform(source, times[span])
            for number, form in enumerate(forms):
                away = form.points(times[span])
                away = away - (wanted if form.vertices is None else wanted[:, form.vertices])
                distance = np.einsum("nvc,nvc->nv", away, away)
                largest[number] = max(largest[number], distance.max(initial=0.0))
                square[number] += distance.sum()
                count[number] += distance.size
            work.done += 1
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
