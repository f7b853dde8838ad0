"""Pictures of a model: `Renderer` for many, `render` for one."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy.errors import GraphicsError

from . import cache
from .arguments import check_samples, check_size, checked_picture
from .camera import Camera, up_vector
from .color import parse_color
from .figure import Figure
from .gpu import context as gl
from .gpu.closing import Closing
from .gpu.target import Target
from .moment import Moment
from .overlays.options import Overlays, check_overlays
from .overlays.plan import Plan, Planner
from .overlays.scene import OverlayScene
from .posing import Poser, check_time
from .scene.floor import Floor, FloorPlace, FloorScene, chosen_floor
from .scene.geometry import geometry
from .scene.ground import Ground
from .scene.mesh_scene import MeshScene, Scene
from .scene.palette import check_transport
from .scene.skeleton import SkeletonScene
from .scene.texturing import Texturing, named_animations
from .scene.view import View
from .truth.ground_truth import GroundTruth, check_flow, ground_truth
from .truth.joints import joint_positions
from .truth.layers import Later, Sight, check_aov
from .truth.lens import Lens
from .truth.target import FaceTarget, look

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation
    from skinpy.model import Model

    from .posing import ClipLike, PoseLike
    from .scene.texturing import UVLike

_DEFAULT_SIZE = (640, 480)


class _Parts(NamedTuple):
    scene: Scene
    target: Target
    floor: FloorScene | None
    overlays: OverlayScene


class _Shot(NamedTuple):
    """What changes from frame to frame."""

    figure: Figure
    texturing: Texturing
    floor: FloorPlace | None
    view: View
    plan: Plan | None = None


class _Held:
    """What a renderer holds on the GPU; the graphics thread empties it."""

    def __init__(self, parts: _Parts) -> None:
        self.parts: _Parts | None = parts
        self._faces: FaceTarget | None = None

    def faces(self, context: moderngl.Context, size: tuple[int, int]) -> FaceTarget:
        """Where faces are numbered, for ground truth; made when it is first wanted."""
        if self._faces is None:
            self._faces = FaceTarget(context, size)
        return self._faces

    def drop(self) -> None:
        """Let go of everything."""
        self.parts = self._faces = None


class Renderer(Closing):
    """Draws many pictures of one model, offscreen: the mesh and its textures go to the GPU once.

    `size` is (width, height) in pixels. `samples` per pixel smooth the edges; the number is lowered to what
    the context has, 0 or 1 turns it off. `background` is None for a transparent one, or a color: "#rrggbb",
    "#rrggbbaa", or 3 or 4 sRGB numbers from 0 to 1. `transport` says how palettes reach the GPU: "uniform"
    (a block, for one character), "texture" (any number of joints) or "auto". `uv` moves textures: a
    UVAnimation for all materials, or a dict of them by name of material. `floor` puts a `Floor`
    under the model; True is an ordinary one.

    Any thread may call it; drawing happens on the process's graphics thread. `close()`, or leaving a
    `with` block, frees what it holds on the GPU; so does dropping it.

    Raises GraphicsError where there is no OpenGL 3.3, ShaderError where the driver refuses a shader,
    TypeError or ValueError for wrong arguments, ImportError where the model has encoded textures and Pillow
    is not installed. A texture that cannot be decoded is left out with a SkinpyWarning.
    """

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
        _keep: bool = False,  # `render`: take from, and leave for, later calls
    ) -> None:
        check_transport(transport)
        self._poser = Poser(model)
        self._size = check_size(size)
        self._background = (0.0,) * 4 if background is None else parse_color("background", background)
        self._up = up_vector(model.up)
        ground = chosen_floor(floor)
        self._uv = named_animations(uv, model)
        self._ground = None if ground is None else Ground(self._poser, ground)
        self._planner = Planner(self._poser)
        held = _hold(model, self._size, check_samples(samples), transport, ground, _keep)
        self._held = held
        self._finalizer = weakref.finalize(self, _release, gl.graphics_thread(), held)
        self._finalizer.atexit = False  # the end of the graphics thread frees everything anyway

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the pictures, pixels."""
        return self._size

    @property
    def samples(self) -> int:
        """Samples per pixel in use: what was asked for, lowered to what the context has; 0 is none."""
        return self._parts().target.samples

    @property
    def uploaded_bytes(self) -> int:
        """Bytes sent into buffers and textures on the GPU for this renderer so far: vertices, faces, images,
        morph targets and frames once, and what a frame needs: a palette, weights of morph targets, or, for a
        vertex animation, nothing. What the shaders take as uniforms (camera, light, texture transforms, the
        number of a stored frame; some hundred bytes a frame) is not counted.
        """
        parts = self._parts()
        total = parts.scene.uploads.total + parts.overlays.uploads.total
        return total + (0 if parts.floor is None else parts.floor.uploads.total)

    def camera(self, clip: ClipLike = None) -> Camera:
        """The camera that `frame` takes for a clip: from the front, a little to the side and from above,
        with all of the clip in the picture. None is the default clip. Raises KeyError or IndexError for an
        unknown one.
        """
        return self._clip_camera(clip, None)

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
        """One picture: (h, w, 4) uint8, RGBA, row 0 on top, sRGB, straight alpha.

        `clip` is a Clip of the model, its name or its number, or a VertexAnimation whose model this is; None
        is the first clip, or the rest pose where there is none. `time` is in seconds; `loop`, `rotation` and
        `root` are as in `Model.palette`. In place of a clip, `pose` draws a Pose, or a palette (S, 3|4, 4),
        such as a controller gives; `time` is then that of texture and floor alone. `morph_weights` (M,) takes
        the place of the weights that the clip or pose has. `camera` None frames the whole clip (with its
        `root`), or the pose. `overlays` are drawn over the picture to explain it. `out`, (h, w, 4) uint8 and
        C-contiguous, takes the picture and is returned.

        The frames of a vertex animation go to the GPU when it is first drawn, and stay there until it or the
        renderer is gone.

        Raises KeyError or IndexError for an unknown clip; ValueError for a time that is not one finite
        number, a clip of another model, weights or an `out` of wrong shape, type or layout, and overlays that
        have nothing to show here (joints of a vertex animation); TypeError for an `out` that is no array;
        KeyError or IndexError for a joint that overlays name and the model does not have; GraphicsError
        after `close()`, for a vertex animation that is too large for the context's textures, and for what
        OpenGL reports.
        """
        parts = self._parts()
        out = checked_picture(out, self._size)
        wanted = check_overlays(overlays)
        moment = self._moment(clip, time, pose, morph_weights, loop, rotation, root)
        camera = self._own_camera(moment) if camera is None else camera
        place = None if self._ground is None else self._ground.shaded(moment)
        view = View(camera, self._aspect, self._up)
        plan = None if wanted is None else self._planner.plan(wanted, moment, view, self._size)
        shot = _Shot(moment.figure, Texturing(self._uv, float(time)), place, view, plan)
        background = self._background
        gl.call(lambda context: _draw(parts, shot, background, out), of=parts.target.context)
        return out

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
        """Pictures of a clip at several times (seconds), each as `frame` gives it and an array of its own.

        They are drawn as they are asked for, all with the same camera.
        """
        if camera is None:
            camera = self._clip_camera(clip, root)
        options: dict[str, Any] = {"loop": loop, "rotation": rotation, "root": root, "overlays": overlays}
        return (self.frame(clip, time, camera=camera, **options) for time in times)

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
        """A picture with ground truth: layers of numbers for its pixels, its joints, its camera.

        `aov` names the layers, one or several: "depth", "position", "normal", "joint", "submesh", "material",
        "face", "barycentric", "uv", "flow". They tell of the model alone, without floor and overlays: of the
        surface that is seen at the center of each pixel, masked materials being cut and blended ones counting
        as solid from an alpha of 0.5. A drawn skeleton has them too, its uv being 0.

        "flow" goes to the time `flow_to`, by default 1/30 s after `time` (`loop` says what is there), or to
        `flow_pose` in place of a `pose`; `flow_root` and `flow_camera` are those of then, by default the same
        as now. `morph_weights` hold for both.

        The other arguments and errors are those of `frame`. Raises ValueError also for an unknown layer, for
        flow arguments without the layer "flow", and for the flow of a pose without `flow_pose` or
        `flow_camera`.
        """
        self._parts()
        names = check_aov(aov)
        moment = self._moment(clip, time, pose, morph_weights, loop, rotation, root)
        camera = self._own_camera(moment) if camera is None else camera
        then = check_flow(names, time, pose, flow_to, flow_pose, flow_root, flow_camera)
        moved = None
        if then is not None:
            next_root = root if flow_root is None else flow_root
            moved = self._figure(clip, then.time, then.pose, morph_weights, loop, rotation, next_root)
        options: dict[str, Any] = {"loop": loop, "rotation": rotation, "root": root, "overlays": overlays}
        picture = self.frame(clip, time, pose=pose, morph_weights=morph_weights, camera=camera, **options)
        return self._truth(picture, names, moment, camera, moved, flow_camera or camera)

    def _truth(
        self,
        picture: NDArray[np.uint8],
        names: tuple[str, ...],
        moment: Moment,
        camera: Camera,
        moved: Figure | None,
        next_camera: Camera,
    ) -> GroundTruth:
        """What is known of a picture; `moved` and `next_camera` are what its flow goes to."""
        parts, held, size, model = self._parts(), self._held, self._size, self._poser.model
        scene = parts.scene
        view, texturing = View(camera, self._aspect, self._up), Texturing(self._uv, float(moment.time))
        seen = gl.call(
            lambda context: look(held.faces(context, size), scene, moment.figure, view, texturing, moved),
            of=parts.target.context,
        )
        sight = Sight(seen.codes, scene.facets(model, moment.figure), seen.vertices, Lens(camera, size))
        later = None if seen.moved is None else Later(seen.moved, Lens(next_camera, size))
        return ground_truth(model, picture, names, sight, later, joint_positions(model, moment))

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
        """Positions and normals as the GPU computes them: (V, 3) float32 each, scene space.

        The same numbers as `Model.deform`, or `VertexAnimation.sample`, from the vertex shader that draws
        the pictures (by transform feedback). Arguments and errors are those of `frame`.
        """
        parts = self._parts()
        scene = parts.scene
        figure = self._figure(clip, time, pose, morph_weights, loop, rotation, root)
        if not isinstance(scene, MeshScene):
            return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)
        vertices = gl.call(lambda context: scene.skinned_vertices(figure), of=parts.target.context)
        return vertices[:, :3].copy(), vertices[:, 3:].copy()

    def _parts(self) -> _Parts:
        if not self._finalizer.alive or self._held.parts is None:
            raise GraphicsError("this Renderer is closed; make another one")
        return self._held.parts

    def _figure(
        self,
        clip: ClipLike,
        time: float,
        pose: PoseLike | None,
        morph_weights: ArrayLike | None,
        loop: Loop,
        rotation: Rotation,
        root: ArrayLike | None,
    ) -> Figure:
        if pose is None:
            return self._poser.at(self._poser.motion(clip), time, loop, rotation, root, morph_weights)
        if clip is not None or root is not None:
            raise ValueError("pose is given together with clip or root; expected either a pose or a clip")
        check_time(time)
        return self._poser.of(pose, morph_weights)

    @property
    def _aspect(self) -> float:
        return self._size[0] / self._size[1]

    def _moment(
        self,
        clip: ClipLike,
        time: float,
        pose: PoseLike | None,
        morph_weights: ArrayLike | None,
        loop: Loop,
        rotation: Rotation,
        root: ArrayLike | None,
    ) -> Moment:
        figure = self._figure(clip, time, pose, morph_weights, loop, rotation, root)
        motion = None if pose is not None else self._poser.motion(clip)
        return Moment(motion, time, pose, loop, rotation, root, morph_weights, figure)

    def _own_camera(self, moment: Moment) -> Camera:
        if moment.pose is not None:
            return self._poser.figure_camera(moment.figure, self._aspect)
        return self._poser.motion_camera(moment.motion, moment.root, self._aspect)

    def _clip_camera(self, clip: ClipLike, root: ArrayLike | None) -> Camera:
        return self._poser.motion_camera(self._poser.motion(clip), root, self._aspect)


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
    """One picture of a model: (h, w, 4) uint8, RGBA, row 0 on top, sRGB, straight alpha.

    The GPU's copy of the model is kept for the next call, until the model is gone. Arguments and errors are
    those of `Renderer` and `Renderer.frame`.
    """
    renderer = Renderer(
        model,
        size=size,
        samples=samples,
        background=background,
        transport=transport,
        uv=uv,
        floor=floor,
        _keep=True,
    )
    return renderer.frame(
        clip,
        time,
        pose=pose,
        morph_weights=morph_weights,
        camera=camera,
        loop=loop,
        rotation=rotation,
        root=root,
        overlays=overlays,
        out=out,
    )


def _draw(parts: _Parts, shot: _Shot, background: Sequence[float], out: NDArray[np.uint8]) -> None:
    scene, target, floor, overlays = parts
    ground = None
    if floor is not None and shot.floor is not None:
        floor.cast(functools.partial(scene.stamp, shot.figure), shot.floor)
        ground = functools.partial(floor.draw, shot.floor, shot.view, target.framebuffer)
    target.begin(background)
    what = shot.figure, shot.view, target.framebuffer, shot.texturing, ground
    if shot.plan is None:
        scene.draw(*what)
    else:
        overlays.draw(shot.plan, scene, *what)
    target.finish(out)


def _hold(
    model: Model, size: tuple[int, int], samples: int, transport: str, floor: Floor | None, keep: bool
) -> _Held:
    """Scene, target and floor for a renderer. `keep` shares the first two with later calls of `render`."""
    first, scene = gl.call(lambda context: (context, cache.find_scene(context, model, transport)))
    upload = None if scene is not None else _upload(model, transport)

    def make(context: moderngl.Context) -> _Held:
        found = scene
        if found is None:
            assert upload is not None
            found = upload(context)
            if keep:
                cache.keep_scene(context, model, transport, found)
        target = cache.target(context, size, samples) if keep else Target(context, size, samples)
        ground = None if floor is None else FloorScene(context, floor)
        gl.check(context, "sending the model to the GPU")
        return _Held(_Parts(found, target, ground, OverlayScene(context)))

    return gl.call(make, of=None if scene is None else first)


def _upload(model: Model, transport: str) -> Any:
    """A function that makes the model's scene in a context; what needs no OpenGL is done here and now."""
    if len(model.mesh.positions):
        prepared = geometry(model)
        return lambda context: MeshScene(context, prepared, transport)
    skeleton = model.skeleton
    rest = np.array(skeleton.rest_global[:, :3, 3])
    parents = np.array(skeleton.parents)
    return lambda context: SkeletonScene(context, parents, rest)


def _release(thread: gl.GraphicsThread, held: _Held) -> None:
    thread.post(lambda context: held.drop())
