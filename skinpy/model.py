"""Models: skeleton, mesh, skin, clips and materials of one character, and what can be done with them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, Unpack

import numpy as np
import numpy.typing as npt

from . import _block, _core
from ._arguments import any_array, brief, items_of
from ._confinement import USUAL, confinement
from ._notebook import Shown
from ._text import quoted
from ._types import Array, Loop, PathLike, Rotation
from .assets import Material, Mesh, Report, Skeleton, Skin, Target, read_materials, read_targets
from .clip import Clip
from .clips.sequence import Clips
from .errors import warn_of_losses
from .models.drawn import find_changing
from .models.extras import (
    Extras,
    SceneCamera,
    SceneLight,
    read_cameras,
    read_extras,
    read_lights,
    read_scenes,
    read_variants,
    read_vrm,
)
from .pose import Pose

if TYPE_CHECKING:
    from ._options import ModelViewOptions, PageFileOptions, PageOptions, RenderOptions, ShowOptions
    from .checking import Findings
    from .explaining import Explanation
    from .kinds import VertexAnimation
    from .kinds.baking import BakedTexture
    from .limits import Limits
    from .loading import External, Isolate
    from .models.arrays import Differences
    from .models.look import Alpha, Image
    from .models.pickling import Rig
    from .render import Camera
    from .render.posing import ClipLike
    from .retargeting.humanoid import Found, Humanoid
    from .view import LiveView, Page

__all__ = ["Model", "to_row_vectors"]


class Model(Shown, _core.Model):
    """A character: skeleton, mesh, skin, morph targets, materials and clips.

    `load` makes models from files, and `Model.from_arrays` makes them from arrays. Models never change:
    methods that edit a model return a new one. All arrays of a model are views of one block of memory, which
    they keep alive.

    Examples
    --------
    >>> model = skinpy.character()
    >>> palette = model.palette("walk", 0.25)
    >>> palette.shape
    (24, 4, 4)
    >>> positions, normals = model.deform(palette)
    >>> positions.shape == model.mesh.positions.shape
    True
    """

    # globals, palette, crowd_palette, joint_positions and deform are methods of _core.Model.

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"models never change: {name!r} cannot be set")

    # ---- assets -----------------------------------------------------------------------------------

    @cached_property
    def skeleton(self) -> Skeleton:
        """The joints of the model and their rest pose."""
        return Skeleton(self._block)

    @cached_property
    def mesh(self) -> Mesh:
        """All vertices and faces of the scene."""
        return Mesh(self._block)

    @cached_property
    def skin(self) -> Skin:
        """The slots of the palette."""
        return Skin(self._block)

    @property
    def clips(self) -> Clips:
        """The animation clips, by index or name."""
        return Clips(self, self._cache)

    @cached_property
    def _cache(self) -> weakref.WeakValueDictionary[int, Clip]:
        """Clips that are in use, by their index.

        A clip is the same object each time. The references are weak, as clips hold the model.
        """
        return weakref.WeakValueDictionary()

    @cached_property
    def materials(self) -> tuple[Material, ...]:
        """The materials of the submeshes."""
        return read_materials(self._block)

    @cached_property
    def _extras(self) -> Extras:
        """The data of the file beside geometry and motion."""
        return read_extras(self._block)

    @property
    def scenes(self) -> tuple[str, ...]:
        """Names of the file's scenes, "" for a scene without a name; ``load(scene=)`` chooses a scene.

        Only glTF files have scenes.
        """
        return read_scenes(self._extras)

    @cached_property
    def cameras(self) -> tuple[SceneCamera, ...]:
        """The cameras of the scene, as data: nothing is drawn with them."""
        return read_cameras(self._extras, len(self.skeleton))

    @cached_property
    def lights(self) -> tuple[SceneLight, ...]:
        """The lights of the scene, as data: nothing is drawn with them."""
        return read_lights(self._extras, len(self.skeleton))

    @property
    def variants(self) -> dict[str, tuple[int | None, ...]]:
        """The variants that the file offers: the material of each submesh, by name of the variant.

        A material is an index into `materials`, or None, as in `Submesh.material`. Variants come from the
        glTF extension KHR_materials_variants.
        """
        return read_variants(self._extras, self.mesh.submeshes, len(self.materials))

    @property
    def vrm(self) -> dict[str, Any] | None:
        """The character description of a VRM file, as plain data; None for other files.

        The members are those of the extension VRMC_vrm (or VRM, of VRM 0) as the file has them, and
        "version", 1 (or 0). Other extensions of VRM are beside them by their names, such as
        "VRMC_springBone". VRM refers to nodes by their index in the file; "joint_of_node" has the joint of
        each node, None for nodes outside the scene. "nodes" has the extensions of single nodes, such as
        "VRMC_node_constraint", by the node's index.
        """
        return read_vrm(self._extras)

    @property
    def humanoid(self) -> Humanoid:
        """The joints that are the hips, the left hand and so on of a human figure, by the names of VRM 1.0.

        What a VRM file says counts; in other files, names and structure of the skeleton decide. What is not
        certain is left out and listed in `Humanoid.missing`; a chair has nothing of it.
        docs/retargeting.md says how they are found.
        """
        from .retargeting.humanoid import Humanoid

        return Humanoid._of(self, self._humanoid_found)

    @cached_property
    def _humanoid_found(self) -> Found:
        """What `humanoid` is made of: kept without a reference to the model, so that no cycle holds both."""
        from .retargeting.humanoid import find_humanoid

        return find_humanoid(self)

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The morph targets, in the order of `Pose.morph_weights`."""
        return read_targets(self._block)

    @cached_property
    def report(self) -> Report:
        """What was repaired and what was lost when the model was made."""
        return Report.read(self._blocks)

    @cached_property
    def _changing(self) -> tuple[Array, frozenset[int]]:
        """The submeshes that clips show and hide, and the materials that they animate."""
        return find_changing(self)

    @property
    def _blocks(self) -> list[_core.Block]:
        """The block of the model and the blocks of added clips, each once."""
        blocks = {id(block): block for block in (self._block, *(entry[1] for entry in self._clip_entries))}
        return list(blocks.values())

    @property
    def up(self) -> str:
        """The axis of scene space that points up, such as "+Y"."""
        return _block.AXES[_block.info(self._block)["up"]] or "+Y"

    @property
    def unit_meters(self) -> float | None:
        """The length in meters of one unit of scene space, or None if the file does not say."""
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
        """Return the pose of a clip at one time or at many.

        The arrays of the pose belong to the caller, who may change them. docs/conventions.md explains the
        loop modes.

        Parameters
        ----------
        clip : Clip, str or int, optional
            A clip of this model, its name or its index. Without it the result is the rest pose.
        time : array_like, shape (...), seconds, default 0.0
            Times at which the clip is sampled. Their shape is the leading shape of the pose.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip. "wrap" treats a time within 1e-4 tick of the duration as the end
            of the clip, and 2, 3, ... durations as its start.
        rotation : {"slerp", "nlerp"}, default "slerp"
            How rotations between linear keys are found, always along the shorter arc.
        root : array_like, shape (4, 4) or (..., 4, 4), optional
            A transform that is multiplied in front of the local transform of the root joint.

        Returns
        -------
        Pose
            Translations, rotations, scales and morph weights, each with the leading shape of `time`.

        Raises
        ------
        KeyError
            If the model has no clip of this name. The message has the closest names.
        IndexError
            If the model has no clip of this index.
        ValueError
            If a time is not finite, the clip belongs to another model, a shape is wrong, or an option is
            unknown.
        TypeError
            If an argument has the wrong type.

        Notes
        -----
        Translations and scales between linear keys are on straight lines. Step and cubic keys are played as
        the file has them.

        Examples
        --------
        >>> model = skinpy.character()
        >>> model.pose("walk", [0.0, 0.25]).translation.shape
        (2, 26, 3)
        """
        return Pose(self, *self._sample(clip, time, loop, rotation), root)

    def bounds(self, clip: Clip | str | int | None = None) -> Array:
        """Return the box around the skinned mesh, or around the joints of a model without a mesh.

        Hidden submeshes do not count, unless all of them are hidden.

        Parameters
        ----------
        clip : Clip, str or int, optional
            The box is around all of this clip. Without it the box is around the rest pose.

        Returns
        -------
        (2, 3) float64 ndarray
            The lowest and the highest corner in scene space.

        Raises
        ------
        KeyError
            If the model has no clip of this name. The message has the closest names.
        IndexError
            If the model has no clip of this index.
        ValueError
            If the model came out of a pickle without its vertices.

        Notes
        -----
        A clip is sampled 30 times a second, but at most 1000 times, and less often if that would take more
        than 200 million vertices.
        """
        from .models.bounds import box
        from .models.pickling import need_vertices

        need_vertices(self, "bounds")
        return box(self, clip)

    @cached_property
    def _is_rigid(self) -> bool:
        """Whether there are vertices, and each follows one slot whose inverse bind matrix is the identity."""
        mesh, identity = self.mesh, np.eye(4, dtype=np.float32)
        if self._lacks_vertices:  # a rig, which has one influence if the vertices have
            single = mesh.slots.shape[1] == 1
        else:
            single = len(mesh.positions) > 0 and not mesh.weights[:, 1:].any()
        return bool(single and (self.skin.inverse_bind == identity).all())

    def bake_vertices(self, clip: Clip | str | int, fps: float) -> VertexAnimation:
        """Store a clip as frames of vertices, as `skinpy.kinds.bake_vertices` does.

        Parameters
        ----------
        clip : Clip, str or int
            A clip of this model, its name or its index.
        fps : float, frames per second
            The rate at which the clip is sampled.

        Returns
        -------
        VertexAnimation
            The animation, of at most 4 GiB.

        Raises
        ------
        KeyError
            If the model has no clip of this name. The message has the closest names.
        IndexError
            If the model has no clip of this index.
        ValueError
            If `fps` is not positive and finite, or the frames would take more than 4 GiB.
        TypeError
            If an argument has the wrong type.
        """
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
        """Store the palettes of clips in a texture, from which a vertex shader poses a crowd.

        Each clip is sampled at 0, 1 / fps, 2 / fps, ... seconds and at its end. docs/crowds.md has examples.

        Parameters
        ----------
        clips : Clip, str, int or sequence of these, optional
            Clips of this model, their names or their indices. By default all clips.
        fps : float, frames per second, default 30.0
            The rate at which the clips are sampled.
        dtype : {"float32", "float16"}, default "float32"
            The numbers of the texture. "float16" takes half the memory; `BakedTexture.error` measures what
            that costs.
        rotation : {"slerp", "nlerp"}, default "slerp"
            How rotations between linear keys are found when the clips are sampled.
        limit : int, texels, default 16384
            The largest side of the texture. Frames for which it has no rows are in further columns.

        Returns
        -------
        BakedTexture
            The texture.

        Raises
        ------
        KeyError
            If the model has no clip of a name. The message has the closest names.
        IndexError
            If the model has no clip of an index.
        ValueError
            If there are no clips or no mesh, `fps` is not positive and finite, the frames do not fit,
            float16 cannot hold a number, or a clip belongs to another model.
        TypeError
            If an argument has the wrong type.
        """
        from .kinds.texture_baking import bake_texture

        return bake_texture(self, clips, fps, dtype=dtype, rotation=rotation, limit=limit)

    def check(self, *, joints: int | None = None) -> Findings:
        """Return what is wrong or unusual in the model, as `skinpy.check` does.

        First the memory of the model is checked again by the rules for blocks that are loaded: every length,
        offset, index and order, and that all numbers are finite.

        Parameters
        ----------
        joints : int, optional
            The number of palette slots that the program that shows the model can hold.

        Returns
        -------
        Findings
            The findings, errors first.

        Raises
        ------
        LoadError
            If the memory breaks the rules. Only a fault outside of skinpy can cause that.
        ValueError
            If `joints` is not positive.
        TypeError
            If `joints` is not an int.
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
        """Explain, number by number, how one vertex gets from the keys of the file to scene space.

        docs/explain.md has an example.

        Parameters
        ----------
        vertex : int
            Index of the vertex.
        clip : Clip, str or int, optional
            A clip of this model, its name or its index. Without it the rest pose is explained.
        time : float, seconds, default 0.0
            The time in the clip.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip; see `pose`.

        Returns
        -------
        skinpy.explaining.Explanation
            All matrices as float64 arrays. The explanation prints itself as text and shows itself as HTML in
            notebooks. It compares its result with `deform`, with the vertex shader (if there is OpenGL), and
            with the same product for row vectors.

        Raises
        ------
        KeyError
            If the model has no clip of this name. The message has the closest names.
        IndexError
            If the mesh has no such vertex, or the model has no clip of this index.
        ValueError
            If `time` is not finite, the clip belongs to another model, or `loop` is unknown.
        TypeError
            If an argument has the wrong type.
        """
        from .explaining import explain

        return explain(self, vertex, clip, time, loop=loop)

    def to_trimesh(
        self, clip: Clip | str | int | None = None, time: float = 0.0, *, loop: Loop = "wrap"
    ) -> Any:
        """Return the skinned mesh as an object of the package trimesh.

        Parameters
        ----------
        clip : Clip, str or int, optional
            A clip of this model, its name or its index. Without it the mesh is in the rest pose.
        time : float, seconds, default 0.0
            The time in the clip.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip; see `pose`.

        Returns
        -------
        trimesh.Trimesh
            The mesh, vertex for vertex, with normals and texture coordinates (origin at the bottom left, as
            in trimesh). ``face_attributes["submesh"]`` has the submesh of each face. Materials are not
            included.

        Raises
        ------
        ImportError
            If trimesh is not installed.
        KeyError
            If the model has no clip of this name. The message has the closest names.
        IndexError
            If the model has no clip of this index.
        ValueError
            If `time` is not finite, the clip belongs to another model, `loop` is unknown, or the model has no
            vertices.
        TypeError
            If an argument has the wrong type.
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
        **options: Unpack[RenderOptions],
    ) -> Array:
        """Draw a lit picture of the model, as `skinpy.render.render` does.

        Drawing needs the extra "view". `skinpy.render.Renderer.render` also returns depth, normals, joints
        and more.

        Parameters
        ----------
        clip : Clip, str or int, optional
            A clip of this model, its name or its index. By default it is the first clip, or the rest pose of
            a model without clips.
        time : float, seconds, default 0.0
            The time in the clip.
        size : tuple of 2 int, pixels, default (640, 480)
            Width and height.
        camera : Camera, optional
            The camera. By default the model fits into the picture.
        **options
            Further options of `skinpy.render.render`.

        Returns
        -------
        (h, w, 4) uint8 ndarray
            RGBA; row 0 is the top row.

        Raises
        ------
        KeyError
            If the model has no clip of this name. The message has the closest names.
        IndexError
            If the model has no clip of this index.
        ValueError
            If a number is out of range or not finite, or an option is unknown.
        TypeError
            If an argument has the wrong type.
        ImportError
            If a package that is needed is not installed.
        GraphicsError
            If there is no OpenGL.
        """
        from .render import render

        return render(self, clip, time, size, camera=camera, **options)

    def view(
        self, clip: Clip | VertexAnimation | str | int | None = None, **options: Unpack[ModelViewOptions]
    ) -> LiveView:
        """Make a live view for a notebook, with menus and sliders.

        The mouse moves the camera. The view needs the extra "jupyter". docs/notebook.md has examples.

        Parameters
        ----------
        clip : Clip, VertexAnimation, str or int, optional
            What is played. By default it is the first clip.
        **options
            Options of `skinpy.view.LiveView`.

        Returns
        -------
        skinpy.view.LiveView
            The view, which shows itself in a notebook.

        Raises
        ------
        KeyError
            If the model has no clip of this name. The message has the closest names.
        IndexError
            If the model has no clip of this index.
        ValueError
            If an option is out of range.
        TypeError
            If an argument has the wrong type or an option is unknown.
        ImportError
            If a package that is needed is not installed.
        """
        from .view import LiveView

        return LiveView(self, clip, **options)

    def show(
        self,
        clip: Clip | VertexAnimation | str | int | None = None,
        *,
        size: tuple[int, int] = (960, 720),
        **options: Unpack[ShowOptions],
    ) -> None:
        """Open a window that plays the model, and wait until it is closed.

        The key H shows all keys. The window needs a display and the extra "view"; `render` and `Clip.save`
        work without a display. Faults that occur later are shown in red in the window. docs/window.md has
        examples.

        Parameters
        ----------
        clip : Clip, VertexAnimation, str or int, optional
            What is played. By default it is the first clip, or the rest pose of a model without clips.
        size : tuple of 2 int, pixels, default (960, 720)
            Width and height of the window.
        **options
            Options of `skinpy.view.show`: floor, overlays, controller, camera, speed, loop, playing, path and
            more.

        Raises
        ------
        KeyError
            If the model has no clip of this name. The message has the closest names.
        IndexError
            If the model has no clip of this index.
        ValueError
            If an option is out of range.
        TypeError
            If an argument has the wrong type or an option is unknown.
        ImportError
            If a package that is needed is not installed.
        GraphicsError
            If there is no display or no OpenGL.
        """
        from .view import show

        show(self, clip, size=size, **options)

    def page(
        self,
        clips: ClipLike | Sequence[ClipLike] = None,
        height: int = 480,
        *,
        fps: float = 30.0,
        **options: Unpack[PageOptions],
    ) -> Page:
        """Make a page that plays clips in a browser and shows itself in notebooks.

        The browser draws the page with WebGL 2 and needs neither a network nor a kernel. To make the page,
        skinpy needs the extra "view" but no OpenGL. docs/page.md has examples.

        Parameters
        ----------
        clips : Clip, VertexAnimation, str, int or sequence of these, optional
            What the page can play. By default it is all clips, or the rest pose of a model without clips.
        height : int, pixels, default 480
            Height of the page in a notebook.
        fps : float, frames per second, default 30.0
            The rate at which the motion is stored in the page.
        **options
            Options of `skinpy.view.make_page`: background, floor, uv, overlays, time, title, texture_size and
            limit.

        Returns
        -------
        skinpy.view.Page
            The page.

        Raises
        ------
        KeyError
            If the model has no clip of a name. The message has the closest names.
        IndexError
            If the model has no clip of an index.
        ValueError
            If a number is out of range, or the page would exceed its limit.
        TypeError
            If an argument has the wrong type or an option is unknown.
        ImportError
            If a package that is needed is not installed.
        """
        from .view import make_page

        return make_page(self, clips, height=height, fps=fps, **options)

    def to_html(
        self,
        path: PathLike,
        clips: ClipLike | Sequence[ClipLike] = None,
        *,
        fps: float = 30.0,
        **options: Unpack[PageFileOptions],
    ) -> Path:
        """Write a page that plays clips in any browser, as one file.

        The file appears whole or not at all. docs/page.md has examples.

        Parameters
        ----------
        path : str or path-like
            The file to write, .html or .htm.
        clips : Clip, VertexAnimation, str, int or sequence of these, optional
            What the page can play. By default it is all clips, or the rest pose of a model without clips.
        fps : float, frames per second, default 30.0
            The rate at which the motion is stored in the page.
        **options
            Options of `page`.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        KeyError
            If the model has no clip of a name. The message has the closest names.
        IndexError
            If the model has no clip of an index.
        ValueError
            If the file extension is another one, a number is out of range, or the page would exceed its
            limit.
        TypeError
            If an argument has the wrong type or an option is unknown.
        ImportError
            If a package that is needed is not installed.
        OSError
            If the file cannot be written.
        """
        from .view import save_page

        return save_page(path, self, clips, fps=fps, **options)

    # ---- new models from this one -----------------------------------------------------------------

    def add_clips(
        self,
        source: Clip | Model | PathLike | Sequence[Clip | Model | PathLike],
        *,
        names: Sequence[str] | None = None,
        replace: bool = False,
        scale: Literal["auto"] | float | None = None,
        isolate: Isolate = True,
        limits: Limits = USUAL,
        allow_formats: Iterable[str] | None = None,
        external: External = "folder",
    ) -> Model:
        """Return a model with more clips, which shares the memory of this one.

        Channels of the clips are matched to joints by exact name, then by name without a prefix
        (``mixamorig:``, ``Armature|``, ``a:b:``, ``Character1_``), then also without regard to case, if that
        is unambiguous. `Model.report` has matches that are not exact as repaired. Morph targets are matched
        by exact name. A channel without a match is left out, and reported as lost. docs/clips.md has
        examples.

        Parameters
        ----------
        source : Clip, Model, str, path-like or sequence of these
            Where the clips come from. Paths are loaded.
        names : sequence of str, optional
            Names of the clips to add. By default all clips of the sources are added.
        replace : bool, default False
            Whether an added clip replaces a clip of the same name. Otherwise the added clip is renamed: the
            stem of its path goes in front ("run|walk"), or a number is appended.
        scale : {"auto"} or float, optional
            What the translations of the clips are multiplied by. "auto" finds it for clips in another unit:
            from the lengths of the joints that both skeletons have, or else from the units that the files
            state. By default nothing is multiplied, and a clip in another unit causes a warning.
        isolate : bool or "strict", default True
            Whether each path is loaded in a process of its own; see `load`.
        limits : Limits, optional
            How much each path may take; see `load`.
        allow_formats : iterable of str, optional
            Formats that may be loaded; see `load`.
        external : {"folder", "none", "any"}, default "folder"
            Where the files that a path refers to may be; see `load`.

        Returns
        -------
        Model
            The new model.

        Raises
        ------
        KeyError
            If the sources have no clip of a name. The message has the closest names.
        ValueError
            If no joint of a clip is matched, or `scale` is another word or not a positive number.
        TypeError
            If an argument has the wrong type.
        LoadError
            If a path cannot be loaded; see `load`.
        OSError
            If a path cannot be read.

        Warns
        -----
        SkinpyWarning
            If something was lost, or if clips are in another unit than the model and `scale` is not given.
        """
        from .clips.binding import add_entries

        confined = confinement(isolate, limits, allow_formats, external)
        model = Model(self._block, add_entries(self, source, names, replace, scale, confined))
        warn_of_losses(model.report.lost[len(self.report.lost) :], "adding clips")
        return model

    def as_rigid(self) -> Model:
        """Return the model cut into rigid pieces: every vertex follows a single joint.

        The new model has the same joints and clips. Gaps open between the pieces where joints bend.

        Returns
        -------
        Model
            The new model.

        Raises
        ------
        ValueError
            If the model came out of a pickle without its vertices.

        Notes
        -----
        A face follows the joint that most of its corners follow most; if all three differ, the one with the
        largest weight. Vertices between two pieces are there once for each, and vertices without a face are
        left out. Positions and normals are in the spaces of the joints, as in a file of rigid pieces, so the
        inverse bind matrix of every slot is the identity. Each submesh is cut into one for each joint, in the
        order of the joints. Morph targets keep their nodes.
        """
        from .kinds.rigid import rigid_block

        return Model(rigid_block(self))

    # ---- keeping ----------------------------------------------------------------------------------

    def _joined(self) -> _core.Block:
        """One block with all of the model, including clips that live in blocks of their own."""
        from .models.saving import joined_block

        return joined_block(self)

    def save(self, path: PathLike, *, unit_meters: float | None = None) -> None:
        """Write the model with its textures and clips; the file extension selects the format.

        The file appears whole or not at all. A .glb is in meters, with +Y up: where `Model.unit_meters` is
        another length, all lengths are scaled, and where `Model.up` is another axis, the roots are rotated. A
        model whose unit is not known is written as it is, unless `unit_meters` is given.

        Parameters
        ----------
        path : str or path-like
            The file to write. .skn is the block of the model, which has everything and is quick to load. .glb
            is binary glTF 2.0 with nodes, meshes, skins, morph targets, materials and animations;
            docs/saving.md lists what glTF cannot hold. Load a .glb with more than 4 influences with
            ``max_influences=8``.
        unit_meters : float, meters, optional
            The length of one unit of the model, such as 0.01 for a model in centimeters. By default it is
            `Model.unit_meters`.

        Raises
        ------
        ValueError
            If the file extension is another one, `unit_meters` is not a positive number, or a length in
            meters is beyond float32.
        TypeError
            If `unit_meters` is not a number.
        OSError
            If the file cannot be written.
        """
        from .models.saving import save

        save(self, path, unit_meters)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        from .models.pickling import reduced_model

        return reduced_model(self, int(protocol))

    @property
    def _rig(self) -> Rig:
        """What pickles of the model, and of what belongs to it, refer to: always the same object."""
        from .models.pickling import Rig

        rig: Rig = vars(self).setdefault("_rig", Rig(self))
        return rig

    @property
    def _lacks_vertices(self) -> bool:
        """Whether this is the rig of a model, from a pickle that does not have the model itself."""
        return len(self.skin) > 0 and not len(self.mesh.positions)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __repr__(self) -> str:
        clips = ", ".join(map(quoted, self.clips.names[:6])) + (", ..." if len(self.clips) > 6 else "")
        return (
            f"<Model: {len(self.skeleton)} joints, {len(self.skin)} slots, "
            f"{len(self.mesh.positions)} vertices, "
            f"{len(self.mesh.faces)} faces, {len(self.clips)} clips{': ' + clips if clips else ''}>"
        )

    @cached_property
    def _preview(self) -> bytes | None:
        """The animated PNG that notebooks show."""
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
        """Make a model from arrays, for data that is not in a file.

        The model has J joints, V vertices with K influences each, and F faces. Its color is the product of
        `texture`, `colors` and `base_color`, as far as they are given.

        Parameters
        ----------
        names : sequence of str
            Names of the J joints.
        parents : array_like of int, shape (J,)
            Index of the parent of each joint, -1 for a root. Parents come before their children.
        rest : array_like, shape (J, 4, 4)
            Transform from each joint to its parent at rest, for column vectors.
        positions : array_like, shape (V, 3)
            Positions of the vertices at bind.
        faces : array_like of int, shape (F, 3)
            The vertices of each triangle.
        joints : array_like of int, shape (V, K)
            The joints that each vertex follows, with K from 1 to 8.
        weights : array_like, shape (V, K)
            How much each vertex follows its joints, 0 or more. Weights are sorted and scaled to a sum of 1.
        inverse_bind : array_like, shape (J, 4, 4), optional
            Transform from mesh space at bind to the space of each joint. By default it is the inverse of the
            joint's global rest transform.
        normals : array_like, shape (V, 3), optional
            Normals. By default they are smooth across vertices of equal position.
        uvs : array_like, shape (V, 2), optional
            Texture coordinates, with the origin at the top left of the image.
        colors : array_like, shape (V, 3) or (V, 4), optional
            Colors of the vertices: linear RGB or RGBA from 0 to 1, or uint8 as n / 255.
        texture : array_like, shape (h, w, 3) or (h, w, 4), bytes, str, path-like or Texture, optional
            An image, which needs `uvs`: uint8 sRGB pixels from the top row down; the bytes or the path of an
            image file, which is kept as it is; or a texture of another model.
        base_color : array_like, shape (3,) or (4,), optional
            The color of the material, in the same numbers as `colors`.
        alpha : {"opaque", "mask", "blend"}, default "opaque"
            What an opacity below 1 does: nothing, cut out what is below 0.5, or let the background through.
        targets : mapping of str to array_like, optional
            Morph targets by name: differences of the positions (V,3), or a tuple of these and of differences
            of the normals (V,3).
        clips : sequence of Clip, default ()
            Clips, which are bound by the names of joints.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        ValueError
            If a shape is wrong, or a number is not finite or out of range. The message names the argument.
        TypeError
            If an argument has the wrong type. The message names the argument.
        OSError
            If the file of the texture cannot be read.

        Examples
        --------
        >>> triangle = skinpy.Model.from_arrays(
        ...     ["root"], [-1], [np.eye(4)],
        ...     positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2]],
        ...     joints=[[0], [0], [0]], weights=[[1], [1], [1]],
        ... )
        >>> triangle.mesh.normals[0]
        array([0., 0., 1.], dtype=float32)
        """
        from .models.arrays import model_block
        from .models.look import Look

        look = Look(colors, texture, base_color, alpha)
        block = model_block(
            names, parents, rest, positions, faces, joints, weights, inverse_bind, normals, uvs, targets, look
        )
        model = cls(block)
        added = items_of("clips", clips, "a sequence of Clips")
        for clip in added:
            if not isinstance(clip, Clip):
                raise TypeError(f"clips holds {brief(clip)}; expected Clips")
        return model.add_clips(added) if added else model


def to_row_vectors(matrices: npt.ArrayLike) -> Array:
    """Return matrices for row vectors, ``v @ M``, with the translation in the last row, as in DirectX.

    The order of products is reversed for row vectors: ``palette = inverse_bind @ global`` and
    ``global = local @ global(parent)``.

    Parameters
    ----------
    matrices : array_like, shape (..., 4, 4) or (..., 3, 4)
        Matrices for column vectors. Tensors of other libraries that have ``swapaxes`` are taken too.

    Returns
    -------
    (..., 4, 4) or (..., 4, 3) ndarray
        A view with the last two axes swapped.

    Raises
    ------
    ValueError
        If the shape is another one.

    Examples
    --------
    >>> palette = skinpy.character().palette("walk", 0.25)
    >>> rows = skinpy.to_row_vectors(palette)
    >>> bool((rows[:, 3, :3] == palette[:, :3, 3]).all())
    True
    """
    # A value that has swapaxes keeps its type, so tensors of other libraries stay tensors.
    held: Any = matrices if hasattr(matrices, "swapaxes") else any_array("matrices", matrices)
    if tuple(held.shape[-2:]) not in ((4, 4), (3, 4)):
        raise ValueError(f"matrices has shape {tuple(held.shape)}; expected (..., 4, 4) or (..., 3, 4)")
    swapped: Array = held.swapaxes(-1, -2)
    return swapped
