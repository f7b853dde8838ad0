"""GLSL programs from the files of `skinpy.shaders`, with includes and errors that name file and line.

`#include "file.glsl"` inserts another file of the folder. `#include NAME` inserts the file that the define
NAME stands for: so one vertex shader serves every palette transport.
"""

from __future__ import annotations

import importlib.resources
import re
import weakref
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import moderngl

from skinpy.errors import ShaderError

_INCLUDE = re.compile(r'\s*#include\s+(?:"([^"]+)"|(\w+))\s*$')
# The first lines of a shader for WebGL 2, whose dialect requires the precision of numbers.
WEB_PROLOGUE = (
    "#version 300 es",
    "precision highp float;",
    "precision highp int;",
    "precision highp sampler2D;",
    "precision highp sampler2DArray;",
)
# "0:12(3): error" (Mesa), "0(12) : error" (NVIDIA), "ERROR: 0:12:" (others): string, then line.
_LOG_LINE = re.compile(r"^(?:ERROR: |WARNING: )?0(?::(\d+)(?:\(\d+\))?|\((\d+)\))\s*:?\s*", re.MULTILINE)


class Source:
    """One shader, ready to compile: its text, and the file and number of each of its lines."""

    def __init__(self, name: str, defines: Mapping[str, int | str], prologue: Sequence[str] = ()) -> None:
        """Read the shader file `name`.

        `defines` become macros if they are numbers, and names of files to include if they are strings.
        `prologue` replaces the line "#version". Raises ShaderError if the file or one that it includes does
        not exist, or includes itself.
        """
        self.name = name
        self._defines = defines
        self._prologue = prologue
        self._lines: list[str] = []
        self._origins: list[tuple[str, int]] = []
        self._append(name, ())

    @property
    def text(self) -> str:
        """The whole source with includes and defines."""
        return "\n".join(self._lines) + "\n"

    def explain(self, log: str) -> str:
        """The log of the compiler, with files and lines of our sources in place of its line numbers."""

        def origin(match: re.Match[str]) -> str:
            line = int(match[1] or match[2])
            if not 1 <= line <= len(self._origins):
                return match[0]
            file, number = self._origins[line - 1]
            return f"{file}:{number}: "

        return _LOG_LINE.sub(origin, log)

    def _append(self, name: str, parents: tuple[str, ...]) -> None:
        if name in parents:
            raise ShaderError(f"{parents[-1]}: {name} includes itself")
        for number, line in enumerate(_read(name, parents).splitlines(), start=1):
            include = _INCLUDE.match(line)
            if include is not None:
                self._append(self._included(include, name, number), (*parents, name))
                continue
            if not line.startswith("#version"):
                self._add_line(line, name, number)
                continue
            for first in self._prologue or (line,):  # it must be the first line, so the defines follow
                self._add_line(first, name, number)
            for key, value in self._defines.items():
                if isinstance(value, int):
                    self._add_line(f"#define {key} {value}", name, number)

    def _included(self, include: re.Match[str], name: str, number: int) -> str:
        if include[1] is not None:
            return include[1]
        file = self._defines.get(include[2])
        if not isinstance(file, str):
            raise ShaderError(f"{name}:{number}: #include {include[2]}, but no define names its file")
        return file

    def _add_line(self, line: str, name: str, number: int) -> None:
        self._lines.append(line)
        self._origins.append((name, number))


@cache
def _read(name: str, parents: tuple[str, ...]) -> str:
    try:
        return importlib.resources.files("skinpy.shaders").joinpath(name).read_text("utf-8")
    except FileNotFoundError:
        where = f"{parents[-1]} includes" if parents else "there is no shader"
        raise ShaderError(f"{where} {name!r}, which is not in skinpy.shaders") from None


def build(
    context: moderngl.Context,
    vertex: str,
    fragment: str | None = None,
    *,
    geometry: str | None = None,
    defines: Mapping[str, int | str] | None = None,
    varyings: tuple[str, ...] = (),
) -> moderngl.Program:
    """Compile and link shader files, on the context's own thread.

    `varyings` are the outputs that transform feedback captures, interleaved; with them `fragment` may be
    None. Raises ShaderError with the messages of the compiler, with file and line.
    """
    stages = {"vertex_shader": vertex, "geometry_shader": geometry, "fragment_shader": fragment}
    sources = {stage: Source(name, defines or {}) for stage, name in stages.items() if name is not None}
    texts: dict[str, Any] = {stage: source.text for stage, source in sources.items()}
    try:
        return context.program(varyings=varyings, **texts)
    except moderngl.Error as error:
        log = str(error)
        failed = next((stage for stage in sources if stage in log), "vertex_shader")
        names = " and ".join(source.name for source in sources.values())
        raise ShaderError(f"{names}: {sources[failed].explain(log).strip()}") from None


class Programs:
    """The programs of one context, each compiled once: see `programs`."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = weakref.ref(context)
        self._programs: dict[tuple[object, ...], moderngl.Program] = {}

    def get(
        self,
        vertex: str,
        fragment: str | None = None,
        *,
        geometry: str | None = None,
        defines: Mapping[str, int | str] | None = None,
        varyings: tuple[str, ...] = (),
    ) -> moderngl.Program:
        """The program of `build`; the same arguments give the same program again."""
        key = (vertex, fragment, geometry, tuple(sorted((defines or {}).items())), varyings)
        if key not in self._programs:
            context = self._context()
            assert context is not None, "the context of a program must exist"
            self._programs[key] = build(
                context, vertex, fragment, geometry=geometry, defines=defines, varyings=varyings
            )
        return self._programs[key]


def programs(context: moderngl.Context) -> Programs:
    """The programs of a context, kept as long as the context exists."""
    if not isinstance(context.extra, Programs):
        context.extra = Programs(context)
    return context.extra
