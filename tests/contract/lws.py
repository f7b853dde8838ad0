"""LightWave scenes, which are read where they are named."""

from typing import Any

import import_cases as cases

from . import Case

TITLE = "LightWave scene"
ALLOWED = {"allow_formats": ("lws",)}


def one(content: bytes, *codes: str, played: Any = None) -> Case:
    return Case({"a.lws": content}, played, codes, options=ALLOWED)


def moves(model: Any) -> None:
    (joint,) = (i for i, name in enumerate(model.skeleton.names) if name.startswith("thing"))
    assert abs(model.globals(0, 0.5)[joint, 0, 3] - 1) < 1e-3


def with_item(lines: str) -> bytes:
    return cases.lws() + lines.encode()


CASES = {
    "nulls and their keys": lambda: one(cases.lws(), played=moves),
    "lights": lambda: one(with_item("AddLight 20000000\nLightName sun\n"), "cameras_lights_ignored"),
    "cameras": lambda: one(with_item("AddCamera 30000000\nCameraName eye\n"), "cameras_lights_ignored"),
}
