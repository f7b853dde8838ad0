"""The arrays of a model for the GPU, computed with NumPy before any OpenGL call."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from skinpy._images import Album
from skinpy.models.drawn import changing_materials, changing_submeshes, is_drawn

if TYPE_CHECKING:
    from skinpy.assets import Submesh, Texture
    from skinpy.model import Model

T = TypeVar("T")
Wrap: TypeAlias = tuple[str, str]  # "repeat", "clamp" or "mirror" along u and v
Content: TypeAlias = tuple[str, int, int, bytes]  # all of a texture but its name

_WRAPS = {"repeat": "repeat", "clamp_to_edge": "clamp", "mirrored_repeat": "mirror"}
# The vertex attribute of skin.vert for each field of `mesh.interleaved`, with four components at most.
_ATTRIBUTES = {
    "position": "in_position",
    "normal": "in_normal",
    "uv": "in_uv",
    "color": "in_color",
    "tangent": "in_tangent",
}


@dataclass(frozen=True)
class Surface:
    """The look of a material: linear straight RGBA, the index of its image or None, and its sides.

    `uv_transform` is the 3x3 matrix of the material, row by row. `wrap` are the modes of its image along u
    and v. `material` is its index if a clip animates
    it, else None.
    """

    name: str = ""
    base_color: tuple[float, float, float, float] = (0.6, 0.6, 0.6, 1.0)
    image: int | None = None
    alpha: str = "opaque"
    alpha_cutoff: float = 0.5
    double_sided: bool = True
    uv_transform: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    wrap: Wrap = ("repeat", "repeat")
    filters: tuple[str | None, str | None] = (None, None)  # where the image is smaller, and larger
    material: int | None = None


@dataclass(frozen=True)
class Blended:
    """The vertices of blended faces, whose center decides the order in which faces are drawn.

    When posed, the center is the sum of palette[slots[n]] @ moments[n].
    """

    vertices: range
    slots: NDArray[np.uint16]  # (N,): the slots that move the vertices; a model may have far more
    moments: NDArray[np.float64]  # (N, 4)

    def posed_center(self, palette: NDArray[np.float32]) -> NDArray[np.float64]:
        """The center (3,) float64 of the vertices posed by a palette (S, 3, 4), in scene space."""
        center: NDArray[np.float64] = np.einsum("nij,nj->i", palette[self.slots], self.moments)
        return center

    def stored_center(self, positions: NDArray[Any]) -> NDArray[np.float64]:
        """The center (3,) float64 of the vertices at `positions` (V, 3)."""
        center: NDArray[np.float64] = positions[self.vertices.start : self.vertices.stop].mean(
            axis=0, dtype=np.float64
        )
        return center


@dataclass(frozen=True)
class Draw:
    """A range of faces with one surface. `blended` is set for blended faces alone.

    `order` has the ranges of faces in the model that follow each other here. `submesh` is the index of their
    submesh if a clip shows and hides it, else None; `visible` says whether it is drawn at rest.
    """

    first_face: int
    face_count: int
    surface: Surface
    order: tuple[range, ...]
    blended: Blended | None = None
    submesh: int | None = None
    visible: bool = True

    def is_shown(self, shown: NDArray[np.bool_] | None) -> bool:
        """Whether it is drawn, by `Posed.shown`."""
        return self.visible if shown is None or self.submesh is None else bool(shown[self.submesh])


@dataclass(frozen=True)
class MorphTable:
    """Morph targets, sorted by vertex. An entry is what one target adds to one vertex."""

    targets: int
    runs: NDArray[np.uint32]  # (V, 2): first entry and number of entries
    deltas: NDArray[np.float32]  # (E, 4): added to the position, then the index of the target
    normals: NDArray[np.float32] | None  # (E, 3): added to the normal; None if no target has normals


@dataclass(frozen=True)
class Geometry:
    """The arrays and ranges to upload for a model that has a mesh."""

    vertices: NDArray[Any]  # (V,) structured, `mesh.interleaved`
    faces: NDArray[np.uint32]  # (F, 3), sorted by surface
    draws: tuple[Draw, ...]  # opaque ones, then blended ones
    images: tuple[NDArray[np.uint8], ...]  # (h, w, 4) sRGB, row 0 on top
    slots: int
    drawn: tuple[range, ...]  # the vertices of submeshes that are not hidden at rest
    submeshes: tuple[range, ...]  # the vertices of each submesh
    morph: MorphTable | None = None

    @property
    def changes(self) -> bool:
        """Whether clips show and hide faces."""
        return any(draw.submesh is not None for draw in self.draws)

    @property
    def face_counts(self) -> list[int]:
        """The number of faces of each draw."""
        return [draw.face_count for draw in self.draws]

    def drawn_ranges(self, shown: NDArray[np.bool_] | None) -> tuple[range, ...]:
        """The vertices that are drawn, by `Posed.shown`."""
        if shown is None:
            return self.drawn
        mask = np.zeros(len(self.vertices), np.bool_)
        for one, is_shown in zip(self.submeshes, shown, strict=True):
            mask[one.start : one.stop] |= is_shown
        return _true_ranges(mask)

    @property
    def influences(self) -> int:
        """Slots per vertex in `vertices`: 4 or 8."""
        return int(self.vertices.dtype["slots"].shape[0])

    @property
    def has_color(self) -> bool:
        """Whether vertices have a color of their own."""
        return "color" in (self.vertices.dtype.names or ())

    @property
    def face_order(self) -> NDArray[np.intp]:
        """The index in the model of each of `faces`, (F,)."""
        ranges = [one for draw in self.draws for one in draw.order]
        return np.concatenate([np.arange(one.start, one.stop) for one in (range(0), *ranges)])

    def layout(self, used: set[str]) -> tuple[str, list[str]]:
        """moderngl's format of `vertices` and the names of attributes, skipping those not in `used`."""
        tokens, names = [], []
        dtype = self.vertices.dtype
        for field in dtype.names or ():
            for name, token, size in _field_attributes(field, dtype[field]):
                tokens.append(token if name in used else f"{size}x")
                if name in used:
                    names.append(name)
        return " ".join(tokens), names


def _field_attributes(field: str, dtype: np.dtype[Any]) -> list[tuple[str, str, int]]:
    """Attribute name, moderngl format and bytes of each attribute in a field of the vertices."""
    if field in _ATTRIBUTES:
        width = dtype.shape[0]
        return [(_ATTRIBUTES[field], f"{width}f", 4 * width)]
    token, size = ("4u2", 8) if field == "slots" else ("4f", 16)
    return [(f"in_{field}{i}", token, size) for i in range(dtype.shape[0] // 4)]


def geometry(model: Model, *, changes: bool = True) -> Geometry:
    """Sort the model's faces by surface and decode its images.

    With `changes`, what clips do to visibility and materials can be drawn; else all is as at rest.

    An image that cannot be decoded, or exceeds a limit, is left out with a SkinpyWarning. Raises ImportError
    if images need Pillow and it is not installed.
    """
    surfaces, images = read_surfaces(model, Album().add, changing_materials(model) if changes else ())
    faces, draws = sort_faces(model, surfaces, changing_submeshes(model) if changes else None)
    vertices = np.ascontiguousarray(model.mesh.interleaved)
    morph = morph_table(model)
    drawn = _true_ranges(is_drawn(model.mesh))
    parts = tuple(one.vertex_range for one in model.mesh.submeshes)
    return Geometry(vertices, faces, draws, tuple(images), len(model.skin.joints), drawn, parts, morph)


def _true_ranges(mask: NDArray[np.bool_]) -> tuple[range, ...]:
    """The longest ranges of a mask (N,) that are True throughout."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return tuple(range(start, stop) for start, stop in ends.reshape(-1, 2).tolist())


def sort_faces(
    model: Model, surfaces: Sequence[Surface], changing: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.uint32], tuple[Draw, ...]]:
    """The faces (F, 3) of a model sorted by surface, and their draws: opaque faces, then blended ones.

    Faces of hidden submeshes are left out, except those that are `changing` (number of submeshes,).
    `surfaces` are those of the materials, in their order.
    """
    opaque: dict[tuple[Surface, int | None], list[Submesh]] = {}
    blended = []
    for number, submesh in enumerate(model.mesh.submeshes):
        toggled = number if changing is not None and changing[number] else None
        if not submesh.visible and toggled is None:
            continue
        surface = Surface() if submesh.material is None else surfaces[submesh.material]
        if surface.alpha == "blend":
            blended.append(((surface, toggled), [submesh]))
        else:
            opaque.setdefault((surface, toggled), []).append(submesh)
    order: list[range] = []
    draws = []
    first = 0
    for (surface, toggled), submeshes in [*opaque.items(), *blended]:
        ranges = tuple(one.face_range for one in submeshes)
        count = sum(map(len, ranges))
        center = None
        if surface.alpha == "blend":
            moved = submeshes[0].vertex_range
            center = Blended(moved, *_moments(model, moved))
        draws.append(Draw(first, count, surface, ranges, center, toggled, submeshes[0].visible))
        order += ranges
        first += count
    faces = [model.mesh.faces[r.start : r.stop] for r in order]
    return np.concatenate(faces) if faces else np.zeros((0, 3), np.uint32), tuple(draws)


def face_edges(faces: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The edges (E, 2) of faces (F, 3), each once, with its lower vertex first."""
    ends = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1).astype(np.uint64)
    keys = np.unique(ends[:, 0] << np.uint64(32) | ends[:, 1])
    return np.stack([keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32)


def morph_table(model: Model) -> MorphTable | None:
    """The morph targets of a model by vertex, at each vertex in their order; None for no targets."""
    targets = model.targets
    if not targets:
        return None
    sizes = [len(target.vertices) for target in targets]
    vertices = np.concatenate([target.vertices for target in targets])
    order = np.argsort(vertices, kind="stable")
    deltas = np.empty((len(vertices), 4), np.float32)
    deltas[:, :3] = np.concatenate([target.positions for target in targets])
    deltas[:, 3] = np.repeat(np.arange(len(targets)), sizes)
    normals = None
    if any(target.normals is not None for target in targets):
        added = [t.positions * np.float32(0) if t.normals is None else t.normals for t in targets]
        normals = np.concatenate(added)[order].astype(np.float32)
    runs = np.zeros((len(model.mesh.positions), 2), np.uint32)
    runs[:, 1] = np.bincount(vertices, minlength=len(runs))
    runs[1:, 0] = np.cumsum(runs[:-1, 1])
    return MorphTable(len(targets), runs, deltas[order], normals)


def _content(texture: Texture) -> Content:
    return texture.format, texture.width, texture.height, hashlib.sha256(texture.data).digest()


def read_surfaces(
    model: Model, read: Callable[[Texture], T | None], changing: Container[int] = ()
) -> tuple[list[Surface], list[T]]:
    """The surface of each material, and the images: the results of `read` for the textures in use.

    Each texture is read once. One for which `read` returns None is left out. Textures with the same content
    share an image. `changing` are the indices of materials that clips animate.
    """
    images: list[T] = []
    numbers: dict[int, int | None] = {}
    same: dict[Content, int | None] = {}
    surfaces = []
    for number, material in enumerate(model.materials):
        texture = material.texture
        if texture is not None and id(texture) not in numbers:
            content = _content(texture)
            if content not in same:
                image = read(texture)
                same[content] = None if image is None else len(images)
                images += [] if image is None else [image]
            numbers[id(texture)] = same[content]
        red, green, blue, alpha = (float(part) for part in material.base_color)
        surfaces.append(
            Surface(
                material.name,
                (red, green, blue, alpha),
                None if texture is None else numbers[id(texture)],
                material.alpha,
                float(material.alpha_cutoff),
                bool(material.double_sided),
                tuple(np.ravel(material.uv_transform).tolist()),
                (_WRAPS[material.wrap[0]], _WRAPS[material.wrap[1]]),
                (material.min_filter, material.mag_filter),
                number if number in changing else None,
            )
        )
    return surfaces, images


def _moments(model: Model, vertices: range) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """The slots (N,) that move vertices, and their moments, (N, 4) float64.

    A moment is the sum of (x, y, z, 1) of the vertices, weighted by the slot, by the number of vertices.
    """
    chosen = slice(vertices.start, vertices.stop)
    points = np.ones((len(vertices), 4))
    points[:, :3] = model.mesh.positions[chosen]
    weights = model.mesh.weights[chosen]
    slots, rows = np.unique(model.mesh.slots[chosen], return_inverse=True)
    moments = np.zeros((len(slots), 4))
    for weight, row in zip(weights.T, rows.reshape(weights.shape).T, strict=True):
        np.add.at(moments, row, points * weight[:, None])
    moving = moments.any(axis=1)  # the others have no weight; they fill the row of a vertex
    return slots[moving], moments[moving] / max(len(vertices), 1)
