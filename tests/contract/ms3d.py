"""MilkShape 3D's binary files, after its msMeshStructs.h and the specification of version 1.8."""

import struct
from typing import Any

import numpy as np
import test_import_games as games

from . import Case
from ._files import CORNERS, has_color, has_texture, image

TITLE = "MilkShape"


def painted(image_name: str = "", alpha_map: str = "", emissive: float = 0.0) -> bytes:
    """A triangle with a material."""
    file = games.ms3d([], (-1,) * 3, points=CORNERS)
    at = file.rindex(struct.pack("<bHffiH", -1, 0, 24.0, 0.0, 30, 0))
    dark, color, light = (0.0, 0.0, 0.0, 1.0), (0.2, 0.4, 0.6, 1.0), (emissive, 0.0, 0.0, 1.0)
    material = struct.pack("<32s16f2fB", b"paint", *dark, *color, *dark, *light, 0.0, 0.5, 0)
    material += struct.pack("<128s128s", image_name.encode(), alpha_map.encode())
    return file[:at] + struct.pack("<bH", 0, 1) + material + struct.pack("<ffiH", 24.0, 0.0, 30, 0)


def one(content: bytes, *codes: str, played: Any = None) -> Case:
    return Case({"a.ms3d": content, "wood.png": image()}, played, codes)


def moved(*bones: int, tail: bytes = b"") -> bytes:
    return games.ms3d(games.two_joints(), bones, tail)


def follows(model: Any) -> None:
    a, b = games.skins(games.two_joints())
    wanted = [games.place(m, point) for m, point in zip((a, b, b), games.CORNERS, strict=True)]
    assert np.allclose(games.deformed(model, 1.0), wanted, atol=games.EXACT)


def follows_by_halves(model: Any) -> None:
    a, b = games.skins(games.two_joints())
    wanted = [0.6 * games.place(b, point) + 0.4 * games.place(a, point) for point in games.CORNERS]
    assert np.allclose(games.deformed(model, 1.0), wanted, atol=games.EXACT)


WEIGHTS = games.ms3d_tail(2, [((0, -1, -1), (60, 40, 0))] * 3)


def twins(parent: str) -> bytes:
    """Joints a and a."""
    first, second = games.two_joints()
    angles, place = (-0.2, 0.6, 0.1), (0, 1, 0)
    return games.ms3d([first, games.Joint("a", parent, angles, place, second.turns, second.moves)], (0, 1, 1))


def both_move(model: Any) -> None:
    wanted = []
    for joint, point in zip((0, 1, 1), games.CORNERS, strict=True):
        one = games.two_joints()[joint]
        wanted.append(games.place(one.posed(-1) @ np.linalg.inv(one.rest), point))
    assert np.allclose(games.deformed(model, 1.0), wanted, atol=games.EXACT)


CASES = {
    "joints and their keys": lambda: one(moved(0, 1, 1), played=follows),
    "weights of several joints (version 1.8)": lambda: one(
        moved(1, 1, 1, tail=WEIGHTS), played=follows_by_halves
    ),
    "weights that cannot be read": lambda: one(moved(0, 1, 1, tail=WEIGHTS[:-1]), "weights_dropped"),
    "color and opacity of a material": lambda: one(painted(), played=has_color),
    "texture of a material": lambda: one(painted("wood.png"), played=has_texture),
    "alpha map of a material": lambda: one(painted("wood.png", "mask.png"), "looks_ignored"),
    "emissive and specular color": lambda: one(painted(emissive=1.0), "looks_ignored"),
    "joints of one name": lambda: one(twins(""), "duplicate_names", played=both_move),
    "a parent whose name several joints have": lambda: one(twins("a"), "names_ambiguous", played=follows),
}
