"""Pictures of a model: `Renderer` for many, `render` for one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arguments import items_of
from .arguments import check_samples, check_size, checked_picture
from .camera import Camera, up_vector
from .color import parse_color
from .figure import Figure
from .gpu import context as gl
from .gpu.closing import Closing
from .moment import Moment
from .overlays.options import Overlays, check_overlays
from .overlays.plan import Planner
from .posing import Poser
from .resources import Resources, Shot, make_resources
from .scene.floor import Floor, chosen_floor
from .scene.ground import Ground
from .scene.mesh_scene import MeshScene
from .scene.palette import check_transport
from .scene.texturing import Texturing, named_animations
from .scene.view import View
from .truth.flow import Flow, next_moment
from .truth.ground_truth import GroundTruth, ground_truth
from .truth.joints import joint_positions
from .truth.layers import Later, Sight, check_aov
from .truth.lens import Lens
from .truth.target import draw_faces

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation
    from skinpy.model import Model

    from .posing import ClipLike, PoseLike
    from .scene.texturing import UVLike

_DEFAULT_SIZE = (640, 480)


class Renderer(Closing[Resources]):
    """Draws many pictures of one model offscreen; the mesh and its textures go to the GPU once.

    Any thread may call it: drawing happens on the graphics thread of the process. `close`, the end of a
    `with` block and the end of the object free what it owns on the GPU. docs/rendering.md explains it.

    Parameters
    ----------
    model : Model
        The model. A model without a mesh is drawn as its skeleton.
    size : (int, int), default (640, 480)
        Width and height of the pictures in pixels.
    samples : int, default 4
        Samples per pixel, which smooth the edges; at most 64. The number is lowered to what the context
        has. 0 and 1 turn smoothing off.
    background : str or sequence of float, optional
        A color: "#rgb", "#rrggbb", "#rrggbbaa", or 3 or 4 sRGB numbers from 0 to 1. Without it the
        background is transparent.
    transport : {"auto", "uniform", "texture"}, default "auto"
        How palettes reach the GPU: "uniform" is a uniform block, for one character, "texture" holds any
        number of joints, and "auto" takes the block where it is large enough.
    uv : UVAnimation or dict of str to UVAnimation, optional
        Animations that move textures: one for all materials, or one for each material named.
    floor : Floor or bool, optional
        A floor under the model; True is a default `Floor`.

    Raises
    ------
    GraphicsError
        If there is no OpenGL 3.3, or OpenGL reports an error.
    ShaderError
        If the driver refuses a shader.
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument has a wrong value.
    KeyError
        If `uv` names a material that the model does not have.
    ImportError
        If the model has encoded textures and Pillow is not installed.

    Warns
    -----
    SkinpyWarning
        If a texture cannot be decoded. The model is drawn without it.

    Examples
    --------
    >>> with skinpy.render.Renderer(skinpy.character(), size=(160, 120)) as renderer:
    ...     renderer.frame("walk", 0.3).shape
    (120, 160, 4)
    """

    _noun = "Renderer"
    _shares = False  # whether scene and framebuffers are those of other renderers of the model

    def __init__(
        self,
        model: Model,
        *,
        size: tuple[int, int] = _DEFAULT_SIZE,
        samples: int = 4,
        background: str | Sequence[float] | None = None,
        transport: str = "auto",
        uv: UVLike = None,
        floor: Floor | bool | None = None,
    ) -> None:
        check_transport(transport)
        self._poser = Poser(model)
        self._size = check_size(size)
        self._background = (0.0,) * 4 if background is None else parse_color("background", background)
        self._up = up_vector(model.up)
        chosen = chosen_floor(floor)
        self._uv = named_animations(uv, model)
        self._ground = None if chosen is None else Ground(self._poser, chosen)
        self._planner = Planner(self._poser)
        self._own(make_resources(model, self._size, check_samples(samples), transport, chosen, self._shares))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pictures in pixels."""
        return self._size

    @property
    def samples(self) -> int:
        """Samples per pixel in use: the number asked for, lowered to what the context has; 0 is none."""
        return self._resources().target.samples

    @property
    def uploaded_bytes(self) -> int:
        """Bytes sent into buffers and textures on the GPU for this renderer so far.

        Vertices, faces, images, morph targets and stored frames are sent once. A frame sends what it needs:
        a palette and the weights of morph targets, or nothing for a vertex animation. Uniforms (camera,
        light, texture transforms, the number of a stored frame; some hundred bytes a frame) are not counted.
        """
        return self._resources().uploaded_bytes

    def camera(self, clip: ClipLike = None) -> Camera:
        """Return the camera that `frame` uses for a clip.

        It looks at the front of the model, a little from its left and from above, and has the whole clip in
        the picture.

        Parameters
        ----------
        clip : Clip, VertexAnimation, str or int, optional
            The clip, its name or its index. Without it the first clip, or the rest pose of a model that has
            none.

        Returns
        -------
        Camera
            The camera.

        Raises
        ------
        KeyError
            If the model has no clip of this name.
        IndexError
            If the model has no clip of this index.
        """
        return self._poser.facts.camera(self._poser.motion(clip), None, self._aspect)

    def frame(
        self,
        clip: ClipLike = None,
        time: float = 0.0,
        *,
        pose: PoseLike | None = None,
        morph_weights: ArrayLike | None = None,
        camera: Camera | None = None,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: ArrayLike | None = None,
        overlays: Overlays | None = None,
        out: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.uint8]:
        """Draw one picture.

        The frames of a vertex animation go to the GPU when it is first drawn. They stay there until the
        animation or the renderer is gone.

        Parameters
        ----------
        clip : Clip, VertexAnimation, str or int, optional
            A clip of the model, its name or its index, or a vertex animation whose model this is. Without it
            the first clip, or the rest pose of a model that has none.
        time : float, seconds, default 0.0
            The time in the clip. Beside `pose` it is the time of textures and floor alone.
        pose : Pose or ndarray, optional
            A pose to draw in place of a clip: a Pose, or a palette (S, 3, 4) or (S, 4, 4), such as a
            controller returns.
        morph_weights : array_like, shape (M,), optional
            Weights of the morph targets, in place of those of the clip or pose.
        camera : Camera, optional
            The camera. Without it the whole clip (moved by `root`), or the pose, is in the picture.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip, as in `Model.palette`.
        rotation : {"slerp", "nlerp"}, default "slerp"
            How rotations are interpolated between linear keys.
        root : array_like, shape (4, 4), optional
            A transform that is multiplied in front of the root joint's local transform.
        overlays : Overlays, optional
            What is drawn over the picture to explain it.
        out : (h, w, 4) uint8 ndarray, optional
            A C-contiguous array that receives the picture.

        Returns
        -------
        (h, w, 4) uint8 ndarray
            The picture: RGBA, row 0 on top, sRGB, straight alpha. It is `out` where that was given.

        Raises
        ------
        KeyError
            If the model has no clip of this name, or no joint that `overlays` names.
        IndexError
            If the model has no clip of this index, or no joint that `overlays` numbers.
        ValueError
            If `time` is not one finite number, the clip belongs to another model, an array has the wrong
            shape, type or layout, or the overlays have nothing to show here (joints of a vertex animation).
        TypeError
            If an argument has the wrong type.
        GraphicsError
            If the renderer is closed, a vertex animation is too large for the context's textures, or OpenGL
            reports an error.
        """
        self._resources()
        moment = self._poser.moment(
            clip, time, pose=pose, loop=loop, rotation=rotation, root=root, morph_weights=morph_weights
        )
        return self._picture(moment, camera, overlays, out)

    def frames(
        self,
        clip: ClipLike = None,
        times: Iterable[float] = (0.0,),
        *,
        camera: Camera | None = None,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: ArrayLike | None = None,
        overlays: Overlays | None = None,
    ) -> Iterator[NDArray[np.uint8]]:
        """Draw pictures of a clip at several times, all with the same camera.

        A picture is drawn when it is asked for.

        Parameters
        ----------
        clip : Clip, VertexAnimation, str or int, optional
            The clip, as in `frame`.
        times : iterable of float, seconds, default (0.0,)
            The times in the clip.
        camera : Camera, optional
            The camera. Without it the whole clip is in the picture.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip.
        rotation : {"slerp", "nlerp"}, default "slerp"
            How rotations are interpolated between linear keys.
        root : array_like, shape (4, 4), optional
            A transform that is multiplied in front of the root joint's local transform.
        overlays : Overlays, optional
            What is drawn over the pictures to explain them.

        Returns
        -------
        iterator of (h, w, 4) uint8 ndarray
            The pictures, as `frame` returns them, each in an array of its own. The errors of `frame` are
            raised when a picture is asked for.

        Raises
        ------
        KeyError
            If the model has no clip of this name.
        IndexError
            If the model has no clip of this index.
        """
        moment = self._poser.moment(clip, loop=loop, rotation=rotation, root=root)
        if camera is None:
            boxes = overlays is not None and getattr(overlays, "boxes", False)
            camera = self._poser.facts.camera(moment.motion, root, self._aspect, boxes)
        seconds = items_of("times", times, "a sequence of times")
        return (self._picture(moment._replace(time=time), camera, overlays) for time in seconds)

    def render(
        self,
        clip: ClipLike = None,
        time: float = 0.0,
        *,
        aov: str | Sequence[str] = (),
        pose: PoseLike | None = None,
        morph_weights: ArrayLike | None = None,
        camera: Camera | None = None,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: ArrayLike | None = None,
        overlays: Overlays | None = None,
        flow_to: float | None = None,
        flow_pose: PoseLike | None = None,
        flow_root: ArrayLike | None = None,
        flow_camera: Camera | None = None,
    ) -> GroundTruth:
        """Draw a picture with ground truth: layers of numbers for its pixels, its joints and its camera.

        The layers describe the model alone, without floor and overlays: the surface that is seen at the
        center of each pixel. Masked materials are cut; blended ones count as solid where their alpha is 0.5
        or more. A drawn skeleton has all layers too; its "uv" is 0.

        Parameters
        ----------
        clip : Clip, VertexAnimation, str or int, optional
            The clip, as in `frame`.
        time : float, seconds, default 0.0
            The time in the clip.
        aov : str or sequence of str, default ()
            Names of layers: "depth", "position", "normal", "joint", "submesh", "material", "face",
            "barycentric", "uv", "flow".
        pose : Pose or ndarray, optional
            A pose to draw in place of a clip, as in `frame`.
        morph_weights : array_like, shape (M,), optional
            Weights of the morph targets, now and at the time that the flow goes to.
        camera : Camera, optional
            The camera, as in `frame`.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip.
        rotation : {"slerp", "nlerp"}, default "slerp"
            How rotations are interpolated between linear keys.
        root : array_like, shape (4, 4), optional
            A transform that is multiplied in front of the root joint's local transform.
        overlays : Overlays, optional
            What is drawn over the picture to explain it.
        flow_to : float, seconds, optional
            The time that "flow" goes to. Without it, 1/30 s after `time`; `loop` decides what is there.
        flow_pose : Pose or ndarray, optional
            The pose that "flow" goes to from a `pose`.
        flow_root : array_like, shape (4, 4), optional
            The root transform at that time. Without it, `root`.
        flow_camera : Camera, optional
            The camera at that time. Without it, the same as now.

        Returns
        -------
        GroundTruth
            The picture, bit for bit that of `frame`, with its layers, joints and camera.

        Raises
        ------
        KeyError
            If the model has no clip of this name, or no joint that `overlays` names.
        IndexError
            If the model has no clip of this index, or no joint that `overlays` numbers.
        ValueError
            If a layer is unknown, flow arguments are given without the layer "flow", the flow of a pose has
            neither `flow_pose` nor `flow_camera`, or an argument has a wrong value as in `frame`.
        TypeError
            If an argument has the wrong type.
        GraphicsError
            If the renderer is closed, a vertex animation is too large for the context's textures, or OpenGL
            reports an error.

        Examples
        --------
        >>> with skinpy.render.Renderer(skinpy.character(), size=(160, 120)) as renderer:
        ...     truth = renderer.render("walk", 0.3, aov=("depth", "joint"))
        >>> truth.depth.shape, truth.joint.dtype
        ((120, 160), dtype('int32'))
        """
        self._resources()
        names = check_aov(aov)
        moment = self._poser.moment(
            clip, time, pose=pose, loop=loop, rotation=rotation, root=root, morph_weights=morph_weights
        )
        then = next_moment(names, moment, Flow(flow_to, flow_pose, flow_root, flow_camera))
        shot = self._shot(moment, camera, check_overlays(overlays))
        moved = None if then is None else self._poser.figure(then)
        picture = self._draw(shot, checked_picture(None, self._size))
        sight, later = self._see(shot, moved, flow_camera)
        joints = joint_positions(self._poser.model, moment)
        return ground_truth(self._poser.model, picture, names, sight, later, joints)

    def skinned_vertices(
        self,
        clip: ClipLike = None,
        time: float = 0.0,
        *,
        pose: PoseLike | None = None,
        morph_weights: ArrayLike | None = None,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the vertices as the GPU computes them.

        They are the numbers of `Model.deform`, or `VertexAnimation.sample`, from the vertex shader that draws
        the pictures (by transform feedback).

        Parameters
        ----------
        clip : Clip, VertexAnimation, str or int, optional
            The clip, as in `frame`.
        time : float, seconds, default 0.0
            The time in the clip.
        pose : Pose or ndarray, optional
            A pose in place of a clip, as in `frame`.
        morph_weights : array_like, shape (M,), optional
            Weights of the morph targets, in place of those of the clip or pose.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip.
        rotation : {"slerp", "nlerp"}, default "slerp"
            How rotations are interpolated between linear keys.
        root : array_like, shape (4, 4), optional
            A transform that is multiplied in front of the root joint's local transform.

        Returns
        -------
        positions : (V, 3) float32 ndarray
            Positions in scene space.
        normals : (V, 3) float32 ndarray
            Normals in scene space.

        Raises
        ------
        KeyError
            If the model has no clip of this name.
        IndexError
            If the model has no clip of this index.
        ValueError
            If an argument has a wrong value as in `frame`.
        TypeError
            If an argument has the wrong type.
        GraphicsError
            If the renderer is closed, or OpenGL reports an error.
        """
        resources = self._resources()
        moment = self._poser.moment(
            clip, time, pose=pose, loop=loop, rotation=rotation, root=root, morph_weights=morph_weights
        )
        figure, scene = self._poser.figure(moment), resources.scene
        if not isinstance(scene, MeshScene):
            return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)
        vertices = gl.call(lambda context: scene.skinned_vertices(figure), of=resources.context)
        return vertices[:, :3].copy(), vertices[:, 3:].copy()

    # ---- from a moment to a picture -----------------------------------------------------------------

    @property
    def _aspect(self) -> float:
        return self._size[0] / self._size[1]

    def _picture(
        self,
        moment: Moment,
        camera: Camera | None,
        overlays: Overlays | None,
        out: NDArray[np.uint8] | None = None,
        covered: int = 0,
    ) -> NDArray[np.uint8]:
        out = checked_picture(out, self._size)
        return self._draw(self._shot(moment, camera, check_overlays(overlays), covered), out)

    def _shot(
        self, moment: Moment, camera: Camera | None, overlays: Overlays | None, covered: int = 0
    ) -> Shot:
        """Pose the model once, and find all that a frame of it needs."""
        figure = self._poser.figure(moment)
        boxes = overlays is not None and overlays.boxes
        chosen = self._own_camera(moment, figure, boxes) if camera is None else camera
        view = View(chosen, self._aspect, self._up)
        floor = None if self._ground is None else self._ground.shaded(moment, figure)
        plan = None
        if overlays is not None:
            plan = self._planner.plan(overlays, moment, figure, view, self._size, covered)
        texturing = Texturing(self._uv, float(moment.time), self._poser.material_values(moment))
        return Shot(figure, view, texturing, floor, plan)

    def _own_camera(self, moment: Moment, figure: Figure, boxes: bool) -> Camera:
        """The camera of a frame whose caller gives none; with `boxes`, they are in the picture too."""
        if moment.pose is not None:
            return self._poser.figure_camera(figure, self._aspect, boxes)
        return self._poser.facts.camera(moment.motion, moment.root, self._aspect, boxes)

    def _draw(self, shot: Shot, out: NDArray[np.uint8]) -> NDArray[np.uint8]:
        resources, background = self._resources(), self._background
        gl.call(lambda context: resources.draw(shot, background, out), of=resources.context)
        return out

    def _see(
        self, shot: Shot, moved: Figure | None, next_camera: Camera | None
    ) -> tuple[Sight, Later | None]:
        """What each pixel of a shot shows, and where the flow goes: to `moved`, seen by `next_camera`."""
        resources, size = self._resources(), self._size
        scene, (figure, view, texturing, _, _) = resources.scene, shot
        seen = gl.call(
            lambda context: draw_faces(resources.faces, scene, figure, view, texturing, moved),
            of=resources.context,
        )
        facets = scene.facets(self._poser.model, figure)
        sight = Sight(seen.codes, facets, seen.vertices, Lens(view.camera, size))
        later = None if seen.moved is None else Later(seen.moved, Lens(next_camera or view.camera, size))
        return sight, later


class SharingRenderer(Renderer):
    """A renderer whose scene and framebuffers are kept for the next one of the same model."""

    _shares = True

    def picture(
        self,
        moment: Moment,
        camera: Camera | None,
        overlays: Overlays | None,
        out: NDArray[np.uint8] | None = None,
        covered: int = 0,
    ) -> NDArray[np.uint8]:
        """Draw a moment, as `frame` draws its arguments; letters stay above the `covered` lowest rows."""
        self._resources()
        return self._picture(moment, camera, overlays, out, covered)


def render(
    model: Model,
    clip: ClipLike = None,
    time: float = 0.0,
    size: tuple[int, int] = _DEFAULT_SIZE,
    *,
    pose: PoseLike | None = None,
    morph_weights: ArrayLike | None = None,
    background: str | Sequence[float] | None = None,
    camera: Camera | None = None,
    samples: int = 4,
    transport: str = "auto",
    uv: UVLike = None,
    floor: Floor | bool | None = None,
    loop: Loop = "wrap",
    rotation: Rotation = "slerp",
    root: ArrayLike | None = None,
    overlays: Overlays | None = None,
    out: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """Draw one picture of a model.

    The GPU's copy of the model is kept for the next call, until the model is gone.

    Parameters
    ----------
    model : Model
        The model.
    clip : Clip, VertexAnimation, str or int, optional
        The clip, as in `Renderer.frame`.
    time : float, seconds, default 0.0
        The time in the clip.
    size : (int, int), default (640, 480)
        Width and height of the picture in pixels.
    pose : Pose or ndarray, optional
        A pose to draw in place of a clip, as in `Renderer.frame`.
    morph_weights : array_like, shape (M,), optional
        Weights of the morph targets, in place of those of the clip or pose.
    background : str or sequence of float, optional
        A color, as in `Renderer`. Without it the background is transparent.
    camera : Camera, optional
        The camera. Without it the whole clip, or the pose, is in the picture.
    samples : int, default 4
        Samples per pixel, which smooth the edges.
    transport : {"auto", "uniform", "texture"}, default "auto"
        How the palette reaches the GPU, as in `Renderer`.
    uv : UVAnimation or dict of str to UVAnimation, optional
        Animations that move textures, as in `Renderer`.
    floor : Floor or bool, optional
        A floor under the model; True is a default `Floor`.
    loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
        What happens outside the clip.
    rotation : {"slerp", "nlerp"}, default "slerp"
        How rotations are interpolated between linear keys.
    root : array_like, shape (4, 4), optional
        A transform that is multiplied in front of the root joint's local transform.
    overlays : Overlays, optional
        What is drawn over the picture to explain it.
    out : (h, w, 4) uint8 ndarray, optional
        A C-contiguous array that receives the picture.

    Returns
    -------
    (h, w, 4) uint8 ndarray
        The picture: RGBA, row 0 on top, sRGB, straight alpha.

    Raises
    ------
    KeyError
        If the model has no clip, material or joint of a name that is given.
    IndexError
        If the model has no clip or joint of a number that is given.
    ValueError
        If an argument has a wrong value, as in `Renderer` and `Renderer.frame`.
    TypeError
        If an argument has the wrong type.
    GraphicsError
        If there is no OpenGL 3.3, or OpenGL reports an error.
    ShaderError
        If the driver refuses a shader.
    ImportError
        If the model has encoded textures and Pillow is not installed.

    Warns
    -----
    SkinpyWarning
        If a texture cannot be decoded. The model is drawn without it.

    Examples
    --------
    >>> skinpy.render.render(skinpy.character(), "walk", 0.3, (160, 120)).shape
    (120, 160, 4)
    """
    renderer = SharingRenderer(
        model, size=size, samples=samples, background=background, transport=transport, uv=uv, floor=floor
    )
    moment = renderer._poser.moment(
        clip, time, pose=pose, loop=loop, rotation=rotation, root=root, morph_weights=morph_weights
    )
    return renderer._picture(moment, camera, overlays, out)
