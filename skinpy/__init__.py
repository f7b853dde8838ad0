"""skinpy: animated 3D characters as NumPy arrays and pictures.

    model = skinpy.load("fox.glb")
    palette = model.palette("Run", 0.3)            # (S,4,4) skinning matrices
    positions, normals = model.deform(palette)     # the skinned mesh
    picture = model.render("Run", 0.3)             # (h,w,4) uint8, needs the extra "view"

Matrices are row-major for column vectors, quaternions are x y z w, and times are in seconds.
docs/conventions.md explains all conventions.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  # this file can be parsed by any Python 3
    raise ImportError("skinpy needs Python 3.11 or newer; this is Python " + sys.version.split()[0])

from . import _working_folder  # noqa: F401  # isort: skip  # before all others

import importlib
from typing import TYPE_CHECKING, Any

try:
    from . import _core
except ImportError as error:
    from . import _not_loaded

    reason = _not_loaded.reason(__path__[0], error)
    if not reason:
        raise
    raise ImportError(reason) from None
from .assets import Material, Mesh, Report, ReportEntry, Skeleton, Skin, Submesh, Target, Texture
from .clip import Channel, Clip
from .clips.events import Event
from .clips.sequence import Clips
from .errors import (
    FormatRefused,
    GraphicsError,
    ImporterCrashed,
    LimitExceeded,
    LoadError,
    ShaderError,
    SkinpyError,
    SkinpyWarning,
)
from .limits import DEFAULT_FORMATS, Limits
from .loading import build_info, chair, character, crane, load
from .model import Model, to_row_vectors
from .models.extras import SceneCamera, SceneLight
from .pose import Pose
from .threads import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from . import explaining as explaining
    from . import kinds as kinds
    from . import output as output
    from . import render as render
    from . import rotation
    from . import storage as storage
    from . import view as view
    from .blending import blend
    from .checking import Finding, Findings, check
    from .clips.root_motion import RootMotion
    from .kinds import Animation, UVAnimation, VertexAnimation
    from .kinds.baked_clip import BakedClip
    from .kinds.baking import BakedTexture
    from .mask import Mask
    from .planting import lock_feet
    from .playing.blend_space import BlendSpace1D, BlendSpace2D
    from .playing.controller import AnimationController
    from .playing.state_machine import StateMachine
    from .playing.track import PassedEvent, Track
    from .retargeting import Humanoid, JointMatch, PoseMatch, match_joints, match_poses, retarget

__all__ = [
    "load",
    "character",
    "crane",
    "chair",
    "check",
    "build_info",
    "Limits",
    "DEFAULT_FORMATS",
    "rotation",
    "to_row_vectors",
    "blend",
    "lock_feet",
    "retarget",
    "match_joints",
    "match_poses",
    "set_num_threads",
    "get_num_threads",
    "JointMatch",
    "PoseMatch",
    "Humanoid",
    "Model",
    "Skeleton",
    "Mesh",
    "Submesh",
    "Skin",
    "Target",
    "Material",
    "Texture",
    "SceneCamera",
    "SceneLight",
    "Clip",
    "Clips",
    "Channel",
    "Event",
    "Pose",
    "AnimationController",
    "Track",
    "PassedEvent",
    "Mask",
    "RootMotion",
    "BlendSpace1D",
    "BlendSpace2D",
    "StateMachine",
    "Animation",
    "UVAnimation",
    "VertexAnimation",
    "BakedTexture",
    "BakedClip",
    "Report",
    "ReportEntry",
    "Finding",
    "Findings",
    "SkinpyError",
    "LoadError",
    "ImporterCrashed",
    "LimitExceeded",
    "FormatRefused",
    "ShaderError",
    "GraphicsError",
    "SkinpyWarning",
    "__version__",
]

__version__: str = _core._build_info()["version"]


#: Names that many programs do not need, and their modules, which are imported when a name is first used.
_LATER = {
    "AnimationController": "playing.controller",
    "Animation": "kinds",
    "BakedClip": "kinds.baked_clip",
    "BakedTexture": "kinds.baking",
    "BlendSpace1D": "playing.blend_space",
    "BlendSpace2D": "playing.blend_space",
    "Finding": "checking",
    "Findings": "checking",
    "Humanoid": "retargeting",
    "JointMatch": "retargeting",
    "PoseMatch": "retargeting",
    "Mask": "mask",
    "PassedEvent": "playing.track",
    "RootMotion": "clips.root_motion",
    "StateMachine": "playing.state_machine",
    "Track": "playing.track",
    "UVAnimation": "kinds",
    "VertexAnimation": "kinds",
    "blend": "blending",
    "check": "checking",
    "lock_feet": "planting",
    "match_joints": "retargeting",
    "match_poses": "retargeting",
    "retarget": "retargeting",
}


#: Modules with public names that are not in `__all__`.
_MODULES = ("explaining", "kinds", "output", "render", "rotation", "storage", "view")
#: Modules whose public names are in `__all__` as well.
_SHOWN_HERE = (
    *(
        "blending",
        "checking",
        "clips",
        "commands",
        "controller",
        "files",
        "mask",
        "models",
        "planting",
        "playing",
        "posing",
    ),
    *("retargeting", "state_machine"),
)
#: Modules that need moderngl.
_DRAWING = {"render", "view"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        value = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES or name in _SHOWN_HERE:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from importlib.util import find_spec

    special = {name for name in globals() if name.startswith("__")}
    # help() imports all names that are listed, so modules that cannot be imported are left out.
    missing = set() if find_spec("moderngl") else _DRAWING
    return sorted(special.union(__all__, _MODULES) - missing)
