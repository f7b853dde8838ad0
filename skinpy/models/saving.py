"""A model in one block, and in a file: Model.save and pickling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _block, _core
from .._arguments import brief, path_of, positive
from .._types import PathLike
from ..clip import Clip
from ..clips.binding import join, merged_reports
from ..files.whole import replacing

if TYPE_CHECKING:
    from ..model import Model


def joined_block(model: Model) -> _core.Block:
    """One block with all of a model, including clips that live in blocks of their own.

    It is the model's own block if that has the same clips in the same order.
    """
    block, entries = model._block, model._clip_entries
    own_names = _block.texts(block, _block.section(block, "CLIPS")["name"])
    if [(name, held is block) for name, held, _ in entries] == [(name, True) for name in own_names]:
        return block
    sections = {name: _block.section(block, name) for name in block.sections}
    pool = _block.TextPool(sections["TEXT"].tobytes() if "TEXT" in sections else b"")
    clips = [Clip(held, index, None, name) for name, held, index in entries]
    sections |= join(clips, None, pool)
    sections["REPORT"] = merged_reports(model._blocks, pool)
    sections["TEXT"] = pool.section()
    return _block.pack(sections, int(_block.info(block)["influences"]))


def save(model: Model, path: PathLike, unit_meters: float | None = None) -> None:
    """See Model.save."""
    target = Path(path_of("path", path))
    suffix = target.suffix.lower()
    if unit_meters is not None:
        model = with_unit(model, positive("unit_meters", unit_meters))
    if suffix == ".skn":
        data: Any = _block.memory(joined_block(model))
    elif suffix == ".glb":
        from ..files.glb import model_glb

        data = model_glb(model)
    else:
        motion = {".bvh": "; Clip.save writes .bvh", ".npz": "; Clip.to_npz writes .npz"}.get(suffix, "")
        raise ValueError(f"path ends in {brief(target.suffix)}; expected '.skn' or '.glb'{motion}")
    with replacing(target) as file:
        file.write(data)


def with_unit(model: Model, meters: float) -> Model:
    """The model with another statement of the length of its unit; no other number changes."""
    sections = {name: _block.section(model._block, name) for name in model._block.sections}
    sections["INFO"] = sections["INFO"].copy()
    sections["INFO"]["unit_meters"] = meters
    block = _block.pack(sections, int(_block.info(model._block)["influences"]))
    own = model._block
    return type(model)(
        block, [(name, block if held is own else held, n) for name, held, n in model._clip_entries]
    )
