"""The joints of SMPL, SMPL-H and SMPL-X, and a stick figure that has them.

The body models themselves may not be passed on, so the figure has proportions of its own, which are roughly
anybody's. Arms, hands, feet and shoulders are close to the segment lengths of Drillis and Contini (Body
segment parameters, 1966) as D. Winter gives them in Biomechanics and Motor Control of Human Movement, figure
4.1. Legs are those times 0.96, with a pelvis that stands at 0.555 of the height. Joints of the trunk, the
face and the fingers are estimates. Rotations do not depend on any of these.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..posing.kinematics import quaternion_product, rotated

if TYPE_CHECKING:
    from ..model import Model

#: The joints of the body, in order: name, parent, and position as a fraction of the height. The figure stands
#: on y = 0 with its arms along x, facing +Z; its left is +X.
_BODY = (
    ("pelvis", "", (0.0, 0.555, 0.0)),
    ("left_hip", "pelvis", (0.05, 0.507, 0.0)),
    ("right_hip", "pelvis", (-0.05, 0.507, 0.0)),
    ("spine1", "pelvis", (0.0, 0.615, -0.012)),
    ("left_knee", "left_hip", (0.05, 0.272, 0.004)),
    ("right_knee", "right_hip", (-0.05, 0.272, 0.004)),
    ("spine2", "spine1", (0.0, 0.69, -0.01)),
    ("left_ankle", "left_knee", (0.05, 0.037, -0.015)),
    ("right_ankle", "right_knee", (-0.05, 0.037, -0.015)),
    ("spine3", "spine2", (0.0, 0.725, 0.0)),
    ("left_foot", "left_ankle", (0.055, 0.012, 0.06)),
    ("right_foot", "right_ankle", (-0.055, 0.012, 0.06)),
    ("neck", "spine3", (0.0, 0.845, -0.01)),
    ("left_collar", "spine3", (0.045, 0.795, -0.008)),
    ("right_collar", "spine3", (-0.045, 0.795, -0.008)),
    ("head", "neck", (0.0, 0.895, 0.01)),
    ("left_shoulder", "left_collar", (0.108, 0.815, -0.015)),
    ("right_shoulder", "right_collar", (-0.108, 0.815, -0.015)),
    ("left_elbow", "left_shoulder", (0.265, 0.815, -0.015)),
    ("right_elbow", "right_shoulder", (-0.265, 0.815, -0.015)),
    ("left_wrist", "left_elbow", (0.411, 0.815, -0.015)),
    ("right_wrist", "right_elbow", (-0.411, 0.815, -0.015)),
)
_HANDS = (
    ("left_hand", "left_wrist", (0.461, 0.815, -0.015)),
    ("right_hand", "right_wrist", (-0.461, 0.815, -0.015)),
)
_FACE = (
    ("jaw", "head", (0.0, 0.89, 0.015)),
    ("left_eye_smplhf", "head", (0.018, 0.936, 0.05)),
    ("right_eye_smplhf", "head", (-0.018, 0.936, 0.05)),
)
#: The first joint of each finger relative to the wrist, and the step to each further one, on the left.
_FINGERS = {
    "index": ((0.056, 0.0, 0.014), (0.018, 0.0, 0.001)),
    "middle": ((0.058, 0.0, 0.001), (0.019, 0.0, 0.0)),
    "pinky": ((0.048, 0.0, -0.024), (0.012, 0.0, -0.003)),
    "ring": ((0.055, 0.0, -0.011), (0.018, 0.0, -0.001)),
    "thumb": ((0.016, -0.005, 0.016), (0.015, -0.002, 0.012)),
}


def _finger_joints() -> tuple[tuple[str, str, tuple[float, ...]], ...]:
    """Three joints of each finger, in the order of SMPL-H: all of the left hand, then all of the right."""
    wrists = {name: np.array(position) for name, _, position in _BODY}
    joints = []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for finger, (base, step) in _FINGERS.items():
            parent = f"{side}_wrist"
            for number in range(3):
                offset = (np.array(base) + number * np.array(step)) * (sign, 1.0, 1.0)
                name = f"{side}_{finger}{number + 1}"
                joints.append((name, parent, tuple((wrists[f"{side}_wrist"] + offset).tolist())))
                parent = name
    return tuple(joints)


#: The joints of a body model by what the parameters rotate, in the order of the parameters.
GROUPS = {"body": _BODY, "hands": _HANDS, "face": _FACE, "fingers": _finger_joints()}

#: The pelvis of the body models in their zero pose, as a fraction of the height. It is added to the
#: translation. SMPL-X has its origin higher in the chest than SMPL and SMPL-H.
_PELVIS = {False: (0.0, -0.13, 0.017), True: (0.0, -0.205, 0.007)}

_AVERAGE_HEIGHT = 1.7
_HEIGHTS = (1.2, 2.2)  # an estimate outside of these is not used: the ground is not at 0
_MAX_POSES = 512  # from which the height is estimated
_FLESH = 0.05  # of the height: how far the ground is at least from a joint that has no sole


@dataclass(frozen=True)
class Body:
    """A figure with J joints in meters, all of whose rest rotations are the identity."""

    names: tuple[str, ...]
    parents: Array  #: (J,) int
    positions: Array  #: (J,3), standing on y = 0
    pelvis: Array  #: (3,): what is added to a translation to get the pelvis


def unit_body(groups: tuple[str, ...], is_smplx: bool) -> Body:
    """The figure of height 1 with the joints of these groups."""
    rows = [row for group in groups for row in GROUPS[group]]
    names = tuple(name for name, _, _ in rows)
    parents = np.array([names.index(parent) if parent else -1 for _, parent, _ in rows])
    return Body(names, parents, np.array([place for _, _, place in rows]), np.array(_PELVIS[is_smplx]))


def scaled(body: Body, height: float) -> Body:
    """A figure of another height."""
    return Body(body.names, body.parents, height * body.positions, height * body.pelvis)


def with_joints(body: Body, joints: Array) -> Body:
    """The figure whose joints lie at (J,3) in the zero pose of a body model, moved to stand on y = 0."""
    height = np.ptp(joints[:, 1]) / np.ptp(body.positions[:, 1])
    lowest = height * body.positions[:, 1].min() - joints[:, 1].min()
    return Body(body.names, body.parents, joints + [0.0, lowest, 0.0], joints[0])


def estimated_height(body: Body, rotations: Array, translation: Array, up: Array) -> float:
    """The height in meters with which the figure's lowest joint is on the ground, in most frames.

    rotations (N,J,4) are those of the joints in a scene with +Y up, and translation (N,3) that of the file,
    in which (3,) is up. For a pelvis at h p above the translation and a lowest point at h l below the pelvis,
    the height of the translation above the ground is h (l - p).
    """
    chosen = np.unique(np.linspace(0, len(rotations) - 1, _MAX_POSES).astype(int))
    places = joint_places(body, rotations[chosen])
    soles = np.minimum(body.positions[:, 1], _FLESH)
    depth = (soles - places[..., 1]).max(axis=1) - up @ body.pelvis
    heights = (translation[chosen] @ up)[depth > 0.1] / depth[depth > 0.1]
    height = float(np.median(heights)) if len(heights) else _AVERAGE_HEIGHT
    return height if _HEIGHTS[0] <= height <= _HEIGHTS[1] else _AVERAGE_HEIGHT


def joint_places(body: Body, rotations: Array) -> Array:
    """(N,J,3): the joints relative to the pelvis, for local rotations (N,J,4)."""
    turned, places = rotations.copy(), np.zeros((*rotations.shape[:2], 3))
    for joint, parent in enumerate(body.parents):
        if parent >= 0:
            offset = np.broadcast_to(body.positions[joint] - body.positions[parent], places[:, 0].shape)
            places[:, joint] = places[:, parent] + rotated(turned[:, parent], offset)
            turned[:, joint] = quaternion_product(turned[:, parent], rotations[:, joint])
    return places


def stick_figure(body: Body) -> "Model":
    """A model without vertices that has the joints of a figure, in meters."""
    from ..model import Model
    from ..models.saving import with_unit

    rest = np.tile(np.eye(4), (len(body.names), 1, 1))
    rest[:, :3, 3] = body.positions
    rest[1:, :3, 3] -= body.positions[body.parents[1:]]
    figure = Model.from_arrays(
        body.names,
        body.parents,
        rest,
        positions=np.zeros((0, 3)),
        faces=np.zeros((0, 3), int),
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
    )
    return with_unit(figure, 1.0)
