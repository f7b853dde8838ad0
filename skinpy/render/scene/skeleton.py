"""Drawing the skeleton of a model without a mesh, such as that of a BVH file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..figure import Figure, Posed
from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from .drawing import Drawing
from .facets import Facets, Vertices, loose_facets
from .geometry import Surface
from .mesh import set_surface, white_texture
from .paint import FACE_NUMBERS, Paint, Prepare
from .texturing import Texturing, set_wrap
from .view import View

if TYPE_CHECKING:
    from skinpy.model import Model

LINK_COLOR = (0.30, 0.42, 0.62)  # linear RGB
JOINT_COLOR = (0.85, 0.35, 0.08)
LINK_WIDTH = 0.09  # by the length of the link
LINK_WAIST = 0.18  # where the octahedron is widest, as a fraction of the way from parent to child
JOINT_RATIO = 0.014  # radius of the mark of a joint, by the size of the skeleton
_FACES = 8  # of an octahedron


class SkeletonScene:
    """A model's skeleton as octahedra, thick at the parent, with a mark at each joint.

    All calls belong on the context's thread. It keeps no reference to the model.
    """

    def __init__(
        self, context: moderngl.Context, parents: NDArray[np.int32], rest: NDArray[np.float32]
    ) -> None:
        """`parents` are (J,) int32, `rest` the positions (J, 3) of the joints at rest, in scene space."""
        self._context = context
        self.uploads = Uploads(context)
        self._parents = parents
        self._size = float((rest.max(axis=0) - rest.min(axis=0)).max()) if len(rest) else 0.0
        self._program = programs(context).get("plain.vert", "lit.frag")
        self._white = white_texture(self.uploads)
        # Two octahedra per joint at most, position, normal and color per corner.
        self._buffer = context.buffer(reserve=max(len(parents), 1) * 2 * _FACES * 3 * 36, dynamic=True)
        self._array = self._vertex_array(self._program)

    def draw(self, drawing: Drawing) -> None:
        """Draw the skeleton with the joints at `figure.numbers`, (J, 3) in scene space, then the ground."""
        count = self._send(drawing.figure)
        if count:
            drawing.view.set_uniforms(self._program)
            set_surface(self._program, Surface(base_color=(1.0, 1.0, 1.0, 1.0)))
            set_wrap(self._program, self._white, ("repeat", "repeat"))
            self._program["base_texture"] = 0
            self._white.use(0)
            self._context.enable_only(moderngl.DEPTH_TEST)
            self._array.render(moderngl.TRIANGLES, count)
        if drawing.ground is not None:
            drawing.ground()

    def stamp(self, figure: Figure, paint: Paint, prepare: Prepare) -> None:
        """Draw all octahedra in one call with other shaders, in the current state of OpenGL."""
        program = programs(self._context).get(
            "plain.vert", paint.fragment, geometry=paint.geometry, defines=paint.defines
        )
        prepare(program)
        count = self._send(figure)
        if count:
            self._vertex_array(program).render(moderngl.TRIANGLES, count)

    def _send(self, figure: Figure) -> int:
        """Send the octahedra of a figure, and return the number of their corners."""
        assert isinstance(figure, Posed)
        corners = skeleton_corners(figure.numbers, self._parents, self._size)
        if len(corners):
            self.uploads.refill(self._buffer, corners)
        return len(corners)

    def _vertex_array(self, program: moderngl.Program) -> moderngl.VertexArray:
        content = [(self._buffer, "3f 3f 3f", "in_position", "in_normal", "in_color")]
        return self._context.vertex_array(program, content, skip_errors=True)

    def number_faces(self, figure: Figure, view: View, texturing: Texturing) -> None:
        """Draw the numbers of the triangles."""

        def prepare(program: moderngl.Program) -> None:
            view.set_projection(program)
            set_surface(program, Surface())
            set_wrap(program, self._white, ("repeat", "repeat"))
            program["base_texture"] = program["first_face"] = 0

        self._white.use(0)
        self._context.enable_only(moderngl.DEPTH_TEST)
        self.stamp(figure, FACE_NUMBERS, prepare)

    def facets(self, model: Model, figure: Figure) -> Facets:
        """The triangles of a figure. A link belongs to the joint at its thick end, which moves it."""
        return loose_facets(self._ends(figure)[0])

    def vertices(self, figure: Figure) -> Vertices:
        """The corners of a figure's triangles."""
        assert isinstance(figure, Posed)
        corners = skeleton_corners(figure.numbers, self._parents, self._size)
        return Vertices(corners[:, :3], corners[:, 3:6])

    def moved(self, figure: Figure, then: Figure) -> NDArray[np.float32]:
        """The corners of a figure moved with the joints: those of a link by where on the link they are."""
        assert isinstance(figure, Posed) and isinstance(then, Posed)
        tails, heads, fraction = self._ends(figure)
        moves = then.numbers - figure.numbers
        moved = self.vertices(figure).positions + (1 - fraction) * moves[tails] + fraction * moves[heads]
        return moved.astype(np.float32)

    def _ends(self, figure: Figure) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """Of each corner of a figure: the two joints of its link (N,), and its fraction of the way (N, 1)."""
        assert isinstance(figure, Posed)
        joints = np.asarray(figure.numbers, np.float64).reshape(-1, 3)
        children = _links(joints, self._parents, self._size)
        marks = np.arange(len(joints), dtype=np.int32)
        tails = np.concatenate([self._parents[children], marks]).repeat(_FACES * 3)
        heads = np.concatenate([children.astype(np.int32), marks]).repeat(_FACES * 3)
        pattern = np.array([LINK_WAIST, LINK_WAIST, 1.0, LINK_WAIST, LINK_WAIST, 0.0], np.float32)
        fraction = np.tile(pattern, len(tails) // len(pattern))
        return tails, heads, fraction[:, None]


def _links(joints: NDArray[np.float64], parents: NDArray[np.int32], size: float) -> NDArray[np.intp]:
    """The joints that have a link to their parent: those at another position than the parent."""
    children = np.flatnonzero(parents >= 0)
    lengths = np.linalg.norm(joints[children] - joints[parents[children]], axis=1)
    linked: NDArray[np.intp] = children[lengths > 1e-6 * size]
    return linked


def skeleton_corners(joints: NDArray[Any], parents: NDArray[np.int32], size: float) -> NDArray[np.float32]:
    """Triangles of a skeleton, (N, 9) float32: position, normal and color of three corners per face.

    `joints` (J, 3) are the posed joints, `size` the skeleton's largest extent at rest.
    """
    joints = np.asarray(joints, np.float64).reshape(-1, 3)
    if not len(joints):
        return np.zeros((0, 9), np.float32)
    children = _links(joints, parents, size)
    tails, heads = joints[parents[children]], joints[children]
    widths = np.linalg.norm(heads - tails, axis=1) * LINK_WIDTH
    links = _octahedra(tails, heads, widths, LINK_WAIST, LINK_COLOR)
    radius = np.array([0.0, 0.0, (size or 1.0) * JOINT_RATIO])
    marks = _octahedra(joints - radius, joints + radius, np.full(len(joints), radius[2]), 0.5, JOINT_COLOR)
    return np.concatenate([links, marks])


def _octahedra(
    tails: NDArray[np.float64],
    heads: NDArray[np.float64],
    widths: NDArray[np.float64],
    waist: float,
    color: tuple[float, float, float],
) -> NDArray[np.float32]:
    """Octahedra (N) from tails to heads, (N * 24, 9) float32, wound counterclockwise seen from outside."""
    axis = heads - tails
    # A direction across the axis: its cross product with the coordinate axis that is farthest from it.
    across = np.cross(axis, np.eye(3)[np.abs(axis).argmin(axis=1)])
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    beside = np.cross(axis, across)
    beside /= np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), 1e-300)
    middle = tails + waist * axis
    width = widths[:, None]
    ring = [middle + width * side for side in (across, beside, -across, -beside)]
    faces = []
    for i in range(4):
        # across, beside and axis are right-handed, so this order faces outwards.
        faces.append(np.stack([ring[i], ring[(i + 1) % 4], heads], axis=1))
        faces.append(np.stack([ring[(i + 1) % 4], ring[i], tails], axis=1))
    corners = np.stack(faces, axis=1).reshape(-1, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    result = np.empty((len(corners), 3, 9), np.float32)
    result[..., :3] = corners
    result[..., 3:6] = normals[:, None]
    result[..., 6:] = color
    return result.reshape(-1, 9)
