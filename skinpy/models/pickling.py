"""Pickles: what they write of models, of their clips, and of their assets.

Whatever belongs to a model (a clip, a pose, a controller) refers to the `Rig` of the model, and so does the
model itself. A rig is read as a model without vertices. If the pickle has the model as well, that same object
becomes the whole model, so the order in which things were written does not matter. Keys that a model shares
with a clip in use are written once.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _block, _core
from .._text import quoted
from .._types import Array
from ..assets import Mesh, Skeleton, Skin, Texture
from ..clip import Clip
from ..clips.arrays import name_sections, names_of_model
from ..clips.events import NO_MOTION, ClipRows
from .extras import read_extras, write_extras
from .saving import joined_block

if TYPE_CHECKING:
    from pickle import PickleBuffer

    from ..model import Model


def stored(data: Any, protocol: int) -> bytes | PickleBuffer:
    """Read-only memory as a pickle holds it; from protocol 5 on a pickle may also leave it outside."""
    from pickle import PickleBuffer  # here, because `import skinpy` must be quick

    return PickleBuffer(data) if protocol >= 5 else bytes(data)


# ---- rigs -----------------------------------------------------------------------------------------

#: Sections that a rig has as they are.
_KEPT = frozenset(
    ("JOINT_PARENTS", "REST_TRANSLATION", "REST_ROTATION", "REST_SCALE", "REST_LOCAL")
    + ("SLOT_JOINTS", "SLOT_INVERSE_BIND")
)
#: Fields of rows of other sections: a rig has nothing that they refer to, so they get these values.
_EMPTIED: dict[str, dict[str, int]] = {
    "TARGETS": {"first": 0, "count": 0},
    "SUBMESHES": {"first_vertex": 0, "vertex_count": 0, "first_face": 0, "face_count": 0},
    "MATERIALS": {"texture": -1},
}
#: The members of EXTRAS that belong to joints and materials, which a rig has.
_EXTRAS = ("hidden", "joints", "materials")


class Rig:
    """A model in a pickle of what belongs to it: its joints, slots, morph targets, submeshes and materials.

    There are neither vertices, faces and images nor clips. Each model has one rig, so a pickle has it once.
    """

    def __init__(self, model: Model) -> None:
        self._model = weakref.ref(model)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_rig, self._stored

    @cached_property
    def _stored(self) -> tuple[dict[str, bytes], int]:
        """The arguments of `read_rig`."""
        model = self._model()
        assert model is not None  # what belongs to it holds it
        sections, influences = rig_sections(model)
        return {name: rows.tobytes() for name, rows in sections.items()}, influences

    def __deepcopy__(self, memo: dict[int, Any]) -> Model | None:
        return self._model()


def rig_sections(model: Model) -> tuple[dict[str, Array], int]:
    """The sections of the block of a rig, and its number of influences."""
    block, pool = model._block, _block.TextPool()
    sections = {name: _block.section(block, name) for name in block.sections if name in _KEPT}
    sections["JOINT_NAMES"] = pool.names(model.skeleton.names)
    for name, fields in _EMPTIED.items():
        rows = _block.section(block, name).copy()
        names = map(pool.add, _block.texts(block, rows["name"]))
        rows["name"] = np.array(list(names), rows["name"].dtype)
        for field, value in fields.items():
            rows[field] = value
        sections[name] = rows
    # One influence says that every vertex of the model follows one joint rigidly; see Model._is_rigid.
    influences = 1 if model._is_rigid else max(model.mesh.slots.shape[1], 2)
    info = _block.section(block, "INFO").copy()
    info["vertices"], info["faces"], info["influences"] = 0, 0, influences
    info["source_format"] = np.array(
        pool.add(_block.text(block, info["source_format"])), info["source_format"].dtype
    )
    extras = read_extras(block)
    kept = {name: extras[name] for name in _EXTRAS if name in extras}
    if kept:
        sections["EXTRAS"] = write_extras(kept)
    return sections | {"INFO": info, "TEXT": pool.section()}, influences


def read_rig(sections: dict[str, Any], influences: int) -> Model:
    """The model of a rig, which waits for what else the pickle has of it."""
    from ..model import Model

    model = Model(_core.Block.pack(sections, influences))
    vars(model)["_arrived"] = weakref.WeakValueDictionary[int, Clip]()
    return model


def need_vertices(model: Model, what: str) -> None:
    """Raise ValueError for a model that came out of a pickle without its vertices; `what` needs them."""
    if model._lacks_vertices:
        raise ValueError(
            f"{what} needs the vertices of the model, which the pickle of this clip, pose or controller "
            "did not have; pickle the model together with it, as in pickle.dumps((model, clip))"
        )


# ---- models ---------------------------------------------------------------------------------------


def reduced_model(model: Model, protocol: int) -> tuple[Any, ...]:
    """What Model.__reduce_ex__ returns."""
    return read_model, (model._rig, list(_pieces(model, joined_block(model), protocol)))


def _pieces(model: Model, block: _core.Block, protocol: int) -> Iterator[Any]:
    """The bytes of a block in order; pieces that are the keys of clips in use are those of the clips."""
    data, at = _block.memory(block), 0
    values = block.sections.get("VALUES", (0, 0, 0))[0]
    records, channels = _block.section(block, "CLIPS"), _block.section(block, "CHANNELS")
    in_use = (held() for held in model._cache.valuerefs())  # other threads may add clips
    for number, clip in sorted((clip._number, clip) for clip in in_use if clip is not None):
        first, count = int(records["first_channel"][number]), int(records["channel_count"][number])
        start, end = (values + 4 * offset for offset in key_span(channels[first : first + count]))
        keys = keys_of(clip)
        if at <= start < end and np.array_equal(np.frombuffer(data[start:end], np.uint8), keys.data):
            yield stored(data[at:start], protocol)
            yield keys
            at = end
    yield stored(data[at:], protocol)


def read_model(model: Model, pieces: list[Any]) -> Model:
    """The whole model: it is the object that the rig became, with which clips and poses came."""
    model._complete(_core.Block(b"".join(pieces), rig=model._block))
    names = vars(model)
    arrived = names.pop("_arrived")
    for name in set(names) - {"_rig", "_cache", "skeleton", "skin"}:  # what was read of the rig's block
        del names[name]
    model._cache.clear()
    clip_names = model.clips.names
    for number, clip in arrived.items():
        if number not in range(len(clip_names)) or clip_names[number] != clip.name:
            raise ValueError(f"the model of this pickle has no clip {quoted(clip.name)} at index {number}")
        _settle(model, clip, number)
    return model


def _settle(model: Model, clip: Clip, number: int) -> None:
    """Make a clip that was read the one that ``model.clips[number]`` returns."""
    clip._number = number
    model._cache[number] = clip


# ---- assets ---------------------------------------------------------------------------------------

#: Sections that a mesh has in addition to a rig; it has its own INFO and SUBMESHES.
_OF_A_MESH = ("POSITIONS", "NORMALS", "UVS", "COLORS", "TANGENTS", "VERTEX_SLOTS", "VERTEX_WEIGHTS", "FACES")


def reduced_asset(asset: Skeleton | Skin | Mesh, protocol: int) -> tuple[Any, ...]:
    """What __reduce_ex__ of a skeleton, a skin or a mesh returns: a rig, and the vertices of a mesh."""
    from ..model import Model

    block = asset._block
    sections, influences = rig_sections(Model(block))
    if isinstance(asset, Mesh):
        own = {name: _block.section(block, name) for name in _OF_A_MESH if name in block.sections}
        submeshes, info = sections["SUBMESHES"], sections["INFO"]
        for field in _EMPTIED["SUBMESHES"]:
            submeshes[field] = _block.section(block, "SUBMESHES")[field]
        for field in ("vertices", "faces", "influences"):
            info[field] = _block.section(block, "INFO")[field]
        sections, influences = sections | own, int(info["influences"][0])
    packed = {name: stored(np.ascontiguousarray(rows), protocol) for name, rows in sections.items()}
    return read_asset, (type(asset), packed, influences)


def read_asset(
    kind: type[Skeleton | Skin | Mesh], sections: dict[str, Any], influences: int
) -> Skeleton | Skin | Mesh:
    """A skeleton, a skin or a mesh of a pickle."""
    return kind(_core.Block.pack(sections, influences))


def read_texture(name: str, format: str, data: Any, width: int, height: int) -> Texture:
    """A texture of a pickle."""
    return Texture(name, format, memoryview(data).toreadonly(), width, height)


# ---- clips ----------------------------------------------------------------------------------------

#: Fields of a channel that are offsets into VALUES.
_OFFSETS = ("values", "in_tangents", "out_tangents")


class Keys:
    """The values and tangents of the channels of one clip, for one pickle; see `_pieces`."""

    def __init__(self, data: Array) -> None:
        self.data = data  #: uint8

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return bytes, (stored(self.data.data, protocol),)


def keys_of(clip: Clip) -> Keys:
    """The keys of a clip: the same object as long as a pickle holds it."""
    held: Keys | None = clip._keys()
    if held is None:
        start, end = key_span(clip._channel_records)
        held = Keys(_block.section(clip._block, "VALUES")[start:end].view(np.uint8))
        clip._keys = weakref.ref(held)
    return held


def key_span(channels: Array) -> tuple[int, int]:
    """The range of floats in VALUES that has all values and tangents of the channels of one clip."""
    cells = channels["in_cells"] == 1
    keys, stride = channels["key_count"].astype(np.int64), channels["stride"].astype(np.int64)
    steps = np.where(cells, keys, np.where(stride == 0, 0, keys - 1))  # the last cell is stored twice
    lengths = steps * stride + np.where(cells, _block.CELL, np.array(_block.PATH_WIDTHS)[channels["path"]])
    spans = [
        (int(channels[field][has].min()), int((channels[field][has].astype(np.int64) + lengths[has]).max()))
        for field in _OFFSETS
        if (has := channels[field] != _block.NO_ARRAY).any()
    ]
    return min((start for start, _ in spans), default=0), max((end for _, end in spans), default=0)


def reduced_clip(clip: Clip, protocol: int) -> tuple[Any, ...]:
    """What Clip.__reduce_ex__ returns."""
    model = clip.model
    known = model is not None and names_of_model(model) == clip._names
    sections = {name: stored(rows, protocol) for name, rows in _clip_sections(clip).items()}
    names = None if known else clip._names
    return read_clip, (
        None if model is None else model._rig,
        clip._number,
        names,
        sections,
        keys_of(clip),
        clip._error,
    )


def _clip_sections(clip: Clip) -> dict[str, Array]:
    """The sections of a block of this clip alone, without names; VALUES follow the keys of the channels."""
    pool, motion = _block.TextPool(), clip._motion
    channels = clip._channel_records.copy()
    start, end = key_span(channels)
    for field in _OFFSETS:
        has = channels[field] != _block.NO_ARRAY
        channels[field][has] -= np.uint64(start)
    times = _own_times(clip, channels)
    records = ClipRows(pool)
    row = NO_MOTION if motion is None else (len(motion.times), len(times), end - start)
    records.add(clip, len(channels), row)
    sections = {
        **records.sections(),
        "CHANNELS": channels,
        "TIMES": times if motion is None else np.concatenate([times, motion.times]),
        "VALUES": np.empty(0, np.float32) if motion is None else motion.values.ravel(),
    }
    return sections | {"TEXT": pool.section()}


def _own_times(clip: Clip, channels: Array) -> Array:
    """The times of a clip without those of other clips; the offsets in its channels are changed to these."""
    times = _block.section(clip._block, "TIMES")
    spans, owners = np.unique(channels[["times", "key_count"]], return_inverse=True)
    counts = spans["key_count"].astype(np.int64)
    if counts.sum() > len(times):  # only in a hostile file: spans that overlap
        return times
    channels["times"] = (np.cumsum(counts) - counts)[owners]
    starts = spans["times"].astype(np.int64)
    parts = [times[start : start + count] for start, count in zip(starts, counts, strict=True)]
    return np.concatenate([np.empty(0), *parts])


def read_clip(
    model: Model | None,
    number: int | None,
    names: dict[str, tuple[str, ...]] | None,
    sections: dict[str, Any],
    keys: bytes,
    error: float | None,
) -> Clip:
    """A clip of a pickle.

    `number` is its index among the clips of its model, if it is one of these; `names` are what its channels
    refer to, if these are not the names of its model.
    """
    if model is not None and number is not None and "_arrived" not in vars(model):
        return model.clips[number]  # the model came first, with all of its clips
    if names is None:
        assert model is not None
        names = names_of_model(model)
    pool = _block.TextPool(sections["TEXT"])
    sections |= name_sections(names, pool)
    sections |= {"TEXT": pool.section(), "VALUES": b"".join([keys, sections["VALUES"]])}
    clip = Clip(_core.Block.pack(sections, 1), 0, model)
    clip._error = error
    if model is not None and number is not None:
        model._add_clip((clip.name, clip._block, 0))
        vars(model)["_arrived"][number] = clip
        _settle(model, clip, len(model._clip_entries) - 1)
    return clip
