"""Short names for common types."""

import os
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float32]
PathLike: TypeAlias = str | os.PathLike[str]
Loop: TypeAlias = Literal["wrap", "clamp", "pingpong", "once"]
Rotation: TypeAlias = Literal["slerp", "nlerp"]
