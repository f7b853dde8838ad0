"""Typed stub of the C extension; checked by mypy.stubtest."""

import sys
from collections.abc import Sequence
from typing import Any, Final, Literal, Self, TypeAlias, TypeVar, final, overload

import numpy.typing as npt
from typing_extensions import Buffer, disjoint_base

from ._types import Array, Floats, Loop, Rotation

_Clip: TypeAlias = Clip | str | int | None
_Entry: TypeAlias = tuple[Clip | Floats | None, float, float, int, Floats | None, int, Floats | None, bool]
_Fades: TypeAlias = tuple[Floats | None, Floats | None, float, float]
_Layer: TypeAlias = tuple[int, float, list[_Entry], _Fades | None]

MAX_INFLUENCES: Final[int]
MAX_SLOTS: Final[int]
MAX_THREADS: Final[int]

def _load_file(
    path: str | None,
    data: Buffer | None,
    format: str | None,
    max_influences: int,
    join_vertices: int,
    ignore_animated_scale: bool,
    up: int,
    frame: int,
    curve_error: float,
    scene: bytes | None,
    formats: str | None,
    external: int,
    limits: tuple[int, int, int, int, int],
    isolation: tuple[bytes, bytes, bytes, int, float, bytes, bool] | None,
    /,
) -> Block: ...
def _sandbox(
    isolation: tuple[bytes, bytes, bytes, int, float, bytes, bool], /
) -> tuple[bool, bool, bool]: ...
def _start_importer(importer: bytes, libraries: tuple[bytes, ...], /) -> tuple[str, str, str]: ...
def _build_info() -> dict[str, Any]: ...
def _bytes_in_use() -> int: ...
def _fail_allocation(n: int, /) -> int: ...
def _thread_count() -> int: ...
def _set_thread_count(count: int, /) -> None: ...
def _simd(name: str | None, /) -> str: ...
def _decompose(matrices: npt.ArrayLike, /) -> tuple[Floats, Floats, Floats]: ...

_P = TypeVar("_P", bound=Pose)

def _blend(
    result: _P, poses: Sequence[Pose], weights: Sequence[Array], masks: Sequence[Floats | None]
) -> _P: ...
def _find_frames(
    times: npt.ArrayLike, time: npt.ArrayLike, loop: Loop, duration: float, ticks_per_second: float
) -> Array: ...
def _blend_frames(
    positions: Floats,
    normals: Floats | None,
    places: npt.ArrayLike,
    out_positions: Floats | None = None,
    out_normals: Floats | None = None,
) -> tuple[Floats, Floats | None]: ...
def _two_bone(
    pose: Pose,
    joints: tuple[int, int, int],
    target: npt.ArrayLike,
    pole: npt.ArrayLike | None,
    weight: npt.ArrayLike,
    soften: float,
) -> Array: ...
def _aim(
    pose: Pose,
    joint: int,
    target: npt.ArrayLike,
    pole: npt.ArrayLike | None,
    weight: npt.ArrayLike,
    axis: npt.ArrayLike,
    up: npt.ArrayLike,
) -> Array: ...
def _fabrik(
    pose: Pose,
    root: int,
    end: int,
    target: npt.ArrayLike,
    weight: npt.ArrayLike,
    iterations: int,
    tolerance: float,
) -> Array: ...

@final
class Block:
    def __new__(cls, data: Buffer | Block, *, copy: bool = True, rig: Block | None = None) -> Self: ...
    @classmethod
    def pack(cls, sections: dict[str, Any], influences: int, /) -> Block: ...
    @classmethod
    def read(cls, descriptor: int, size: int, /) -> Block: ...
    @property
    def sections(self) -> dict[str, tuple[int, int, int]]: ...
    @property
    def losses(self) -> tuple[str, ...]: ...
    @property
    def clip_names(self) -> tuple[str, ...]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def rig(self) -> Block: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

@disjoint_base
class Clip:
    def __new__(cls, block: Block, index: int, bound_to: Block | None = None) -> Self: ...
    @property
    def compiled_nbytes(self) -> int: ...
    def _local_time(self, time: float, loop: Loop = "wrap") -> float: ...

@disjoint_base
class Pose:
    def __new__(
        cls,
        block: Block,
        translation: Floats,
        rotation: Floats,
        scale: Floats,
        morph_weights: Floats,
        root: npt.ArrayLike | None = None,
    ) -> Self: ...
    @property
    def translation(self) -> Floats: ...
    @translation.setter
    def translation(self, value: npt.ArrayLike) -> None: ...
    @property
    def rotation(self) -> Floats: ...
    @rotation.setter
    def rotation(self, value: npt.ArrayLike) -> None: ...
    @property
    def scale(self) -> Floats: ...
    @scale.setter
    def scale(self, value: npt.ArrayLike) -> None: ...
    @property
    def morph_weights(self) -> Floats: ...
    @morph_weights.setter
    def morph_weights(self, value: npt.ArrayLike) -> None: ...
    @property
    def root(self) -> Floats | None: ...
    @property
    def _block(self) -> Block: ...
    def locals(self, out: Floats | None = None, *, affine: bool | None = None) -> Floats: ...
    def globals(self, out: Floats | None = None, *, affine: bool | None = None) -> Floats: ...
    def palette(
        self, out: Floats | None = None, *, affine: bool | None = None, inverse_root: bool = False
    ) -> Floats: ...

@disjoint_base
class Model:
    def __new__(cls, block: Block, clips: Sequence[tuple[str, Block, int]] | None = None) -> Self: ...
    @property
    def _block(self) -> Block: ...
    @property
    def _clip_entries(self) -> tuple[tuple[str, Block, int], ...]: ...
    def _clip_number(self, clip: str | int) -> int: ...
    def _complete(self, block: Block) -> None: ...
    def _add_clip(self, clip: tuple[str, Block, int]) -> None: ...
    def _sample(
        self, clip: _Clip, time: npt.ArrayLike, loop: Loop, rotation: Rotation
    ) -> tuple[Floats, Floats, Floats, Floats]: ...
    def _mix_pose(self, layers: list[_Layer], pose: _P) -> _P: ...
    def _mix_palette(
        self,
        layers: list[_Layer],
        out: Floats | None = None,
        *,
        affine: bool | None = None,
        root: npt.ArrayLike | None = None,
        inverse_root: bool = False,
    ) -> Floats: ...
    def globals(
        self,
        clip: _Clip = None,
        time: npt.ArrayLike = 0.0,
        out: Floats | None = None,
        *,
        affine: bool | None = None,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: npt.ArrayLike | None = None,
    ) -> Floats: ...
    def palette(
        self,
        clip: _Clip = None,
        time: npt.ArrayLike = 0.0,
        out: Floats | None = None,
        *,
        affine: bool | None = None,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: npt.ArrayLike | None = None,
        inverse_root: bool = False,
    ) -> Floats: ...
    def crowd_palette(
        self,
        clips: Sequence[Clip | str | int],
        clip_index: npt.ArrayLike,
        time: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        out: Floats | None = None,
        affine: bool | None = None,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: npt.ArrayLike | None = None,
        inverse_root: bool = False,
    ) -> Floats: ...
    def joint_positions(
        self,
        clip: _Clip = None,
        time: npt.ArrayLike = 0.0,
        out: Floats | None = None,
        *,
        loop: Loop = "wrap",
        rotation: Rotation = "slerp",
        root: npt.ArrayLike | None = None,
    ) -> Floats: ...
    @overload
    def deform(
        self,
        pose_or_palette: Pose | npt.ArrayLike,
        *,
        morph_weights: npt.ArrayLike | None = None,
        normals: Literal[True] = True,
        out: tuple[Array, Array] | None = None,
    ) -> tuple[Floats, Floats]: ...
    @overload
    def deform(
        self,
        pose_or_palette: Pose | npt.ArrayLike,
        *,
        morph_weights: npt.ArrayLike | None = None,
        normals: Literal[False],
        out: tuple[Array, Array | None] | None = None,
    ) -> tuple[Floats, None]: ...
    @overload
    def deform(
        self,
        pose_or_palette: Pose | npt.ArrayLike,
        *,
        morph_weights: npt.ArrayLike | None = None,
        normals: bool,
        out: tuple[Array, Array | None] | None = None,
    ) -> tuple[Floats, Floats | None]: ...
