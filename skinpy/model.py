"""Models: skeleton, mesh, skin, clips and materials over one block, and the jobs that use them."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _block, _core
from ._arguments import any_array
from ._confinement import USUAL, confinement
from ._notebook import Shown
from ._types import Array, Floats, Loop, PathLike, Rotation
from .assets import Material, Mesh, Report, Skeleton, Skin, Target, read_materials, read_targets
from .clip import Clip
from .clips.sequence import Clips
from .errors import warn_of_losses
from .files.whole import replacing
from .models.frames import corners
from .pose import Pose

if TYPE_CHECKING:
    from .checking import Findings
    from .explaining import Explanation
    from .kinds import VertexAnimation
    from .kinds.baking import BakedTexture
    from .limits import Limits
    from .loading import External
    from .models.arrays import Differences
    from .models.look import Alpha, Image
    from .render import Camera
    from .render.posing import ClipLike
    from .view import LiveView, Page

__all__ = ["Model", "to_row_vectors"]

#: Frames per second at which `bounds` looks at a clip, and how many vertices it holds at once.
_BOUNDS_FPS = 30.0
_BOUNDS_LOOKS = 1000  # at a clip, however long
_BOUNDS_VERTICES = 2_000_000
_BOUNDS_POINTS = 200_000_000  # posed for one clip, a second or so; but it is looked at four times at least


class Model(Shown, _core.Model):
    """A model: immutable, one block of memory that every array of it shows and keeps alive.

    `globals`, `palette`, `joint_positions` and `deform` are C methods of the base type.
    """

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"models never change: {name!r} cannot be set")

    # ---- assets -----------------------------------------------------------------------------------

    @cached_property
    def skeleton(self) -> Skeleton:
        """The joints and their rest pose."""
        return Skeleton(self._block)

    @cached_property
    def mesh(self) -> Mesh:
        """All vertices and faces of the scene."""
        return Mesh(self._block)

    @cached_property
    def skin(self) -> Skin:
        """The palette's slots."""
        return Skin(self._block)

    @property
    def clips(self) -> Clips:
        """The animation clips, by number or name."""
        return Clips(self, self._cache)

    @cached_property
    def _cache(self) -> weakref.WeakValueDictionary[int, Clip]:
        """Clips that somebody holds: the same one comes each time, and there is no circle with the model."""
        return weakref.WeakValueDictionary()

    @cached_property
    def materials(self) -> tuple[Material, ...]:
        """What the submeshes look like."""
        return read_materials(self._block)

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The morph targets, in the order of `pose.morph_weights`."""
        return read_targets(self._block)

    @cached_property
    def report(self) -> Report:
        """What was repaired and what was lost on the way into this model."""
        return Report.read(self._blocks)

    @property
    def _blocks(self) -> list[_core.Block]:
        """The model's block and those of added clips, each once."""
        blocks = {id(block): block for block in (self._block, *(entry[1] for entry in self._clip_entries))}
        return list(blocks.values())

    @property
    def up(self) -> str:
        """The axis that is up in scene space, such as "+Y"."""
        return _block.AXES[_block.info(self._block)["up"]] or "+Y"

    @property
    def unit_meters(self) -> float | None:
        """Meters in one unit of scene space, or None where the file does not say."""
        return float(_block.info(self._block)["unit_meters"]) or None

    # ---- poses ------------------------------------------------------------------------------------

    def pose(
        self,
        clip: Clip | str | int | None = None,
        time: npt.ArrayLike = 0.0,
        *,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: npt.ArrayLike | None = None,
    ) -> Pose:
        """The pose of `clip` at `time` (...), as arrays that the caller may change.

        clip is a Clip of this model, a name, an index, or None for the rest pose; time is in seconds, of
        any shape. loop says what happens outside the clip: "wrap" (a time within 1e-4 tick of the duration
        is its end; 2, 3, ... durations are its start), "clamp", "pingpong" or "once". Translation and scale
        go along straight lines, rotations by "slerp" or "nlerp" along the shorter arc; step and cubic keys
        as the file has them. root, (4,4) or (...,4,4), is multiplied in front of the root joint's local.

        Raises KeyError (unknown clip), IndexError, ValueError (time not finite, a clip of another model) and
        TypeError.
        """
        return Pose(self, *self._sample(clip, time, loop, rotation), root)

    def bounds(self, clip: Clip | str | int | None = None) -> Array:
        """(2,3) float64: lowest and highest corner of the skinned mesh, or of the joints without one.

        Over the whole of `clip`, looked at 30 times a second, but at most a thousand times, and fewer where
        that would be more than 200 million vertices; of the rest pose where clip is None.
        """
        count = max(len(self.mesh.positions), len(self.skeleton), 1)
        times = np.zeros(1)
        if clip is not None:
            duration = self.clips[clip].duration if not isinstance(clip, Clip) else clip.duration
            most = min(_BOUNDS_LOOKS, max(_BOUNDS_POINTS // count, 4))
            looks = max(math.ceil(min(duration * _BOUNDS_FPS, most)), 1)
            times = np.linspace(0.0, duration, looks + 1)
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        step = max(1, _BOUNDS_VERTICES // count)
        for start in range(0, len(times), step):
            lowest, highest = corners(self._points(clip, times[start : start + step]).reshape(-1, 3))
            low, high = np.minimum(low, lowest), np.maximum(high, highest)
        return np.stack([low, high])

    def _points(self, clip: Clip | str | int | None, times: Array) -> Floats:
        if not len(self.mesh.positions):
            return self.joint_positions(clip, times, loop="clamp")
        return self.deform(self.pose(clip, times, loop="clamp"), normals=False)[0]

    @cached_property
    def _is_rigid(self) -> bool:
        """Whether there are vertices, and each follows one joint by a slot with the identity."""
        mesh, identity = self.mesh, np.eye(4, dtype=np.float32)
        single = len(mesh.positions) > 0 and not mesh.weights[:, 1:].any()
        return bool(single and (self.skin.inverse_bind == identity).all())

    def bake_vertices(self, clip: Clip | str | int, fps: float) -> VertexAnimation:
        """The clip as full frames of vertices, of at most 4 GiB; see skinpy.kinds.bake_vertices."""
        from .kinds import bake_vertices

        return bake_vertices(self, clip, fps)

    def bake_texture(
        self,
        clips: Clip | str | int | Sequence[Clip | str | int] | None = None,
        fps: float = 30.0,
        *,
        dtype: Literal["float32", "float16"] = "float32",
        rotation: Rotation = "slerp",
        limit: int = 16384,
    ) -> BakedTexture:
        """The palettes of clips as a texture, from which a vertex shader poses a crowd: docs/crowds.md.

        clips is a Clip, a name or a number, or a sequence of them; None is all. Each is sampled at 0,
        1 / fps, 2 / fps, ... seconds and at its end. dtype "float16" takes half the memory; `error` of the
        result says what that, and the straight lines between frames, cost. limit is the largest side of the
        texture, texels: frames that it has no rows for stand in further columns.

        Raises KeyError, IndexError, TypeError, and ValueError: no clips or no mesh, an fps that is not
        positive, frames that do not fit, a number that float16 cannot hold, a clip of another model.
        """
        from .kinds.baking import bake_texture

        return bake_texture(self, clips, fps, dtype=dtype, rotation=rotation, limit=limit)

    def check(self, *, joints: int | None = None) -> Findings:
        """What is wrong, or odd, in the model: skinpy.check, after the reader has looked at all of it again.

        The reader's rules are those that a file's block has to pass when it is loaded: every length, offset,
        index and order, and that all numbers are finite. joints is how many palette slots the program that
        is to show the model holds.

        Raises LoadError where the model's memory no longer passes, which only a fault from outside could
        bring about; TypeError and ValueError for the argument.
        """
        from .checking import check

        for block in self._blocks:
            _core.Block(block, copy=False)
        return check(self, joints=joints)

    def explain(
        self,
        vertex: SupportsIndex,
        clip: Clip | str | int | None = None,
        time: float = 0.0,
        *,
        loop: Loop = "wrap",
    ) -> Explanation:
        """How `vertex` gets from the file's keys to scene space, number by number: docs/explain.md.

        clip is a Clip of this model, a name, an index, or None for the rest pose; time is in seconds, loop as
        in `pose`. The result prints itself as text, shows itself as HTML in Jupyter, and has all matrices as
        float64 arrays; its end is held against `deform`, the vertex shader (where there is OpenGL) and the
        same chain for row vectors.

        Raises IndexError for a vertex that the mesh does not have and an unknown number of a clip, KeyError
        for an unknown name, TypeError, and ValueError for a time that is not finite, a clip of another model
        and an unknown loop.
        """
        from .explaining import explain

        return explain(self, vertex, clip, time, loop=loop)

    def to_trimesh(
        self, clip: Clip | str | int | None = None, time: float = 0.0, *, loop: Loop = "wrap"
    ) -> Any:
        """A trimesh.Trimesh of the skinned mesh, vertex for vertex, of the rest pose where clip is None.

        With normals, texture coordinates (origin at the bottom, as trimesh has them) and face_attributes
        "submesh" (F,); materials stay here. Arguments are those of `pose`, with one time.

        Needs trimesh: ImportError without it. Raises what `pose` raises.
        """
        from .files.trimesh import posed_mesh

        return posed_mesh(self, clip, time, loop)

    # ---- pictures ---------------------------------------------------------------------------------

    def render(
        self,
        clip: Clip | str | int | None = None,
        time: float = 0.0,
        size: tuple[int, int] = (640, 480),
        *,
        camera: Camera | None = None,
        **options: Any,
    ) -> Array:
        """A lit picture: (h,w,4) uint8, RGBA, row 0 on top. See skinpy.render.render for the options.

        clip None means the first clip, or the rest pose where there is none. Needs the extra "view".
        Depth, normals, joints and more beside it: skinpy.render.Renderer.render.
        """
        from .render import render

        return render(self, clip, time, size, camera=camera, **options)

    def view(self, clip: Clip | VertexAnimation | str | int | None = None, **options: Any) -> LiveView:
        """A live view for a notebook, with menus and sliders; a mouse turns the model: docs/notebook.md.

        clip is what plays, None the first one. See skinpy.view.LiveView for the options and errors. Needs the
        extra "jupyter": ImportError without it.
        """
        from .view import LiveView

        return LiveView(self, clip, **options)

    def show(
        self,
        clip: Clip | VertexAnimation | str | int | None = None,
        *,
        size: tuple[int, int] = (960, 720),
        **options: Any,
    ) -> None:
        """Opens a window to turn and play it in, until it is closed: docs/window.md. H shows the keys.

        clip None means the first clip, or the rest pose where there is none; size is (width, height). options
        are those of skinpy.view.show: floor, overlays, controller, camera, speed, loop, playing, path, ...
        Needs a display and the extra "view": GraphicsError and ImportError without; `render` and `save` of
        clips do without a display. Raises KeyError, IndexError, TypeError and ValueError for wrong arguments,
        before the window opens; what goes wrong in the window is a red line there.
        """
        from .view import show

        show(self, clip, size=size, **options)

    def page(
        self,
        clips: ClipLike | Sequence[ClipLike] = None,
        height: int = 480,
        *,
        fps: float = 30.0,
        **options: Any,
    ) -> Page:
        """A page that plays clips in a browser and shows itself in a notebook, `height` pixels high.

        clips is a Clip, its name or number, a VertexAnimation of this model, or a sequence of them; None is
        all clips, or the rest pose where there are none. See docs/page.md, and skinpy.view.make_page for the
        options and errors. Needs the extra "view", though no OpenGL.
        """
        from .view import make_page

        return make_page(self, clips, height=height, fps=fps, **options)

    def to_html(
        self,
        path: PathLike,
        clips: ClipLike | Sequence[ClipLike] = None,
        *,
        fps: float = 30.0,
        **options: Any,
    ) -> Path:
        """Writes a page that plays clips in any browser, one file, and gives its path: docs/page.md.

        The file (.html or .htm) appears whole or not at all. The other arguments and the errors are those of
        `page`; and ValueError for another suffix, OSError.
        """
        from .view import save_page

        return save_page(path, self, clips, fps=fps, **options)

    # ---- clips of elsewhere -----------------------------------------------------------------------

    def add_clips(
        self,
        source: Clip | Model | PathLike | Sequence[Clip | Model | PathLike],
        *,
        names: Sequence[str] | None = None,
        replace: bool = False,
        isolate: bool = True,
        limits: Limits = USUAL,
        allow_formats: Iterable[str] | None = None,
        external: External = "folder",
    ) -> Model:
        """A new model with more clips; it shares this one's memory.

        source is a Clip, a Model, a path, or a list of them; names, the clips to take from it, by default
        all. Channels find their joints by exact name, then without prefixes ("mixamorig:", "Armature|",
        "a:b:", "Character1_"), then also without regard to case, where that is clear: docs/clips.md. Finds
        by other than the exact name are reported as repaired. Morph targets go by exact name. What finds
        nothing is left out, reported and warned of. Where a clip's name is taken, the stem of the source's
        path goes in front ("run|walk"), or a number behind; with replace=True the old clip goes.

        isolate, limits, allow_formats and external are as in skinpy.load, for each path that is loaded.

        Raises KeyError for unknown names, ValueError where no joint of a clip is found, and what skinpy.load
        raises.
        """
        from .clips.binding import add_entries

        confined = confinement(isolate, limits, allow_formats, external)
        model = Model(self._block, add_entries(self, source, names, replace, confined))
        warn_of_losses(model.report.lost[len(self.report.lost) :], "adding clips")
        return model

    def as_rigid(self) -> Model:
        """A new model of rigid parts: every vertex follows one joint alone, with the same joints and clips.

        A face follows the joint that most of its corners follow most; where all three differ, the one with
        the largest weight. Vertices between two parts are there once for each, so that gaps open where the
        joints bend; vertices without a face are left out. Positions and normals lie in the spaces of the
        joints, as those of a file's rigid parts: a slot is a joint and the identity. Each submesh is cut
        into one per joint, in the order of the joints; a morph target keeps its node.
        """
        from .kinds.rigid import rigid_block

        return Model(rigid_block(self))

    # ---- keeping ----------------------------------------------------------------------------------

    def _joined(self) -> _core.Block:
        """One block with everything, also the clips that came from elsewhere."""
        from .clips.binding import join, merged_reports

        own = _block.texts(self._block, _block.section(self._block, "CLIPS")["name"])
        if [(name, block is self._block) for name, block, _ in self._clip_entries] == [
            (n, True) for n in own
        ]:
            return self._block
        sections = {name: _block.section(self._block, name) for name in self._block.sections}
        pool = _block.TextPool(sections["TEXT"].tobytes() if "TEXT" in sections else b"")
        clips = [Clip(block, index, None, name) for name, block, index in self._clip_entries]
        sections |= join(clips, None, pool)
        sections["REPORT"] = merged_reports(self._blocks, pool)
        sections["TEXT"] = pool.section()
        return _block.pack(sections, int(_block.info(self._block)["influences"]))

    def save(self, path: PathLike) -> None:
        """Writes the model, with textures and all clips, in the format of the path's suffix.

        - .skn: its block, all of it; skinpy.load reads it quickly.
        - .glb: binary glTF 2.0 with nodes, meshes, skins, morph targets, materials and animations;
          docs/saving.md says what glTF cannot hold. Load a model of more than 4 influences with
          max_influences=8.

        The file appears whole or not at all. Raises ValueError for another suffix, and OSError.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix == ".skn":
            data: Any = _block.memory(self._joined())
        elif suffix == ".glb":
            from .files.glb import model_glb

            data = model_glb(self)
        else:
            raise ValueError(f"path ends in {target.suffix!r}; models are saved as '.skn' or '.glb'")
        with replacing(target) as file:
            file.write(data)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (bytes(_block.memory(self._joined())),)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __repr__(self) -> str:
        clips = ", ".join(map(repr, self.clips.names[:6])) + (", ..." if len(self.clips) > 6 else "")
        return (
            f"<Model: {len(self.skeleton)} joints, {len(self.skin)} slots, "
            f"{len(self.mesh.positions)} vertices, "
            f"{len(self.mesh.faces)} faces, {len(self.clips)} clips{': ' + clips if clips else ''}>"
        )

    @cached_property
    def _preview(self) -> bytes | None:
        from .output.preview import preview

        return preview(self, None)

    # ---- models without a file --------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        names: Sequence[str],
        parents: npt.ArrayLike,
        rest: npt.ArrayLike,
        *,
        positions: npt.ArrayLike,
        faces: npt.ArrayLike,
        joints: npt.ArrayLike,
        weights: npt.ArrayLike,
        inverse_bind: npt.ArrayLike | None = None,
        normals: npt.ArrayLike | None = None,
        uvs: npt.ArrayLike | None = None,
        colors: npt.ArrayLike | None = None,
        texture: Image | None = None,
        base_color: npt.ArrayLike | None = None,
        alpha: Alpha = "opaque",
        targets: Mapping[str, Differences] | None = None,
        clips: Sequence[Clip] = (),
    ) -> Model:
        """A model from arrays, for data that has no file.

        names: J strings; parents (J,) int, -1 for a root, parents before children; rest (J,4,4) local rest
        transforms, column vectors. positions (V,3); faces (F,3) int; joints (V,K) int, joints of the
        skeleton, and weights (V,K) >= 0, K from 1 to 8, sorted and made to sum to 1. inverse_bind (J,4,4),
        by default the inverse of each joint's rest global. normals (V,3), by default smooth by position;
        uvs (V,2), origin at the top left. targets: name of a morph target -> (V,3) differences of position,
        or a tuple of those and (V,3) differences of normal. clips are bound by name.

        What the mesh looks like is the product of what is given of three. texture, which needs uvs: pixels
        (h,w,3|4) uint8, sRGB, row 0 on top; bytes of an image file or the path of one, which are kept as they
        are; or a Texture. colors (V,3|4) and base_color (3|4,), linear RGB(A) from 0 to 1, or uint8 as n/255.
        alpha says what opacity below 1 does: nothing ("opaque"), cuts out what is below 0.5 ("mask"), or lets
        shine through ("blend").

        Raises ValueError and TypeError that name the argument; OSError for a file that cannot be read.
        """
        from .models.arrays import model_block
        from .models.look import Look

        look = Look(colors, texture, base_color, alpha)
        block = model_block(
            names, parents, rest, positions, faces, joints, weights, inverse_bind, normals, uvs, targets, look
        )
        model = cls(block)
        for clip in clips:
            if not isinstance(clip, Clip):
                raise TypeError(f"clips holds {clip!r}; expected Clips")
        return model.add_clips(list(clips)) if clips else model


def to_row_vectors(matrices: npt.ArrayLike) -> Array:
    """The same transforms for row vectors, as DirectX has them: `v @ M`, translation in the last row.

    matrices (...,4,4) or (...,3,4) for column vectors; the result is a view with the last two axes swapped.
    A chain turns round with it: palette = inverse_bind @ global, global = local @ global(parent).

    Raises ValueError for another shape.
    """
    # What has axes to swap keeps its type: tensors of other libraries are taken too.
    held: Any = matrices if hasattr(matrices, "swapaxes") else any_array("matrices", matrices)
    if tuple(held.shape[-2:]) not in ((4, 4), (3, 4)):
        raise ValueError(f"matrices has shape {tuple(held.shape)}; expected (..., 4, 4) or (..., 3, 4)")
    swapped: Array = held.swapaxes(-1, -2)
    return swapped


def _unpickle(data: bytes) -> Model:
    return Model(_core.Block(data))
