"""Clip.from_smpl: the parameters of SMPL, SMPL-H and SMPL-X, such as AMASS has, as a clip of a stick figure.

The rotation of a joint relative to its parent is a rotation vector (axis times angle in radians). Those of a
frame are one row of "poses": 22 joints of the body, then those of hands, face and fingers that the body model
has (GROUPS in smpl_body.py). SMPL-X files also have them part by part. Sources: the loaders of AMASS and of
human_body_prior, and the documentation of smplx.
"""

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import rotation as rotations
from .._arguments import any_array, axis_of, between, brief, floats, opened, positive, text, wrong_type
from .._text import POINTER_REMEDY, is_pointer, printable, quoted, quoted_list
from .._types import Array, PathLike
from ..clip import Channel, Clip
from ..errors import LoadError, SkinpyWarning
from ..files.npz_arrays import npz_names, read_arrays
from ..limits import Limits
from ..models.space import to_y_up
from ..posing.kinematics import quaternion_product, rotated
from .edit import derived
from .evaluate import same_signs
from .smpl_body import Body, estimated_height, scaled, stick_figure, unit_body, with_joints

if TYPE_CHECKING:
    from ..model import Model

Source: TypeAlias = PathLike | Mapping[str, npt.ArrayLike]

#: The groups of joints in a row of "poses", by its width.
_LAYOUTS = {66: ("body",), 72: ("body", "hands"), 156: ("body", "fingers"), 165: ("body", "face", "fingers")}
#: The parts of the parameters: their names here, the names of arrays that hold them, and the widths.
_PARTS: dict[str, tuple[tuple[tuple[str, ...], ...], tuple[int, ...]]] = {
    "root": ((("root_orient",), ("global_orient",)), (3,)),
    "body": ((("pose_body",), ("body_pose",)), (63, 69)),
    "jaw": ((("pose_jaw",), ("jaw_pose",)), (3,)),
    "eyes": ((("pose_eye",), ("leye_pose", "reye_pose")), (6,)),
    "fingers": ((("pose_hand",), ("left_hand_pose", "right_hand_pose")), (90,)),
}
_TRANSLATIONS = ("trans", "transl")
_RATES = ("mocap_framerate", "mocap_frame_rate", "fps")
_KINDS = ("surface_model_type", "model")
_NAMES = frozenset(
    [
        *("poses", *_TRANSLATIONS, *_RATES, *_KINDS),
        *(name for choices, _ in _PARTS.values() for names in choices for name in names),
    ]
)
#: A figure whose spine points along another axis than up, with this cosine on average, causes a warning.
_LYING = 0.8
#: Meters: the heights that a figure may have.
_HEIGHTS = 1e-3, 1e4


@dataclass(frozen=True)
class Parameters:
    """The motion of a file: rotation vectors (N,J,3) of the joints of groups, and translations (N,3)."""

    groups: tuple[str, ...]
    vectors: Array
    translation: Array
    fps: float
    is_smplx: bool


def clip_from_smpl(
    source: Source,
    name: str | None,
    fps: float | None,
    up: str,
    height: float | None,
    joints: npt.ArrayLike | None,
) -> Clip:
    """See Clip.from_smpl."""
    up = axis_of("up", up)
    rate = None if fps is None else positive("fps", fps)
    if height is not None and joints is not None:
        raise ValueError("height and joints are given; expected at most one, since joints have a height")
    if isinstance(source, Mapping):
        title, found = "smpl", _parameters(source, rate, Limits().keys)
    elif not isinstance(source, str | os.PathLike):
        raise wrong_type("source", source, "the path of an .npz file or a mapping of arrays")
    else:
        title = Path(os.fspath(source)).stem
        with opened("source", source) as file:
            try:
                found = _file_parameters(file, str(source), rate, Limits().memory, Limits().keys)
            except (ValueError, TypeError) as error:
                raise LoadError(f"{printable(source)} holds no motion of SMPL: {error}") from None
            except Exception as error:  # zipfile and zlib have exceptions of their own
                raise LoadError(
                    f"{printable(source)} holds no motion of SMPL: it is a damaged .npz file ({error})"
                ) from None
    return _clip(title if name is None else text("name", name), found, up, height, joints)


def is_smpl(names: Iterable[str]) -> bool:
    """Whether arrays of these names are parameters of SMPL."""
    found = set(names)
    return "trans" in found and not found.isdisjoint(("poses", "root_orient"))


def model_from_smpl(file: BinaryIO, max_bytes: int, max_keys: int) -> "Model":
    """The stick figure of a file with +Z up, with its clip; see Clip.from_smpl."""
    path = getattr(file, "name", "")
    title = Path(path).stem if isinstance(path, str) else ""
    found = _file_parameters(file, title, None, max_bytes, max_keys)
    return _clip(title or "smpl", found, "+Z", None, None)._bound_model()


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def _clip(name: str, found: Parameters, up: str, height: float | None, joints: npt.ArrayLike | None) -> Clip:
    """The clip of parameters, bound to its stick figure."""
    turn, upright = to_y_up(up)
    local = rotations.from_rotvec(found.vectors)
    local[:, 0] = quaternion_product(turn, local[:, 0])
    _warn_of_lying(name, local[:, 0], up)
    body = unit_body(found.groups, found.is_smplx)
    if joints is not None:
        body = with_joints(body, floats("joints", joints, (len(body.names), 3), np.float64))
    elif height is not None:
        body = scaled(body, between("height", height, *_HEIGHTS, " meters"))
    else:
        body = scaled(body, estimated_height(body, local, found.translation, upright[1]))
    return _bound(name, body, local, (found.translation + body.pelvis) @ upright.T, found.fps)


def _bound(name: str, body: Body, local: Array, pelvis: Array, fps: float) -> Clip:
    """A clip with local rotations (N,J,4) and positions of the pelvis (N,3), in a model of a stick figure."""
    start = Clip.from_arrays(name, fps=fps, joints=body.names[:1], translation=pelvis[:, None])
    travel = start.channels[0]
    turns = [
        _turning(replace(travel, joint=joint, name=name, path="rotation"), local[:, joint])
        for joint, name in enumerate(body.names)
    ]
    model = stick_figure(body)
    clip = derived(start, [travel, *turns], start.duration, model=model)
    return model.add_clips(clip).clips[0]


def _turning(channel: Channel, keys: Array) -> Channel:
    """The channel with quaternions (N,4): signs that follow each other, and one key if all are equal."""
    values = same_signs(keys).astype(np.float32)
    if (values == values[0]).all():
        return replace(channel, times=np.zeros(1), values=values[:1])
    return replace(channel, values=values)


def _warn_of_lying(name: str, root: Array, up: str) -> None:
    """Warn if the figure's spine points along another axis than the one that is said to be up."""
    spines = rotated(root, np.broadcast_to([0.0, 1.0, 0.0], (len(root), 3)))
    mean = spines.mean(axis=0) @ to_y_up(up)[1]
    axis = int(np.argmax(np.abs(mean)))
    along = f"{'-' if mean[axis] < 0 else '+'}{'XYZ'[axis]}"
    if abs(mean[axis]) > _LYING and along != up:
        warnings.warn(
            f"the figure of {quoted(name)} does not stand: its spine points along {along} of the source; "
            f"give up={along!r} if that is up",
            SkinpyWarning,
            stacklevel=6,
        )


# ---- parameters -----------------------------------------------------------------------------------


def _file_parameters(
    file: BinaryIO, path: str, rate: float | None, max_bytes: int, max_keys: int
) -> Parameters:
    """The parameters of an .npz file, whose arrays take at most so many bytes and make so many keys."""
    head = file.read(64)
    file.seek(0)
    if head[:2] != b"PK":
        raise ValueError(_other_file(head, path))
    arrays: dict[str, Any] = read_arrays(file, _NAMES, max_bytes)
    return _parameters(dict.fromkeys(set(npz_names(file)) - _NAMES) | arrays, rate, max_keys)


def _other_file(head: bytes, path: str) -> str:
    """What a file is that is not an .npz file, and what to do."""
    if is_pointer(head):
        return POINTER_REMEDY
    if head[:1] == b"\x80" or path.lower().endswith((".pkl", ".pickle", ".pt", ".pth")):
        return (
            "it is a pickle, which may run any program when it is read; where you trust it, read it yourself "
            "and give a mapping: skinpy.Clip.from_smpl(dict(poses=..., trans=..., fps=...))"
        )
    if head[:6] == b"\x93NUMPY":
        return (
            "it is an .npy file, whose columns have no names; give a mapping: "
            "skinpy.Clip.from_smpl(dict(poses=..., trans=..., fps=...))"
        )
    return "it is not an .npz file"


def _parameters(source: Mapping[str, Any], rate: float | None, max_keys: int) -> Parameters:
    """The parameters among named arrays; arrays of other names are not looked at."""
    kind = _kind(source)
    layout, vectors = _poses(source) if "poses" in source else _joined_parts(source)
    if not len(vectors):
        raise ValueError("poses has no frames; expected at least one")
    key = next((name for name in _TRANSLATIONS if name in source), None)
    if key is None:
        raise ValueError(f"source has {_present(source)}; expected trans (N, 3), too")
    translation = floats(key, _numbers(source, key), ("N", 3), np.float64)
    if len(translation) != len(vectors):
        raise ValueError(f"{key} has {len(translation)} frames; expected {len(vectors)}, as the pose has")
    count = vectors.shape[1] * len(vectors)
    if count > max_keys:
        raise ValueError(f"source has {count} rotations; expected at most {max_keys}, the limit of keys")
    is_smplx = "smplx" in kind if kind else "face" in layout
    return Parameters(layout, vectors, translation, _rate(source, rate), is_smplx)


def _kind(source: Mapping[str, Any]) -> str:
    """The name of the body model, if the file says it; ValueError for another than SMPL's."""
    for key in _KINDS:
        value = np.asarray(source.get(key))
        if value.dtype.kind in "US" and value.size == 1:
            kind = value.item()
            kind = (kind.decode("latin-1") if isinstance(kind, bytes) else kind).lower()
            if not kind.replace("-", "").startswith("smpl"):
                raise ValueError(f"{key} is {brief(kind)}; expected smpl, smplh or smplx")
            return str(kind).replace("-", "")
    return ""


def _rate(source: Mapping[str, Any], rate: float | None) -> float:
    """The frames per second."""
    if rate is not None:
        return rate
    for key in _RATES:
        if key in source:
            value = np.asarray(_numbers(source, key))
            return positive(key, value.item() if value.size == 1 else value)
    raise ValueError(f"source has {_present(source)}; expected {_RATES[0]}, or fps as an argument")


def _poses(source: Mapping[str, Any]) -> tuple[tuple[str, ...], Array]:
    """The groups of joints and the rotation vectors (N,J,3) of "poses"."""
    rows = _rows(source, "poses", tuple(_LAYOUTS))
    return _LAYOUTS[rows.shape[1]], rows.reshape(len(rows), rows.shape[1] // 3, 3)


def _joined_parts(source: Mapping[str, Any]) -> tuple[tuple[str, ...], Array]:
    """The same of parameters that are stored part by part."""
    parts = {part: found for part in _PARTS if (found := _part(source, part)) is not None}
    if "root" not in parts or "body" not in parts:
        raise ValueError(
            f"source has {_present(source)}; expected poses, or root_orient (N, 3) and pose_body (N, 63)"
        )
    count = len(parts["root"])
    for part, found in parts.items():
        if len(found) != count:
            raise ValueError(
                f"{_PARTS[part][0][0][0]} has {len(found)} frames; expected {count}, as root_orient has"
            )
    has_face = "jaw" in parts or "eyes" in parts
    layout = ("body", *("hands",) * (parts["body"].shape[1] == 69), *("face",) * has_face)
    every = [parts["root"], parts["body"]]
    if has_face:
        every += [parts.get("jaw", np.zeros((count, 3))), parts.get("eyes", np.zeros((count, 6)))]
    if "fingers" in parts:
        layout = (*layout, "fingers")
        every.append(parts["fingers"])
    rows = np.concatenate(every, axis=1)
    return layout, rows.reshape(count, rows.shape[1] // 3, 3)


def _part(source: Mapping[str, Any], part: str) -> Array | None:
    """The rows of a part, which may be stored as one array or as one for each side; None without any."""
    choices, widths = _PARTS[part]
    for names in choices:
        if all(name in source for name in names):
            each = tuple(width // len(names) for width in widths)
            rows = [_rows(source, name, each) for name in names]
            if len({len(one) for one in rows}) > 1:
                raise ValueError(f"{names[0]} has {len(rows[0])} frames and {names[1]} {len(rows[1])}")
            return np.concatenate(rows, axis=1)
    return None


def _numbers(source: Mapping[str, Any], name: str) -> Any:
    """What is stored under a name; ValueError for an array of Python objects, of which a file has None."""
    if source[name] is None:
        raise ValueError(f"{name} holds Python objects, which are never read; expected numbers")
    return source[name]


def _rows(source: Mapping[str, Any], name: str, widths: tuple[int, ...]) -> Array:
    """Rows (N,C) of one of these widths; (N,C/3,3) comes as such rows."""
    value = _numbers(source, name)
    array = any_array(name, value)
    if array.ndim == 3 and array.shape[2] == 3:
        array = array.reshape(len(array), 3 * array.shape[1])
    if array.ndim != 2 or array.shape[1] not in widths:
        came, wanted = any_array(name, value).shape, " or ".join(str(width) for width in widths)
        raise ValueError(
            f"{name} has shape {came}; expected (N, {wanted}): rotation vectors of whole joints, "
            "neither matrices nor components of a PCA"
        )
    return floats(name, array, ("N", array.shape[1]), np.float64)


def _present(source: Mapping[str, Any]) -> str:
    """The names of what there is, for a message."""
    return quoted_list(sorted(map(str, source))) or "nothing"
