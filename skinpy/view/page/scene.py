"""The content of a page: a model and its motions as numbers and text for web/*.js."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skinpy.clip import Clip
from skinpy.clips.looks import material_values, visible_submeshes
from skinpy.kinds import UVAnimation, VertexAnimation
from skinpy.kinds.sampling import frame_times
from skinpy.models.drawn import changing_materials, changing_submeshes

from ...render import Floor
from ...render.camera import front_vector, up_vector
from ...render.gpu.shader import WEB_PROLOGUE, Source
from ...render.moment import Moment
from ...render.posing import Poser
from ...render.scene import shadow
from ...render.scene import skeleton as octahedra
from ...render.scene.floor import disc
from ...render.scene.geometry import Draw, morph_table, read_surfaces, sort_faces
from ...render.scene.ground import Ground, velocity_of
from ...render.scene.texturing import Texturing, named_animations
from ...render.scene.view import LIGHT_FROM, LIGHTS
from .arrays import packed, packed_image
from .boxes import Boxes

if TYPE_CHECKING:
    from skinpy.model import Model

    from ...render.posing import Motion
    from ...render.scene.texturing import UVLike

_SHADERS = (
    *("floor.vert", "lit.frag", "present.vert", "present.frag"),
    *("shadow.vert", "shadow.frag", "shadow_blur.frag", "shadow_cast.frag"),
)
_ALPHAS = {"opaque": 0, "mask": 1, "blend": 2}


class Scene:
    """Makes the content of a page from a model and its motions."""

    def __init__(
        self,
        model: Model,
        motions: Sequence[Motion],
        *,
        fps: float,
        limit: int,
        texture_size: int,
        uv: UVLike,
        floor: Floor,
    ) -> None:
        """`motions` are Clips and VertexAnimations of the model; None, or no motion, is the rest pose.

        Raises ValueError if the frames take more than `limit` bytes; KeyError or TypeError for `uv`.
        """
        self._model = model
        self._motions: tuple[Motion, ...] = tuple(motions) or (None,)
        self._fps = fps
        self._texture_size = texture_size
        self._uv = named_animations(uv, model)
        self._poser = Poser(model)
        # The page evaluates the floor's UV animation itself.
        self._ground = Ground(self._poser, dataclasses.replace(floor, uv=None))
        self._floor = floor
        self._check_size(limit)
        # The baked frames of each clip; one, of the rest pose, for a vertex animation and without a clip.
        self._times = [self._clip_times(motion) for motion in self._motions]
        self._boxes = Boxes(self._poser, sum(map(len, self._times)))

    def content(self) -> dict[str, Any]:
        """The content, ready for JSON."""
        model = self._model
        return {
            "up": up_vector(model.up).tolist(),
            "front": front_vector(model.up).tolist(),
            "size": float(np.ptp(self._extent(None), axis=0).max()),
            "clips": self._clips(),
            "joints": self._joints(),
            "mesh": self._mesh() if self._poser.has_mesh else None,
            "floor": self._floor_look(),
            "lights": LIGHTS | {"from": LIGHT_FROM},
            "uv": [_uv_numbers(animation) for animation in self._uv.values()],
            "shaders": self._shaders(),
        }

    # ---- frames -----------------------------------------------------------------------------------

    def _clip_times(self, motion: Motion) -> NDArray[np.float64]:
        """Times of the baked frames in seconds; a motion that is not a clip has one frame, the rest pose."""
        return frame_times(motion.duration, self._fps) if isinstance(motion, Clip) else np.zeros(1)

    def _check_size(self, limit: int) -> None:
        model = self._model
        frame = 48 * len(model.skin.joints) + 12 * len(model.skeleton.parents) + 4 * len(model.targets)
        total = 0.0
        for motion in self._motions:
            if isinstance(motion, VertexAnimation):
                total += motion.nbytes
            else:
                total += frame * ((motion.duration if motion else 0.0) * self._fps + 1)
        if total > limit:
            raise ValueError(
                f"clips take {total / 1e6:g} MB of frames at {self._fps:g} a second; limit is "
                f"{limit / 1e6:g} MB. Expected fewer or shorter clips (trim), a lower fps, key frames "
                "(to_keyed) for vertex animations, or a higher limit"
            )

    def _baked(self, pose: Any) -> NDArray[np.float32]:
        """The arrays that `pose(clip, times)` returns for all clips, one after another, float32."""
        rows = [
            pose(motion if isinstance(motion, Clip) else None, times)
            for motion, times in zip(self._motions, self._times, strict=True)
        ]
        return np.concatenate(rows).astype(np.float32)

    def _extent(self, motion: Motion) -> NDArray[np.float64]:
        """(2, 3): corners of the box around the whole motion; of a unit box if there is nothing to see."""
        extent = self._poser.facts.extent(motion)
        return extent if np.isfinite(extent).all() else np.array([[-0.5] * 3, [0.5] * 3])

    def _clips(self) -> list[dict[str, Any]]:
        clips, row = [], 0
        for motion, times in zip(self._motions, self._times, strict=True):
            clip = {
                "name": "rest pose" if motion is None else motion.name,
                "kind": "rest" if motion is None else motion.kind,
                "duration": 0.0 if motion is None else motion.duration,
                "fps": self._fps,
                "row": row,
                "frames": len(times),
                "extent": self._extent(motion).tolist(),
                "floor": self._floor_place(motion),
                "boxes": packed(self._boxes.of(motion, times)),
            }
            if isinstance(motion, VertexAnimation):
                clip["stored"] = _stored_frames(motion)
            clips.append(clip)
            row += len(times)
        return clips

    def _joints(self) -> dict[str, Any]:
        model = self._model
        return {
            "names": list(model.skeleton.names),
            "parents": model.skeleton.parents.tolist(),
            "positions": packed(
                self._baked(lambda clip, times: model.joint_positions(clip, times, loop="clamp"))
            ),
            "style": {
                "linkColor": octahedra.LINK_COLOR,
                "jointColor": octahedra.JOINT_COLOR,
                "linkWidth": octahedra.LINK_WIDTH,
                "linkWaist": octahedra.LINK_WAIST,
                "jointShare": octahedra.JOINT_RATIO,
            },
        }

    # ---- the mesh ---------------------------------------------------------------------------------

    def _mesh(self) -> dict[str, Any]:
        model = self._model
        read = functools.partial(packed_image, largest=self._texture_size)
        surfaces, images = read_surfaces(model, read, changing_materials(model))
        faces, draws = sort_faces(model, surfaces, changing_submeshes(model))
        looks = self._looks() if any(map(_changes, draws)) else []
        vertices = model.mesh.interleaved
        streams = {name: np.ascontiguousarray(vertices[name]) for name in vertices.dtype.names or ()}
        streams.pop("tangent", None)  # which no shader of the page reads
        if len(model.skin.joints) <= 256:
            streams["slots"] = streams["slots"].astype(np.uint8)
        # 65535 is the index that restarts a primitive.
        index = np.uint16 if len(vertices) < 65536 else np.uint32
        palettes = self._baked(lambda clip, times: model.palette(clip, times, affine=True, loop="clamp"))
        return {
            "slots": len(model.skin.joints),
            "streams": {name: packed(stream) for name, stream in streams.items()},
            "faces": packed(faces.astype(index)),
            "draws": [self._draw(draw, looks) for draw in draws if draw.face_count],
            "images": images,
            "palettes": packed(palettes.reshape(len(palettes), -1)),
            "morph": self._morph(),
        }

    def _looks(self) -> list[tuple[NDArray[np.bool_] | None, Texturing]]:
        """For each baked frame, which submeshes are drawn, and what the clip makes of materials."""
        looks: list[tuple[NDArray[np.bool_] | None, Texturing]] = []
        for motion, times in zip(self._motions, self._times, strict=True):
            for time in times.tolist():
                if isinstance(motion, Clip):
                    values = material_values(motion, time, "clamp")
                    shown = visible_submeshes(self._model, motion, time, "clamp")
                    looks.append((shown, Texturing(values=values)))
                else:
                    looks.append((None, Texturing()))
        return looks

    def _draw(
        self, draw: Draw, looks: Sequence[tuple[NDArray[np.bool_] | None, Texturing]]
    ) -> dict[str, Any]:
        surface = draw.surface
        names: list[str | None] = list(self._uv)
        moved = [name for name in (surface.name, None) if name in names]
        facts: dict[str, Any] = {
            "first": draw.first_face,
            "count": draw.face_count,
            "color": surface.base_color,
            "alpha": _ALPHAS[surface.alpha],
            "cutoff": surface.alpha_cutoff,
            "doubleSided": surface.double_sided,
            "image": surface.image,
            "uvTransform": surface.uv_transform,
            "wrap": surface.wrap,
            "uv": names.index(moved[0]) if moved else None,
        }
        if draw.blended is not None:
            rows = zip(draw.blended.slots.tolist(), draw.blended.moments.tolist(), strict=True)
            facts["moments"] = [[slot, *moment] for slot, moment in rows]
            facts["vertices"] = [draw.blended.vertices.start, draw.blended.vertices.stop]
        if _changes(draw):
            facts["looks"] = packed(np.array([_look(draw, *look) for look in looks], np.float32))
        return facts

    def _morph(self) -> dict[str, Any] | None:
        table = morph_table(self._model)
        if table is None:
            return None
        model = self._model
        weights = self._baked(lambda clip, times: model.pose(clip, times, loop="clamp").morph_weights)
        return {
            "targets": table.targets,
            "runs": packed(table.runs),
            "deltas": packed(table.deltas),
            "normals": None if table.normals is None else packed(table.normals),
            "weights": packed(weights),
        }

    # ---- floor and shaders ------------------------------------------------------------------------

    def _floor_place(self, motion: Motion) -> dict[str, Any] | None:
        """The position of the floor at the start of a motion, and how far its texture moves per second."""
        if not np.isfinite(self._poser.facts.extent(motion)).all():
            return None
        ground = self._ground.plane(Moment(motion))
        velocity = self._floor.velocity(front_vector(self._model.up))
        if velocity is None:
            velocity = np.zeros(3) if motion is None else velocity_of(self._model, motion)
        # From scene space to the unit disc, whose axes are those of the texture. Whole repetitions of the
        # texture are kept, since a UV animation may rotate it.
        axes = np.stack([ground.right, ground.near]) / (ground.right @ ground.right)
        to_texture = ground.uv[:2, :2] @ axes
        return {
            "center": ground.center.tolist(),
            "right": ground.right.tolist(),
            "near": ground.near.tolist(),
            "uv": np.column_stack([ground.uv[:2, :2], to_texture @ ground.center]).tolist(),
            "scroll": (to_texture @ velocity).tolist(),
        }

    def _floor_look(self) -> dict[str, Any]:
        animation = self._floor.uv
        return {
            "image": packed(self._floor.image),
            "disc": packed(disc()),
            "uv": None if animation is None else _uv_numbers(animation),
            "shadow": {
                "strength": float(self._floor.shadow),
                "texels": shadow.TEXELS,
                "fades": shadow.FADES,
                "deviations": shadow.DEVIATIONS,
                "step": shadow.STEP,
                "margin": shadow.MARGIN,
            },
        }

    def _shaders(self) -> dict[str, str]:
        shaders = {name: _web_source(name, {"TOP_FIRST": 0}) for name in _SHADERS}
        if not self._poser.has_mesh:
            return shaders | {"plain.vert": _web_source("plain.vert")}
        streams = self._model.mesh.interleaved.dtype
        defines: dict[str, int | str] = {
            "PALETTE": "palette_baked.glsl",
            "INFLUENCES": streams["slots"].shape[0],
            "HAS_COLOR": int("color" in (streams.names or ())),
            "INSTANCED": 0,
        }
        if any(not isinstance(motion, VertexAnimation) for motion in self._motions):
            shaders["posed.vert"] = _web_source("skin.vert", defines | self._shape())
        if any(isinstance(motion, VertexAnimation) for motion in self._motions):
            stored: dict[str, int | str] = {"SHAPE": "shape_frames.glsl", "SKINNED": 0}
            shaders["stored.vert"] = _web_source("skin.vert", defines | stored)
        return shaders

    def _shape(self) -> dict[str, int | str]:
        targets = self._model.targets
        if not targets:
            return {"SHAPE": "shape_still.glsl", "SKINNED": 1}
        moved = any(target.normals is not None for target in targets)
        return {"SHAPE": "shape_morph.glsl", "SKINNED": 1, "MORPH_NORMALS": int(moved)}


def _web_source(name: str, defines: dict[str, int | str] | None = None) -> str:
    return Source(name, defines or {}, WEB_PROLOGUE).text


def _stored_frames(animation: VertexAnimation) -> dict[str, Any]:
    return {
        "times": animation.times.tolist(),
        "step": animation.interpolation == "step",
        "positions": packed(animation.frames),
        "normals": packed(animation.normals),
    }


def _changes(draw: Draw) -> bool:
    """Whether clips show and hide a draw, or change its surface."""
    return draw.submesh is not None or draw.surface.material is not None


def _look(draw: Draw, shown: NDArray[np.bool_] | None, texturing: Texturing) -> list[float]:
    """A draw in one frame, as web/body.js reads it: 1 if it is drawn, color, cutoff, texture transform."""
    surface = texturing.look(draw.surface)
    return [draw.is_shown(shown), *surface.base_color, surface.alpha_cutoff, *surface.uv_transform]


def _uv_numbers(animation: UVAnimation) -> dict[str, Any]:
    """A UV animation as web/motion.js evaluates it."""
    return {
        "scroll": animation.scroll,
        "rotate": animation.rotate,
        "scale": animation._scale.tolist(),
        "pivot": animation._pivot.tolist(),
        "wrap": animation.wrap,
        "step": animation._interpolation == "step",
        "times": animation._times.tolist(),
        "keys": {name: rows.tolist() for name, rows in animation._keys.items()},
    }
