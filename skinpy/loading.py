"""From a path or bytes to a model: the importer and where it is found, or a saved block."""

from __future__ import annotations

import os
import stat
import sys
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _block, _core
from ._arguments import flag, whole
from ._types import PathLike
from .errors import LimitExceeded, LoadError, warn_of_losses
from .limits import DEFAULT_FORMATS, Limits, allowed_formats
from .model import Model

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from typing_extensions import Buffer

    External: TypeAlias = Literal["folder", "none", "any"]

__all__ = ["load", "character", "crane", "chair", "build_info", "Limits", "DEFAULT_FORMATS"]

# Imports are isolated by means of Linux. On other systems `load` imports in this process.
_CAN_ISOLATE = sys.platform == "linux"
_LIBRARY = "libassimp.6.dylib" if sys.platform == "darwin" else "libassimp.so.6"
_INFLUENCES = 4
_LONGEST_NAME = 1000  # bytes; no model is that short and ends as a file name does
_LONGEST_FORMAT = 64
_MOST_FRAMES = 2**31 - 1  # the core counts them in int32

#: format, max_influences, join_vertices (-1: by the format), ignore_animated_scale, up, frame (-1: none),
#: formats that are allowed, external, limits of what is counted, the worker (None: in this process)
_Request: TypeAlias = tuple[
    str | None, int, int, bool, int, int, str, int, tuple[int, int, int, int, int], "_Isolation | None"
]
#: worker, importer, libraries, bytes of memory, seconds, folders of libraries
_Isolation: TypeAlias = tuple[bytes, bytes, bytes, int, float, bytes]

_EXTERNAL = ("folder", "none", "any")  # in the order of sk_external
_LIMITS = Limits()


def load(
    path_or_bytes: PathLike | Buffer,
    *,
    format: str | None = None,
    max_influences: int = _INFLUENCES,
    join_vertices: bool | None = None,
    ignore_animated_scale: bool = False,
    up: str | None = None,
    frame: int | None = None,
    mmap: bool = False,
    isolate: bool = True,
    limits: Limits = _LIMITS,
    allow_formats: Iterable[str] | None = None,
    external: External = "folder",
) -> Model:
    """A model from a file of any format that Assimp 6 reads, from a saved .skn, or from their bytes.

    - format: the format of bytes, by its suffix ("glb", "fbx", "bvh"); without it the content decides.
    - max_influences: how many joints a vertex may follow, 1 to 8; the largest weights stay and are made to
      sum to 1.
    - join_vertices: join vertices that are equal in everything; by default for formats that Assimp delivers
      with one vertex per face corner, and not for glTF.
    - ignore_animated_scale: leave scale channels out, for files that bring a factor of 100 of their own.
    - up: "+X" ... "-Z", the axis that is up, where the file says it wrongly or not at all ("+Y").
    - frame: which frame of a format that stores whole frames of vertices (MD2, MD3, ...), the first by
      default; skinpy.kinds.VertexAnimation.load has them all.
    - mmap: map a .skn instead of reading it, for files one trusts: cutting it short while it is mapped ends
      the process.
    - isolate: import in a process of its own, which a broken file may bring down without harm to this one.
      It costs some milliseconds; False is for files that one made oneself.
    - limits: how much the file may take.
    - allow_formats: suffixes of the formats to read, in place of skinpy.DEFAULT_FORMATS; with
      isolate=False the default leaves out md5mesh, md5anim, md2, ply and x, whose readers break most often.
    - external: what a file may bring in: regular files of its own folder and those below ("folder"),
      nothing ("none"), or regular files wherever it says ("any").

    A .skn is taken as it was saved: of the options only mmap and limits matter to it, of these file_bytes
    (where it is not mapped), nodes, vertices and keys; no other process is needed.
    What was repaired or lost stands in `model.report`; one SkinpyWarning comes when something was lost.

    Raises FileNotFoundError; LoadError with the path and Assimp's words for what cannot be read, and of its
    kinds ImporterCrashed where the importer broke down, LimitExceeded and FormatRefused; ValueError and
    TypeError for bad options; KeyboardInterrupt, of an isolated import within 0.1 seconds.
    """
    if (
        format is None
        and max_influences is _INFLUENCES
        and join_vertices is None
        and ignore_animated_scale is False
        and up is None
        and frame is None
        and isolate is True
        and limits is _LIMITS
        and allow_formats is None
        and external == "folder"
    ):
        request = _usual(_paths_key())
    else:
        apart = flag("isolate", isolate) and _CAN_ISOLATE
        request = (
            *_checked(format, max_influences, join_vertices, ignore_animated_scale, up, frame),
            *_confined(apart, limits, allow_formats, external, _paths_key()),
        )
    if mmap is not False:
        flag("mmap", mmap)
    try:
        path = os.fspath(path_or_bytes)  # type: ignore[arg-type]
    except TypeError:
        path = None
    if isinstance(path, str):
        block = _load_path(path, request, mmap)
    elif path is None or path is path_or_bytes:
        block = _load_bytes(path_or_bytes, request)
    else:
        raise TypeError(f"path is {path!r}; expected str or a path of str (bytes are the model itself)")
    model = Model(block)
    losses = block.losses
    if losses:
        warn_of_losses(losses, "loading")
    return model


def character() -> Model:
    """The bundled character: a jointed figure with the clips "walk", "run" and "wave"."""
    return _bundled("character.glb")


def crane() -> Model:
    """The bundled crane: rigid parts on the joints "base", "slew", "boom", "jib", "line", "cable", "hook".

    Clips "slew", "raise" and "lift". Meters; the boom points to +X and is raised by a turn about its +Z.
    """
    return _bundled("crane.glb")


def chair() -> Model:
    """The bundled office chair: rigid parts on "base", "lift", "seat", "back", "headrest" and its casters.

    Clips "spin", "roll" and "height". Meters; it faces +Z, and the casters are "caster1" and "wheel1" to 5.
    """
    return _bundled("chair.glb")


def _bundled(name: str) -> Model:
    from importlib import resources  # it brings half the standard library along

    data = resources.files("skinpy").joinpath("data", name).read_bytes()
    return load(data, format="glb", isolate=False)  # our own files


def _checked(
    format: str | None,
    max_influences: int,
    join_vertices: bool | None,
    ignore_animated_scale: bool,
    up: str | None,
    frame: int | None,
) -> tuple[str | None, int, int, bool, int, int]:
    """The options of an import as the core has them."""
    if format is not None and not isinstance(format, str):
        raise TypeError(f"format is {format!r}; expected str or None")
    if format and (len(format) > _LONGEST_FORMAT or not format.isprintable()):
        raise ValueError(f"format is {format[:_LONGEST_FORMAT]!r}; expected a suffix such as 'glb'")
    influences = whole("max_influences", max_influences, 1, _core.MAX_INFLUENCES)
    if up not in _block.AXES:
        raise ValueError(f"up is {up!r}; expected one of {', '.join(map(str, _block.AXES[1:]))} or None")
    number = -1 if frame is None else whole("frame", frame, 0, _MOST_FRAMES, wanted="a whole number or None")
    return (
        format.lower().lstrip(".") if format else None,
        influences,
        -1 if join_vertices is None else int(flag("join_vertices", join_vertices)),
        flag("ignore_animated_scale", ignore_animated_scale),
        _block.AXES.index(up),
        number,
    )


def _confined(
    apart: bool, limits: Limits, formats: Iterable[str] | None, external: str, key: _PathsKey
) -> tuple[str, int, tuple[int, int, int, int, int], _Isolation | None]:
    """What keeps an import in, as the core has it."""
    if not isinstance(limits, Limits):
        raise TypeError(f"limits is {limits!r}; expected a skinpy.Limits")
    if external not in _EXTERNAL:
        raise ValueError(f"external is {external!r}; expected one of {', '.join(map(repr, _EXTERNAL))}")
    return (
        allowed_formats(formats, apart),
        _EXTERNAL.index(external),
        limits.counts,
        _isolation(limits, key) if apart else None,
    )


#: What decides where Assimp, and what it needs itself, is found.
_PathsKey: TypeAlias = tuple[str | None, tuple[str, ...], str]


def _paths_key() -> _PathsKey:
    return os.environ.get("SKINPY_ASSIMP_DIR"), tuple(sys.path), os.environ.get("LD_LIBRARY_PATH", "")


@lru_cache(maxsize=8)
def _usual(key: _PathsKey) -> _Request:
    """The usual options, checked once: they must not take longer than the import of a small file."""
    plain = _checked(None, _INFLUENCES, None, False, None, None)
    return (*plain, *_confined(_CAN_ISOLATE, _LIMITS, None, "folder", key))


@lru_cache(maxsize=64)
def _isolation(limits: Limits, key: _PathsKey) -> _Isolation:
    return (
        _built_path("_worker"),
        _built_path("_import"),
        b"\n".join(path for path in _library_candidates(*key[:2]) if b"\n" not in path),
        limits.memory,
        float(limits.seconds),
        os.fsencode(key[2]),
    )


def _load_path(path: str, request: _Request, mapped: bool) -> _core.Block:
    if "\0" in path:
        raise ValueError(f"path is {path!r}; expected no null character in it")
    try:
        if mapped or path.endswith(".skn"):
            return _load_saved(path, mapped, request) if _is_saved(path) else _import(path, None, request)
        try:
            return _import(path, None, request)
        except LimitExceeded:
            raise
        except (LoadError, FileNotFoundError):
            # What the importer does not take may be a saved model under another name.
            if not _is_saved(path):
                raise
        return _load_saved(path, mapped, request)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise LoadError(f"{path}: {error.strerror or error}") from error
    except LoadError as error:
        raise error if path in str(error) else type(error)(f"{path}: {error}") from None


def _load_saved(path: str, mapped: bool, request: _Request) -> _core.Block:
    with open(path, "rb", buffering=0) as file:
        if mapped:
            from mmap import ACCESS_READ, mmap

            return _model_block(_core.Block(mmap(file.fileno(), 0, access=ACCESS_READ), copy=False), request)
        size = os.fstat(file.fileno()).st_size
        _check_limit("bytes", size, request[8][0], "file_bytes")
        return _model_block(_core.Block.read(file.fileno(), size), request)


def _model_block(block: _core.Block, request: _Request) -> _core.Block:
    info = _block.info(block)
    if info["kind"] != _block.MODEL:
        raise LoadError("it holds clips alone, and no model")
    _, nodes, _, vertices, keys = request[8]
    _check_limit("joints", int(info["joints"]), nodes, "nodes")
    _check_limit("vertices", int(info["vertices"]), vertices, "vertices")
    _check_limit("keys", int(_block.section(block, "CHANNELS")["key_count"].sum()), keys, "keys")
    return block


def _check_limit(what: str, count: int, most: int, limit: str) -> None:
    """Of a saved model."""
    if count > most:
        raise LimitExceeded(
            f"the saved model has {count} {what}, the limit of {limit} is {most}; "
            f"allow it with limits=skinpy.Limits({limit}={count})"
        )


def _is_saved(path: str) -> bool:
    """Whether the file begins as a .skn does; what may never come of a FIFO is not waited for."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return False
    with open(path, "rb", buffering=0) as file:  # of a folder, this says what it is
        return file.read(len(_block.MAGIC)) == _block.MAGIC


def _load_bytes(data: Any, request: _Request) -> _core.Block:
    view = _bytes_of(data)
    if view[: len(_block.MAGIC)] == _block.MAGIC:
        _check_limit("bytes", view.nbytes, request[8][0], "file_bytes")
        return _model_block(_core.Block(view), request)
    try:
        return _import(None, view, request)
    except LoadError as error:
        name = _as_file_name(view)
        if not name:
            raise
        hint = f"bytes are the model itself; the file of that name is load({name!r})"
        raise type(error)(f"{error}; {hint}") from None


def _bytes_of(data: Any) -> memoryview:
    """What is to be a model, one byte after another."""
    try:
        view = memoryview(data)
    except (TypeError, ValueError):  # ValueError: what of NumPy's has no buffer
        kind = type(data).__name__
        raise TypeError(f"path_or_bytes is of type {kind}; expected a path or bytes") from None
    if not view.ndim:
        raise TypeError(f"path_or_bytes is {data!r}; expected a path or bytes")
    if not view.c_contiguous:
        raise ValueError("path_or_bytes is not C-contiguous; expected bytes that lie one after another")
    if not view.nbytes:
        raise LoadError("the model's bytes are empty")
    return view.cast("B")


def _as_file_name(view: memoryview) -> str | None:
    """The bytes as a path, where they look like that of a file; None where they do not."""
    import re  # of no use until something goes wrong

    if view.nbytes > _LONGEST_NAME or not re.fullmatch(rb"[^\x00-\x1f]+\.[0-9]?[A-Za-z]\w{0,7}", view):
        return None
    return os.fsdecode(bytes(view))


# ---- the importer ---------------------------------------------------------------------------------


def _import(path: str | None, data: Any, request: _Request) -> _core.Block:
    if request[-1] is None:
        _start_importer()
    return _core._load_file(path, data, *request)


@cache
def _start_importer() -> None:
    """Opens importer and Assimp in this process: once, unless that fails."""
    _core._start_importer(_built_path("_import"), _library_paths())


@cache
def _built_path(name: str) -> bytes:
    """What was built beside `_core`; it has the same suffix."""
    core = Path(_core.__file__)
    return os.fsencode(core.with_name(core.name.replace("_core", name, 1)))


def _library_paths() -> tuple[bytes, ...]:
    """Where Assimp may be, the most wanted first: what SKINPY_ASSIMP_DIR names, the wheels, the system."""
    return _library_candidates(*_paths_key()[:2])


@cache
def _library_candidates(wanted: str | None, entries: tuple[str, ...]) -> tuple[bytes, ...]:
    paths = [Path(wanted, folder, _LIBRARY) for folder in ("lib", "lib64", ".")] if wanted else []
    # None of the working directory, which may be a folder of models from elsewhere.
    found = (Path(entry, "cmeel.prefix", "lib", _LIBRARY) for entry in entries if os.path.isabs(entry))
    paths += [path for path in found if os.path.isfile(path)]
    return (*(os.fsencode(path) for path in paths), os.fsencode(_LIBRARY))


def build_info() -> dict[str, Any]:
    """What this skinpy was built with and what it finds at run time.

    Keys: version, block_version, compiler, simd ("avx512", "avx2" or "plain": what the jobs run
    on), built_with_assimp, built_with_cglm, built_with_python, numpy, importer (path), assimp (path of the
    library or None), assimp_version, assimp_error (why there is none, or None), formats (file suffixes
    that can be loaded, where `load` is allowed to), isolation (what keeps an import in: of "process",
    "limits" of memory and time, "filter" of system calls and "folders" outside of which it can read nothing,
    those that this system has), isolation_error (why there is none, or None), graphics (whether moderngl is
    installed).
    """
    from importlib.util import find_spec

    import numpy

    info: dict[str, Any] = _core._build_info()
    info["numpy"] = numpy.__version__
    info["importer"] = os.fsdecode(_built_path("_import"))
    try:
        path, version, formats = _core._start_importer(_built_path("_import"), _library_paths())
        found = {"assimp": path, "assimp_version": version, "assimp_error": None}
    except LoadError as error:
        formats = ""
        found = {"assimp": None, "assimp_version": None, "assimp_error": str(error)}
    info |= found
    info["formats"] = sorted(suffix.lstrip("*.") for suffix in formats.split(";") if suffix)
    info |= _isolation_facts()
    info["graphics"] = find_spec("moderngl") is not None
    return info


def _isolation_facts() -> dict[str, Any]:
    if not _CAN_ISOLATE:
        error = "this system cannot isolate imports, so load() imports in this process"
        return {"isolation": (), "isolation_error": error}
    try:
        found = _core._sandbox(_isolation(_LIMITS, _paths_key()))
    except LoadError as error:
        return {"isolation": (), "isolation_error": str(error)}
    names = ("limits", "filter", "folders")
    protections = ("process", *(name for name, there in zip(names, found, strict=True) if there))
    return {"isolation": protections, "isolation_error": None}
