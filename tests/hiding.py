"""Models with hidden submeshes, and the same models without these submeshes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import skinpy
from skinpy import _block

VERTEX_STREAMS = ("POSITIONS", "NORMALS", "UVS", "COLORS", "TANGENTS", "VERTEX_SLOTS", "VERTEX_WEIGHTS")


def sections_of(model: skinpy.Model) -> dict[str, Any]:
    return {name: _block.section(model._block, name).copy() for name in model._block.sections}


def packed(sections: dict[str, Any]) -> skinpy.Model:
    return skinpy.Model(_block.pack(sections, int(sections["INFO"]["influences"][0])))


def hiding(model: skinpy.Model, numbers: Iterable[int]) -> skinpy.Model:
    """The model with submeshes of these numbers hidden."""
    sections = sections_of(model)
    sections["SUBMESHES"]["flags"][list(numbers)] |= _block.HIDDEN
    return packed(sections)


def without(model: skinpy.Model, numbers: Iterable[int]) -> skinpy.Model:
    """The model without the vertices and faces of submeshes; it has no morph targets."""
    assert not model.targets
    sections, gone = sections_of(model), set(numbers)
    vertices, faces = np.ones(len(model.mesh.positions), bool), np.ones(len(model.mesh.faces), bool)
    for number in gone:
        one = model.mesh.submeshes[number]
        vertices[one.vertex_range], faces[one.face_range] = False, False
    for name in VERTEX_STREAMS:
        if name in sections:
            sections[name] = sections[name][vertices]
    before = np.concatenate([[0], np.cumsum(vertices)])
    sections["FACES"] = before[sections["FACES"][faces]].astype(np.uint32)
    rows = sections["SUBMESHES"]
    for first, count, kept in (
        ("first_vertex", "vertex_count", vertices),
        ("first_face", "face_count", faces),
    ):
        before = np.concatenate([[0], np.cumsum(kept)])
        ends = before[rows[first].astype(int) + rows[count]]
        rows[first] = before[rows[first]]
        rows[count] = ends - rows[first]
    sections["SUBMESHES"] = rows[[number for number in range(len(rows)) if number not in gone]]
    sections["INFO"]["vertices"], sections["INFO"]["faces"] = vertices.sum(), faces.sum()
    return packed(sections)
