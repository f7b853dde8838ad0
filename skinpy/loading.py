"""Load models from files and bytes: by the importer, or from saved blocks."""

from __future__ import annotations

import errno
import io
import os
import stat
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from . import _block, _core, _importer
from ._arguments import axis_of, brief, finite, flag, one_of, path_of, whole
from ._text import printable
from ._types import PathLike
from .errors import LimitExceeded, LoadError, warn_of_losses
from .limits import DEFAULT_FORMATS, Limits, allowed_formats
from .model import Model

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from typing_extensions import Buffer

    from ._importer import Isolation, Variables

    External: TypeAlias = Literal["folder", "none", "any"]
    Isolate: TypeAlias = bool | Literal["strict"]

__all__ = ["load", "character", "crane", "chair", "build_info", "Limits", "DEFAULT_FORMATS"]

_INFLUENCES = 4
_MAX_NAME = 1000  # bytes; a model of fewer bytes does not end as a file name does
_MAX_FORMAT = 64
_MAX_READ = 1 << 24  # bytes that are asked of a file object at once
_MAX_FRAMES = 2**31 - 1  # the core counts frames in int32

#: What to do about errors of the system.
_REMEDIES = {
    errno.EMFILE: "; close files, or raise their limit (ulimit -n)",
    errno.EISDIR: "; give the path of a file in it",
    errno.EACCES: "; ask for the right to read it, or copy it",
}
_EXTERNAL = ("folder", "none", "any")  # in the order of sk_external
_LIMITS = Limits()
_CURVE_ERROR = 1e-5  # of keys, as a part of the model's size


class _Request(NamedTuple):
    """What the core takes to import a model, in its order."""

    format: str | None
    max_influences: int
    join_vertices: int  # -1: it depends on the format
    ignore_animated_scale: bool
    up: int
    frame: int  # -1: the first
    curve_error: float
    scene: bytes | None  # None: that of the file
    formats: str  # those that are allowed
    external: int
    counts: tuple[int, int, int, int, int]  # limits of what the file may contain; see Limits
    isolation: Isolation | Isolate  # the value of `isolate` where the import is not isolated


def load(
    path_or_bytes: PathLike | Buffer | BinaryIO,
    *,
    format: str | None = None,
    max_influences: int = _INFLUENCES,
    join_vertices: bool | None = None,
    ignore_animated_scale: bool = False,
    up: str | None = None,
    frame: int | None = None,
    curve_error: float | None = None,
    scene: int | str | None = None,
    mmap: bool = False,
    isolate: Isolate = True,
    limits: Limits = _LIMITS,
    allow_formats: Iterable[str] | None = None,
    external: External = "folder",
) -> Model:
    """Load a model from a file or from bytes.

    Every format of Assimp 6, saved .skn files and motion in .npz files can be read. The model has been
    checked: all lengths, offsets and indices are valid, and all numbers are finite.

    Parameters
    ----------
    path_or_bytes : str, path-like, bytes-like or binary file object
        The path of a file as str or os.PathLike, the contents of a file, or an open file in binary mode,
        which is read from its position to its end. Like bytes, such a file brings in no other files.
    format : str, optional
        The format of bytes as a file extension, such as "glb", "fbx" or "bvh". By default the name of a file
        object selects it, if it ends in the suffix of an allowed format, or else the content decides.
    max_influences : int, default 4
        The largest number of joints that a vertex may follow, 1 to 8. The largest weights are kept and
        normalized to sum to 1.
    join_vertices : bool, optional
        Whether vertices with equal attributes are joined. By default they are joined in formats that Assimp
        delivers with one vertex per face corner, which glTF is not.
    ignore_animated_scale : bool, default False
        Whether channels of scale are left out.
    up : {None, "+X", "-X", "+Y", "-Y", "+Z", "-Z"}
        The axis that points up in scene space; "Y" is "+Y". By default the file decides, or else "+Y".
    frame : int, optional
        The frame to read, in formats that store whole frames of vertices, such as MD2. The default is the
        first one; `skinpy.kinds.VertexAnimation.load` reads all of them.
    curve_error : float, optional
        The largest distance, as a part of the model's size, by which keys that are made from exact curves may
        differ from these curves. It applies to FBX, whose curves become keys of translation, rotation and
        scale. The default is 1e-5.
    scene : int or str, optional
        The index or the name of the scene to load, of a glTF file with several. By default the file decides.
        `Model.scenes` has the names; a wrong name raises LoadError, whose message lists them.
    mmap : bool, default False
        Whether a .skn file is mapped instead of read. Use it only for files that you trust: if such a file
        is truncated while it is mapped, the process ends.
    isolate : bool or "strict", default True
        Whether the import runs in a process of its own, so that a broken file cannot harm this one. That
        takes about 5 ms more. Use False only for files that you made yourself. True uses what protection the
        system has (`build_info` lists it); on systems other than Linux the import runs in this process, with
        one warning. "strict" raises LoadError where a part is missing.
    limits : Limits, optional
        How much memory and time the import may take, and how much the file may contain.
    allow_formats : iterable of str, optional
        The file extensions of the formats to read, instead of `skinpy.DEFAULT_FORMATS`. With
        ``isolate=False`` the default excludes md2 and ply, whose readers crash most often.
    external : {"folder", "none", "any"}
        Which other files the model may refer to: regular files in its folder and the folders below, none, or
        regular files anywhere.

    Returns
    -------
    Model
        The model. `Model.report` lists what was repaired or lost.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    LoadError
        If the file cannot be read as a model. The message has the path and Assimp's reason. Also if `isolate`
        is "strict" and the system lacks a part of the protection, which the message names.
    ImporterCrashed
        If the process of an isolated import ended without an answer.
    LimitExceeded
        If the file needs more than `limits` allows. The message names the limit.
    FormatRefused
        If the format is not allowed. The message says how to allow it.
    ValueError
        If an option has a wrong value.
    TypeError
        If an argument has a wrong type.
    KeyboardInterrupt
        If Ctrl-C is pressed. An isolated import ends within 0.1 seconds.

    Warns
    -----
    SkinpyWarning
        If something in the file was lost. Also, once per process, if the system cannot isolate imports and
        `isolate` is True.

    Notes
    -----
    A .skn file is read by this process, as it was saved, whatever `isolate` says. Of the options only `mmap`
    and `limits` apply to it, and of the limits `file_bytes` (unless it is mapped), `nodes`, `vertices` and
    `keys`. So is an .npz file that `Clip.to_npz` wrote or that has motion of SMPL (see
    `Clip.from_smpl`), without pickle; its model has no mesh.

    Examples
    --------
    >>> skinpy.character().save("character.skn")
    >>> model = skinpy.load("character.skn")
    >>> [clip.name for clip in model.clips]
    ['walk', 'run', 'wave']
    >>> skinpy.load(b"no model", format="glb")
    Traceback (most recent call last):
    skinpy.errors.LoadError: ...
    """
    if (
        format is None
        and max_influences is _INFLUENCES
        and join_vertices is None
        and ignore_animated_scale is False
        and up is None
        and frame is None
        and curve_error is None
        and scene is None
        and isolate is True
        and limits is _LIMITS
        and allow_formats is None
        and isinstance(external, str)
        and external == "folder"
    ):
        request = _usual(_importer.variables())
    else:
        request = _Request(
            *_checked(
                format, max_influences, join_vertices, ignore_animated_scale, up, frame, curve_error, scene
            ),
            *_confined(isolate, limits, allow_formats, external, _importer.variables()),
        )
    if mmap is not False:
        flag("mmap", mmap)
    try:
        path = os.fspath(path_or_bytes)  # type: ignore[arg-type]
    except TypeError:
        path = None
    if isinstance(path, str):
        block = _load_path(path, request, mmap)
    elif path is None and _is_file(path_or_bytes):
        block = _load_file(path_or_bytes, request)
    elif path is None or path is path_or_bytes:
        block = _load_bytes(path_or_bytes, request)
    else:
        raise TypeError(
            f"path_or_bytes is a path of {type(path).__name__}; expected str or a path of str (bytes are the "
            "contents of a file)"
        )
    model = Model(block)
    if block.losses:
        warn_of_losses(model.report.lost, "loading")
    return model


def character() -> Model:
    """Load the bundled character, a walking figure.

    Returns
    -------
    Model
        The character, with the clips "walk", "run" and "wave".

    Examples
    --------
    >>> skinpy.character()
    <Model: ...>
    """
    return _bundled("character.glb")


def crane() -> Model:
    """Load the bundled crane, a machine of rigid parts.

    Returns
    -------
    Model
        The crane in meters, with the clips "slew", "raise" and "lift".

    Notes
    -----
    The joints are "base", "slew", "boom", "jib", "line", "cable" and "hook". The boom points to +X, and a
    rotation about its +Z axis raises it.
    """
    return _bundled("crane.glb")


def chair() -> Model:
    """Load the bundled office chair, a machine of rigid parts.

    Returns
    -------
    Model
        The chair in meters, with the clips "spin", "roll" and "height".

    Notes
    -----
    The joints are "base", "lift", "seat", "back", "headrest", and "caster1" and "wheel1" to "caster5" and
    "wheel5". The chair faces +Z.
    """
    return _bundled("chair.glb")


def _bundled(name: str) -> Model:
    from importlib import resources  # imported here because it imports half the standard library

    data = resources.files("skinpy").joinpath("data", name).read_bytes()
    return load(data, format="glb", isolate=False)  # skinpy's own files are safe


def _checked(
    format: str | None,
    max_influences: int,
    join_vertices: bool | None,
    ignore_animated_scale: bool,
    up: str | None,
    frame: int | None,
    curve_error: float | None = None,
    scene: int | str | None = None,
) -> tuple[str | None, int, int, bool, int, int, float, bytes | None]:
    """The options of an import, checked, as the core takes them."""
    if format is not None and not isinstance(format, str):
        raise TypeError(f"format is {brief(format)}; expected str or None")
    if format and (len(format) > _MAX_FORMAT or not format.isprintable()):
        raise ValueError(f"format is {brief(format)}; expected a suffix such as 'glb'")
    axis = None if up is None else axis_of("up", up)
    influences = whole("max_influences", max_influences, 1, _core.MAX_INFLUENCES)
    number = -1 if frame is None else whole("frame", frame, 0, _MAX_FRAMES, wanted="a whole number or None")
    return (
        format.lower().lstrip(".") if format else None,
        influences,
        -1 if join_vertices is None else int(flag("join_vertices", join_vertices)),
        flag("ignore_animated_scale", ignore_animated_scale),
        _block.AXES.index(axis),
        number,
        _CURVE_ERROR if curve_error is None else _part("curve_error", curve_error),
        _scene(scene),
    )


def _scene(scene: int | str | None) -> bytes | None:
    """The scene as the core takes it: "#2" for an index, "=name" for a name."""
    if scene is None:
        return None
    if isinstance(scene, str):
        try:
            name = scene.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            name = b"\0"
        if b"\0" in name or len(name) > _MAX_NAME:
            raise ValueError(f"scene is {brief(scene)}; expected the name of a scene")
        return b"=" + name
    return b"#%d" % whole("scene", scene, 0, _MAX_FRAMES, wanted="an index or a name")


def _part(name: str, value: float) -> float:
    """A number above 0 and at most 1."""
    number = finite(name, value)
    if not 0.0 < number <= 1.0:
        raise ValueError(f"{name} is {brief(value)}; expected a number above 0 and at most 1")
    return number


def _checked_isolation(value: Isolate) -> Isolate:
    """The value of `isolate`: a bool or "strict"; TypeError for all others."""
    if isinstance(value, str) and value == "strict":
        return value
    try:
        return flag("isolate", value)
    except TypeError:
        raise TypeError(
            f"isolate is {brief(value)} (it may also be 'strict'); expected True or False"
        ) from None


def _confined(
    isolate: Isolate, limits: Limits, formats: Iterable[str] | None, external: str, key: Variables
) -> tuple[str, int, tuple[int, int, int, int, int], Isolation | Isolate]:
    """The formats, external files, limits and isolation of an import, as the core takes them."""
    isolate = _checked_isolation(isolate)
    if not isinstance(limits, Limits):
        raise TypeError(f"limits is {brief(limits)}; expected a skinpy.Limits")
    one_of("external", external, _EXTERNAL)
    isolated = bool(isolate) and not _importer.lack_of_worker()
    return (
        allowed_formats(formats, isolated),
        _EXTERNAL.index(external),
        limits.counts,
        _importer.isolation(limits, key, isolate == "strict") if isolated else isolate,
    )


@lru_cache(maxsize=8)
def _usual(key: Variables) -> _Request:
    """The default options, checked once, because checking takes as long as importing a small file."""
    plain = _checked(None, _INFLUENCES, None, False, None, None)
    return _Request(*plain, *_confined(True, _LIMITS, None, "folder", key))


def _load_path(path: str, request: _Request, mapped: bool) -> _core.Block:
    path_of("path", path)  # raises for a name that no file can have
    try:
        if path.lower().endswith(".npz") and request.format is None:
            return _load_npz(path, request)
        if mapped or path.endswith(".skn"):
            return _load_saved(path, mapped, request) if _is_saved(path) else _import(path, None, request)
        try:
            return _import(path, None, request)
        except LimitExceeded:
            raise
        except (LoadError, FileNotFoundError):
            # The file may be a saved model with another extension.
            if not _is_saved(path):
                raise
        return _load_saved(path, mapped, request)
    except FileNotFoundError:
        raise
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "")
        raise LoadError(f"{printable(path)}: {error.strerror or error}{remedy}") from error
    except LoadError as error:
        raise _titled(path, error) from None


def _titled(title: str, error: LoadError, hint: str = "") -> LoadError:
    """The error with what was loaded in front of its sentence: no error that is caught here names it."""
    return type(error)(f"{printable(title)}: {error}{hint}")


def _load_saved(path: str, mapped: bool, request: _Request) -> _core.Block:
    with open(path, "rb", buffering=0) as file:
        if mapped:
            from mmap import ACCESS_READ, mmap

            return _model_block(_core.Block(mmap(file.fileno(), 0, access=ACCESS_READ), copy=False), request)
        size = os.fstat(file.fileno()).st_size
        _check_limit("bytes", size, request.counts[0], "file_bytes")
        return _model_block(_core.Block.read(file.fileno(), size), request)


def _load_npz(path: str, request: _Request) -> _core.Block:
    from .files.npz import read_npz  # few need it

    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        _check_limit("bytes", size, request.counts[0], "file_bytes")
        return read_npz(file, request.counts)


def _model_block(block: _core.Block, request: _Request) -> _core.Block:
    info = _block.info(block)
    if info["kind"] != _block.MODEL:
        raise LoadError("it holds clips alone, and no model")
    _, nodes, _, vertices, keys = request.counts
    _check_limit("joints", int(info["joints"]), nodes, "nodes")
    _check_limit("vertices", int(info["vertices"]), vertices, "vertices")
    _check_limit("keys", int(_block.section(block, "CHANNELS")["key_count"].sum()), keys, "keys")
    return block


def _check_limit(what: str, count: int, most: int, limit: str) -> None:
    """Raise LimitExceeded if a saved model has more than a limit allows."""
    if count > most:
        raise LimitExceeded(
            f"the saved model has {count} {what}, the limit of {limit} is {most}; "
            f"allow it with limits=skinpy.Limits({limit}={count})"
        )


def _is_saved(path: str) -> bool:
    """Whether the file begins as a .skn does. Pipes and devices do not count: reading them may never end."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return False
    with open(path, "rb", buffering=0) as file:  # for a folder this raises IsADirectoryError
        return file.read(len(_block.MAGIC)) == _block.MAGIC


def _load_bytes(data: Any, request: _Request, title: str = "the model's bytes") -> _core.Block:
    view = _bytes_of(data)
    try:
        if view[: len(_block.MAGIC)] == _block.MAGIC:
            _check_limit("bytes", view.nbytes, request.counts[0], "file_bytes")
            return _model_block(_core.Block(view), request)
        if request.format == "npz":
            from .files.npz import read_npz

            return read_npz(io.BytesIO(view), request.counts)
        return _import(None, view, request)
    except LoadError as error:
        name = _as_file_name(view)
        hint = f"; bytes are the contents of a file; to load the file of that name, call load({name!r})"
        raise _titled(title, error, hint if name else "") from None


def _is_file(data: Any) -> bool:
    """Whether it is a file object, and not an mmap, which has read() too but is bytes."""
    if not hasattr(data, "read"):
        return False
    try:
        memoryview(data)
    except (TypeError, ValueError):
        return True
    return False


def _load_file(file: Any, request: _Request) -> _core.Block:
    """The model of an open file, whose name selects the format where it is the suffix of one."""
    data = _contents(file, request.counts[0])
    name = getattr(file, "name", None)
    if not isinstance(name, str):  # of a file that was opened by its number, or of none
        return _load_bytes(data, request)
    suffix = Path(name).suffix.lower().lstrip(".")
    if request.format is None and suffix in request.formats.split(";"):
        request = request._replace(format=suffix)
    return _load_bytes(data, request, name)


def _contents(file: Any, most: int) -> bytes:
    """What is left to read of a file, at most as many bytes as a limit allows; pipes may never end."""
    wanted = "path_or_bytes is a file in text mode; expected one that was opened in binary mode, such as 'rb'"
    if isinstance(file, io.TextIOBase):
        raise TypeError(wanted)
    parts: list[bytes] = []
    size = 0
    while size <= most:
        part = file.read(min(most + 1 - size, _MAX_READ))
        if isinstance(part, str):
            raise TypeError(wanted)
        if not isinstance(part, bytes | bytearray | memoryview):
            came = type(part).__name__
            raise TypeError(f"path_or_bytes has a read() that returns {came}; expected bytes")
        if not part:
            return b"".join(parts)
        parts.append(bytes(part))
        size += len(part)
    raise LimitExceeded(
        f"the file has more than {most} bytes, the limit of file_bytes is {most}; allow more with "
        "limits=skinpy.Limits(file_bytes=...)"
    )


def _bytes_of(data: Any) -> memoryview:
    """A view of the contents of a model as contiguous bytes."""
    try:
        view = memoryview(data)
    except (TypeError, ValueError):  # NumPy raises ValueError for arrays without a buffer
        kind = type(data).__name__
        raise TypeError(f"path_or_bytes is of type {kind}; expected a path or bytes") from None
    if not view.ndim:
        raise TypeError(f"path_or_bytes is {brief(data)}; expected a path or bytes")
    if not view.c_contiguous:
        raise ValueError("path_or_bytes is not C-contiguous; expected contiguous bytes")
    if not view.nbytes:
        raise LoadError("the model's bytes are empty")
    return view.cast("B")


def _as_file_name(view: memoryview) -> str | None:
    """The bytes as a path if they look like the path of a file, or None."""
    import re  # only errors need it

    if view.nbytes > _MAX_NAME or not re.fullmatch(rb"[^\x00-\x1f]+\.[0-9]?[A-Za-z]\w{0,7}", view):
        return None
    return os.fsdecode(bytes(view))


# ---- the importer ---------------------------------------------------------------------------------


def _import(path: str | None, data: Any, request: _Request) -> _core.Block:
    isolation = request.isolation
    if isinstance(isolation, tuple):
        return _core._load_file(path, data, *request[:-1], isolation)
    if isolation:
        _importer.excuse_no_isolation(strict=isolation == "strict")
    _importer.start_importer()
    return _core._load_file(path, data, *request[:-1], None)


def build_info() -> dict[str, Any]:
    """Report what skinpy was built with and what it finds at run time.

    Returns
    -------
    dict
        The facts by name, as listed in the notes.

    Notes
    -----
    - version, block_version, compiler: of this build
    - built_with_assimp, built_with_cglm, built_with_python: versions
    - built_with_meshoptimizer, built_with_draco: versions of the libraries that decompress glTF, or None if
      this build lacks them
    - simd: the instruction set that is used, "avx512", "avx2", "neon" or "plain"
    - numpy: the version
    - importer: path of the importer
    - assimp, assimp_version: path and version of the Assimp library, or None
    - assimp_error: why no Assimp library was found, or None
    - formats: file extensions that Assimp reads; `load` reads those that it is allowed to
    - isolation: what protects this process from an import, of "process", "limits" (of memory and time),
      "filter" (of system calls) and "folders" (outside of which nothing can be read); ``isolate="strict"``
      requires all. It is empty where the system cannot isolate imports, and `load` imports in this process
    - isolation_error: why imports cannot be isolated, or None
    - graphics: whether moderngl is installed

    Examples
    --------
    >>> info = skinpy.build_info()
    >>> "glb" in info["formats"]
    True
    """
    from importlib.util import find_spec

    import numpy

    info: dict[str, Any] = _core._build_info()
    info["numpy"] = numpy.__version__
    info["importer"] = os.fsdecode(_importer.built_path("_import.so"))
    try:
        path, version, formats = _importer.find_assimp()
        found = {"assimp": path, "assimp_version": version, "assimp_error": None}
    except LoadError as error:
        formats = ""
        found = {"assimp": None, "assimp_version": None, "assimp_error": str(error)}
    info |= found
    info["formats"] = sorted(suffix.lstrip("*.") for suffix in formats.split(";") if suffix)
    info |= _importer.isolation_facts(_LIMITS)
    info["graphics"] = find_spec("moderngl") is not None
    return info
