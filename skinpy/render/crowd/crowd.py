"""Crowds: thousands of instances of one model in one picture, drawn by one call per material."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy._arguments import floats
from skinpy.clip import Clip
from skinpy.kinds.baking import BakedTexture

from ..._arguments import any_array
from ..arguments import check_samples, check_size, checked_picture
from ..camera import Camera, Framing, up_vector
from ..color import parse_color
from ..gpu import context as gl
from ..gpu.closing import Closing
from ..gpu.target import Target
from ..gpu.uploads import table_limits
from ..posing import Poser
from ..scene.floor import Floor, FloorPlane, FloorScene, chosen_floor
from ..scene.geometry import geometry
from ..scene.ground import Ground
from ..scene.texturing import PLAIN
from ..scene.view import View
from .posing import CrowdMoment, CrowdPoser
from .scene import CrowdScene

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation
    from skinpy.model import Model

T = TypeVar("T")

_ELEVATION = 25.0  # degrees: the camera looks down on a crowd, so that instances behind others are seen


class _Resources(NamedTuple):
    scene: CrowdScene
    target: Target
    floor: FloorScene | None


class Crowd(Closing[_Resources]):
    """Draws many instances of one model offscreen, with one draw call for each material.

    Without `baked` each frame computes the palettes of all instances (`Model.crowd_palette`) and sends them
    in one write: 48 bytes per instance and slot. This allows any clips, blends and palettes of your own.
    With `baked` the vertex shader poses each instance from a texture, and a frame sends 16 bytes per
    instance. docs/crowds.md compares the two.

    Any thread may call it: drawing happens on the graphics thread of the process. `close`, the end of a
    `with` block and the end of the object free what it owns on the GPU.

    Parameters
    ----------
    model : Model
        The model; it must have a mesh.
    placements : array_like, shape (N, 3, 4) or (N, 4, 4)
        Where each instance stands: affine matrices from scene space of the model to scene space of the
        picture, for column vectors. They go to the GPU once. Blended faces are drawn in the order of the
        instances: list the farthest first.
    baked : BakedTexture, optional
        A texture that `Model.bake_texture` made of this model.
    clips : sequence of Clip, str or int, optional
        The clips that `clip_index` counts in. Without it all clips of the model, or those of `baked`,
        beside which it is not allowed.
    size : (int, int), default (640, 480)
        Width and height of the pictures in pixels.
    samples : int, default 4
        Samples per pixel, which smooth the edges, as in `Renderer`.
    background : str or sequence of float, optional
        A color, as in `Renderer`. Without it the background is transparent.
    floor : Floor or bool, optional
        A floor under the crowd with the shadows of the instances; True is a default `Floor`. It does not
        move.
    morph_weights : array_like, shape (M,), optional
        Weights of the morph targets of all instances. Without them, those of the file.

    Raises
    ------
    ValueError
        If an argument has a wrong value, the model has no mesh, or the texture was baked from another
        model.
    TypeError
        If an argument has the wrong type.
    KeyError
        If the model has no clip of a name in `clips`.
    IndexError
        If the model has no clip of an index in `clips`.
    GraphicsError
        If there is no OpenGL 3.3, or the palettes or the baked texture are larger than its textures.
    ShaderError
        If the driver refuses a shader.
    ImportError
        If the model has encoded textures and Pillow is not installed.

    Examples
    --------
    >>> model = skinpy.character()
    >>> with skinpy.render.Crowd(model, skinpy.render.grid(model, 9), size=(160, 120)) as crowd:
    ...     crowd.frame(0, np.linspace(0, 1, 9)).shape
    (120, 160, 4)
    """

    _noun = "Crowd"

    def __init__(
        self,
        model: Model,
        placements: ArrayLike,
        *,
        baked: BakedTexture | None = None,
        clips: Sequence[Clip | str | int] | None = None,
        size: tuple[int, int] = (640, 480),
        samples: int = 4,
        background: str | Sequence[float] | None = None,
        floor: Floor | bool | None = None,
        morph_weights: ArrayLike | None = None,
    ) -> None:
        self._poser = Poser(model)
        if not self._poser.has_mesh:
            raise ValueError("model has no mesh; a crowd of it has nothing to show")
        self._placements = _checked_placements(placements)
        self._crowd_poser = CrowdPoser(model, clips, baked, len(self))
        self._size = check_size(size)
        self._background = (0.0,) * 4 if background is None else parse_color("background", background)
        self._up = up_vector(model.up)
        chosen = chosen_floor(floor)
        self._ground = None if chosen is None else Ground(self._poser, chosen)
        self._lock = threading.Lock()  # each frame uses the same memory again
        weights = self._poser.morph_weights(morph_weights)
        self._source = self._crowd_poser.make_source(gl.call(table_limits)[0])
        self._own(self._upload(check_samples(samples), chosen, weights))

    def __len__(self) -> int:
        """Return N, the number of instances."""
        return len(self._placements)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pictures in pixels."""
        return self._size

    @property
    def samples(self) -> int:
        """Samples per pixel in use; 0 is none."""
        return self._resources().target.samples

    @property
    def clips(self) -> tuple[str, ...]:
        """Names of the clips that `clip_index` counts in."""
        return tuple(clip.name for clip in self._crowd_poser.clips)

    @property
    def uploaded_bytes(self) -> int:
        """Bytes sent into buffers and textures on the GPU for this crowd so far.

        The mesh, its textures, the placements (48 bytes each), the floor and a baked texture are sent once.
        A frame adds 16 bytes per instance with a baked texture. Without one it adds 48 bytes per instance
        and slot, rounded up to whole rows of 256 slots (of 4,096 for the largest crowds). Uniforms are not
        counted.
        """
        resources = self._resources()
        floor = 0 if resources.floor is None else resources.floor.uploads.total
        return resources.scene.uploads.total + floor

    def place(self, placements: ArrayLike) -> None:
        """Move the instances: send other placements to the GPU.

        Parameters
        ----------
        placements : array_like, shape (N, 3, 4) or (N, 4, 4)
            A placement for each instance, as in the constructor.

        Raises
        ------
        ValueError
            If the number of instances or the shape is another one.
        TypeError
            If the placements are not numeric.
        GraphicsError
            If the crowd is closed.
        """
        resources = self._resources()
        moved = _checked_placements(placements)
        if len(moved) != len(self):
            raise ValueError(f"placements has {len(moved)} instances; the crowd has {len(self)}")
        with self._lock:
            gl.call(lambda context: resources.scene.place(moved), of=resources.target.context)
            self._placements = moved

    def camera(
        self,
        *,
        azimuth: float = 30.0,
        elevation: float = _ELEVATION,
        fov: float = 30.0,
        margin: float = 0.06,
    ) -> Camera:
        """Return the nearest camera that has all instances in the picture, whichever clips they play.

        Parameters
        ----------
        azimuth : float, degrees, default 30.0
            How far the eye moves around the crowd from its front to its left.
        elevation : float, degrees, default 25.0
            How far the eye moves upwards, -90 to 90.
        fov : float, degrees, default 30.0
            The vertical angle of the picture, 1 to 170.
        margin : float, default 0.06
            Fraction of the picture to leave free at each side, 0 to 0.4.

        Returns
        -------
        Camera
            The camera.

        Raises
        ------
        ValueError
            If an angle or the margin is out of range.
        """
        framing = Framing(self._poser.model.up, azimuth, elevation, fov, self._aspect, margin)
        return framing.camera(self._corners())

    def frame(
        self,
        clip_index: ArrayLike = 0,
        time: ArrayLike = 0.0,
        *,
        weights: ArrayLike | None = None,
        palettes: NDArray[np.float32] | None = None,
        camera: Camera | None = None,
        loop: Loop = "wrap",
        rotation: Rotation | None = None,
        out: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.uint8]:
        """Draw one picture.

        A model without clips is drawn at rest.

        Parameters
        ----------
        clip_index : array_like, shape (), (N,) or (N, K), default 0
            The clip of each instance, an index into `clips`, or one for all. Without a baked texture K up to
            4 clips may be blended; (1, K) is the same for all instances.
        time : array_like, shape (), (N,) or (N, K), seconds, default 0.0
            The time in each clip.
        weights : array_like, shape (N, K) or (1, K), optional
            Weights of the clips that are blended, as in `Model.crowd_palette`.
        palettes : (N, S, 3, 4) or (N, S, 4, 4) ndarray, optional
            Palettes in place of clips, times and weights; not with a baked texture.
        camera : Camera, optional
            The camera. Without it, that of `Crowd.camera`.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clips.
        rotation : {"slerp", "nlerp"}, optional
            How rotations are interpolated between linear keys; "slerp" if not given. A baked texture is
            sampled already and takes none.
        out : (h, w, 4) uint8 ndarray, optional
            A C-contiguous array that receives the picture.

        Returns
        -------
        (h, w, 4) uint8 ndarray
            The picture: RGBA, row 0 on top, sRGB, straight alpha. It is `out` where that was given.

        Raises
        ------
        ValueError
            If an index has no clip, an array has the wrong shape, a time is not finite, or a baked texture
            cannot do what is asked for.
        TypeError
            If an argument has the wrong type.
        GraphicsError
            If the crowd is closed, or OpenGL reports an error.
        """
        resources = self._resources()
        picture = checked_picture(out, self._size)
        view = View(self.camera() if camera is None else camera, self._aspect, self._up)
        plane = None if self._ground is None else self._ground.under(self._extent(), self._scale)
        background = self._background

        def draw(numbers: NDArray[Any]) -> None:
            _draw(resources, numbers, view, plane, background, picture)

        self._on_gpu(draw, CrowdMoment(clip_index, time, weights, palettes, loop, rotation))
        return picture

    def skinned_vertices(
        self,
        clip_index: ArrayLike = 0,
        time: ArrayLike = 0.0,
        *,
        weights: ArrayLike | None = None,
        palettes: NDArray[np.float32] | None = None,
        loop: Loop = "wrap",
        rotation: Rotation | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the vertices of all instances as the GPU computes them.

        They are the numbers of `Model.deform` for the palette of each instance, moved by its placement, from
        the vertex shader that draws the pictures (by transform feedback).

        Parameters
        ----------
        clip_index : array_like, shape (), (N,) or (N, K), default 0
            The clip of each instance, as in `frame`.
        time : array_like, shape (), (N,) or (N, K), seconds, default 0.0
            The time in each clip.
        weights : array_like, shape (N, K) or (1, K), optional
            Weights of the clips that are blended.
        palettes : (N, S, 3, 4) or (N, S, 4, 4) ndarray, optional
            Palettes in place of clips, times and weights.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clips.
        rotation : {"slerp", "nlerp"}, optional
            How rotations are interpolated between linear keys.

        Returns
        -------
        positions : (N, V, 3) float32 ndarray
            Positions in scene space.
        normals : (N, V, 3) float32 ndarray
            Normals in scene space.

        Raises
        ------
        ValueError
            If an argument has a wrong value, as in `frame`.
        TypeError
            If an argument has the wrong type.
        GraphicsError
            If the crowd is closed, or OpenGL reports an error.
        """
        scene = self._resources().scene
        moment = CrowdMoment(clip_index, time, weights, palettes, loop, rotation)
        vertices = self._on_gpu(scene.skinned_vertices, moment)
        return vertices[..., :3].copy(), vertices[..., 3:].copy()

    def _on_gpu(self, job: Callable[[NDArray[Any]], T], moment: CrowdMoment) -> T:
        """What `job` returns on the graphics thread for the numbers of a frame."""
        with self._lock:
            numbers = self._crowd_poser.numbers(moment, self._source)
            return gl.call(lambda context: job(numbers), of=self._resources().target.context)

    # ---- where the instances are ----------------------------------------------------------------

    @property
    def _aspect(self) -> float:
        return self._size[0] / self._size[1]

    @functools.cached_property
    def _box(self) -> NDArray[np.float64]:
        """(8, 3): corners of the box around all clips of the model, or around its rest pose."""
        extents = [self._poser.facts.extent(clip) for clip in self._crowd_poser.clips or (None,)]
        box = np.stack([np.min([e[0] for e in extents], axis=0), np.max([e[1] for e in extents], axis=0)])
        return np.stack(np.meshgrid(*box.T, indexing="ij"), axis=-1).reshape(-1, 3)

    def _corners(self) -> NDArray[np.float64]:
        """(8 * N, 3): the corners of the boxes of all instances, in scene space of the picture."""
        matrices = self._placements.astype(np.float64)
        placed: NDArray[np.float64] = np.einsum("nij,cj->nci", matrices[..., :3], self._box)
        return (placed + matrices[:, None, :, 3]).reshape(-1, 3)

    def _extent(self) -> NDArray[np.float64]:
        """Lowest and highest corner of the crowd, (2, 3)."""
        corners = self._corners()
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    @property
    def _scale(self) -> float:
        """The median size of the instances by that of the model."""
        volumes = np.abs(np.linalg.det(self._placements[..., :3].astype(np.float64)))
        return float(np.median(np.cbrt(volumes))) or 1.0

    def _upload(self, samples: int, floor: Floor | None, weights: NDArray[np.float32]) -> _Resources:
        # It needs no OpenGL, so this thread does it. One call draws all instances: none has looks of its own.
        prepared = geometry(self._poser.model, changes=False)
        placements, source, size = self._placements, self._source, self._size

        def make(context: moderngl.Context) -> _Resources:
            scene = CrowdScene(context, prepared, placements, source, weights)
            target = Target(context, size, samples)
            ground = None if floor is None else FloorScene(context, floor)
            gl.check(context, "sending the crowd to the GPU")
            return _Resources(scene, target, ground)

        return gl.call(make)


def _checked_placements(placements: ArrayLike) -> NDArray[np.float32]:
    """A copy of placements, (N, 3, 4) float32. Raises ValueError or TypeError."""
    wanted: tuple[int | str, ...] = (
        ("N", 4, 4) if any_array("placements", placements).shape[1:] == (4, 4) else ("N", 3, 4)
    )
    array = floats("placements", placements, wanted)
    if not len(array):
        raise ValueError("placements is empty; expected at least one instance")
    if array.shape[1] == 4 and (array[:, 3] != (0, 0, 0, 1)).any():
        raise ValueError("placements has a last row other than 0 0 0 1; expected affine transforms")
    return np.array(array[:, :3])


def _draw(
    resources: _Resources,
    numbers: NDArray[Any],
    view: View,
    plane: FloorPlane | None,
    background: Sequence[float],
    out: NDArray[np.uint8],
) -> None:
    scene, target, floor = resources
    scene.pose(numbers)
    ground = None
    if floor is not None and plane is not None:
        floor.cast(scene.stamp, plane)
        ground = functools.partial(floor.draw, plane, view, target.framebuffer)
    target.begin(background)
    scene.draw(view, target.framebuffer, PLAIN, ground)
    target.finish(out)
