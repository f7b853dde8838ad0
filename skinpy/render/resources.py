"""What a renderer owns on the GPU, and how a frame is drawn with it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import moderngl
import numpy as np
from numpy.typing import NDArray

from . import cache
from .figure import Figure
from .gpu import context as gl
from .gpu.target import Target
from .overlays.plan import Plan
from .overlays.scene import OverlayScene
from .scene.drawing import Drawing
from .scene.floor import Floor, FloorPlane, FloorScene
from .scene.geometry import geometry
from .scene.mesh_scene import MeshScene, Scene
from .scene.skeleton import SkeletonScene
from .scene.texturing import Texturing
from .scene.view import View
from .truth.target import FaceTarget

if TYPE_CHECKING:
    from skinpy.model import Model

_Upload: TypeAlias = Callable[[moderngl.Context], Scene]


class Shot(NamedTuple):
    """All that a frame needs besides the resources: what is drawn, where, and from where it is seen."""

    figure: Figure
    view: View
    texturing: Texturing
    floor: FloorPlane | None
    plan: Plan | None  # of the overlays


class Resources:
    """The scene, the framebuffers, the floor and the overlays of one renderer.

    All methods belong on the context's thread.
    """

    def __init__(self, context: moderngl.Context, scene: Scene, target: Target, floor: Floor | None) -> None:
        self.scene = scene
        self.target = target
        self._context = context
        self._floor = None if floor is None else FloorScene(context, floor)
        self._overlays = OverlayScene(context)
        self._faces: FaceTarget | None = None

    @property
    def context(self) -> moderngl.Context:
        """The context that all of it belongs to."""
        return self.target.context

    @property
    def uploaded_bytes(self) -> int:
        """Bytes sent into buffers and textures so far."""
        floor = 0 if self._floor is None else self._floor.uploads.total
        return self.scene.uploads.total + self._overlays.uploads.total + floor

    @property
    def faces(self) -> FaceTarget:
        """The framebuffer for the numbers of faces; made when ground truth is first asked for."""
        if self._faces is None:
            self._faces = FaceTarget(self._context, self.target.size)
        return self._faces

    def draw(self, shot: Shot, background: Sequence[float], out: NDArray[np.uint8]) -> None:
        """Draw a frame on `background` (sRGB and alpha, 0 to 1) into `out`, (h, w, 4)."""
        ground = None
        if self._floor is not None and shot.floor is not None:
            self._floor.cast(functools.partial(self.scene.stamp, shot.figure), shot.floor)
            ground = functools.partial(self._floor.draw, shot.floor, shot.view, self.target.framebuffer)
        self.target.begin(background)
        drawing = Drawing(shot.figure, shot.view, self.target.framebuffer, shot.texturing, ground)
        if shot.plan is None:
            self.scene.draw(drawing)
        else:
            self._overlays.draw(shot.plan, self.scene, drawing)
        self.target.finish(out)


def make_resources(
    model: Model, size: tuple[int, int], samples: int, transport: str, floor: Floor | None, share: bool
) -> Resources:
    """Send a model to the GPU. With `share`, scene and target are those of the calls of `render`."""
    first, scene = gl.call(lambda context: (context, cache.find_scene(context, model, transport)))
    upload = None if scene is not None else _upload(model, transport)

    def make(context: moderngl.Context) -> Resources:
        found = scene
        if found is None:
            assert upload is not None
            found = upload(context)
            if share:
                cache.keep_scene(context, model, transport, found)
        target = cache.target(context, size, samples) if share else Target(context, size, samples)
        made = Resources(context, found, target, floor)
        gl.check(context, "sending the model to the GPU")
        return made

    return gl.call(make, of=None if scene is None else first)


def _upload(model: Model, transport: str) -> _Upload:
    """A function that makes the model's scene in a context. All that needs no OpenGL is done here and now."""
    if len(model.mesh.positions):
        prepared = geometry(model)
        return lambda context: MeshScene(context, prepared, transport)
    skeleton = model.skeleton
    rest = np.array(skeleton.rest_global[:, :3, 3])
    parents = np.array(skeleton.parents)
    return lambda context: SkeletonScene(context, parents, rest)
