"""Scenes and framebuffers that `render` keeps between calls, so that the next picture costs little.

Only the graphics thread uses them, so they need no lock. A scene is dropped with its model, or when it is the
least recently used of too many. All are dropped with their context.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING

import moderngl

from .gpu import context as gl
from .gpu.target import Target
from .scene.mesh_scene import Scene

if TYPE_CHECKING:
    from skinpy.model import Model

_MAX_SCENES = 8
_MAX_TARGETS = 2

_SceneKey = tuple[int, str]  # id of the model, transport
_scenes: OrderedDict[_SceneKey, tuple[weakref.ref[Model], Scene]] = OrderedDict()
_targets: OrderedDict[tuple[tuple[int, int], int], Target] = OrderedDict()
_context: weakref.ref[moderngl.Context] | None = None  # that all of them belong to


def _keep_for(context: moderngl.Context) -> None:
    """Drop all that belongs to another context, which was lost."""
    global _context
    if _context is None or _context() is not context:
        _scenes.clear()
        _targets.clear()
        _context = weakref.ref(context)


def find_scene(context: moderngl.Context, model: Model, transport: str) -> Scene | None:
    """The scene that is kept for a model, or None."""
    _keep_for(context)
    key = (id(model), transport)
    if key not in _scenes or _scenes[key][0]() is not model:  # another object may have the same id later
        return None
    _scenes.move_to_end(key)
    return _scenes[key][1]


def keep_scene(context: moderngl.Context, model: Model, transport: str, scene: Scene) -> None:
    """Keep a scene until its model is gone, or too many others are used."""
    _keep_for(context)
    key = (id(model), transport)
    thread = gl.graphics_thread()

    def forget(reference: weakref.ref[Model]) -> None:
        thread.post(lambda context: _forget_scene(key, reference))

    _scenes[key] = (weakref.ref(model, forget), scene)
    _scenes.move_to_end(key)
    while len(_scenes) > _MAX_SCENES:
        _scenes.popitem(last=False)


def _forget_scene(key: _SceneKey, reference: weakref.ref[Model]) -> None:
    if key in _scenes and _scenes[key][0] is reference:
        del _scenes[key]


def target(context: moderngl.Context, size: tuple[int, int], samples: int) -> Target:
    """The framebuffers for pictures of a size: kept ones, or new ones."""
    _keep_for(context)
    key = (size, samples)
    if key not in _targets:
        _targets[key] = Target(context, size, samples)
    _targets.move_to_end(key)
    while len(_targets) > _MAX_TARGETS:
        _targets.popitem(last=False)
    return _targets[key]
