"""skinpy: animated 3D characters as NumPy arrays and pictures.

    model = skinpy.load("fox.glb")
    palette = model.palette("Run", 0.3)            # (S,4,4) skinning matrices
    positions, normals = model.deform(palette)     # the skinned mesh
    picture = model.render("Run", 0.3)             # (h,w,4) uint8, needs the extra "view"

Matrices are row-major for column vectors, quaternions x y z w, times seconds; docs/conventions.md has the
rest.
"""

from typing import TYPE_CHECKING, Any

from . import _core
from .assets import Material, Mesh, Report, ReportEntry, Skeleton, Skin, Submesh, Target, Texture
from .baking import BakedClip, BakedTexture
from .blend_space import BlendSpace1D, BlendSpace2D
from .blending import blend
from .checking import Finding, Findings, check
from .clip import Channel, Clip, Clips
from .controller import AnimationController
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
from .events import Event
from .kinds import Animation, UVAnimation, VertexAnimation
from .loading import build_info, chair, character, crane, load
from .mask import Mask
from .model import Model, to_row_vectors
from .pose import Pose
from .retargeting import JointMatch, match_joints, retarget
from .root_motion import RootMotion
from .state_machine import StateMachine
from .threads import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from . import rotation

__all__ = [
    "load",
    "character",
    "crane",
    "chair",
    "check",
    "build_info",
    "rotation",
    "to_row_vectors",
    "blend",
    "retarget",
    "match_joints",
    "set_num_threads",
    "get_num_threads",
    "JointMatch",
    "Model",
    "Skeleton",
    "Mesh",
    "Submesh",
    "Skin",
    "Target",
    "Material",
    "Texture",
    "Clip",
    "Clips",
    "Channel",
    "Event",
    "Pose",
    "AnimationController",
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


def __getattr__(name: str) -> Any:
    """`skinpy.rotation` when it is first asked for: few need it, and all import skinpy."""
    if name == "rotation":
        import importlib

        return importlib.import_module(".rotation", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
