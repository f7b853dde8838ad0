"""Draws flowing lava: two layers of texture that move at different speeds, on vertices that stand still.

    python examples/lava.py [-o lava.png] [--seconds 6] [--frames 3]

The melt below and the dark crust above are two materials on two squares; each has a UVAnimation of its own,
so a frame sends two 3x3 matrices and no vertex. Needs the extra `view`. Only what everybody can call is used.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skinpy
from skinpy.kinds import UVAnimation
from skinpy.output import encode_picture, save_picture
from skinpy.render import Camera, Renderer

Picture = NDArray[np.uint8]
Array = NDArray[np.float64]

PIXELS = 256  # side of a texture
HALF = 4.0  # half the side of the lake
REPEATS = 2.0  # of a texture along the lake
LAYERS = {
    "melt": UVAnimation(scroll=(0.03, 0.10), name="melt"),
    "crust": UVAnimation(scroll=(-0.02, 0.05), name="crust"),
}
SIZE = (300, 260)
LEVELS = 8  # colors are rounded to multiples of it: hardly seen, and the file is smaller


def noise(seed: int, *, roughness: float) -> Array:
    """(n, n) from 0 to 1, equally often each; it repeats without a seam, being made of whole waves."""
    rng = np.random.default_rng(seed)
    waves = np.fft.fftfreq(PIXELS) * PIXELS
    length = np.hypot(waves[:, None], waves)
    power = np.where(length > 0, np.maximum(length, 1.0) ** -roughness, 0.0) * np.exp(-((length / 48) ** 2))
    field = np.fft.ifft2(np.fft.fft2(rng.normal(size=(PIXELS, PIXELS))) * power).real
    ranks = np.empty(field.size)
    ranks[field.argsort(axis=None)] = np.linspace(0, 1, field.size)
    return ranks.reshape(field.shape)


def ramp(values: Array, stops: list[tuple[float, tuple[int, int, int, int]]]) -> Picture:
    """(h, w, 4): colors along a scale from 0 to 1."""
    places, colors = [stop[0] for stop in stops], np.array([stop[1] for stop in stops], float)
    parts = [np.interp(values, places, colors[:, part]) for part in range(4)]
    return np.round(np.stack(parts, axis=-1)).astype(np.uint8)


def melt() -> Picture:
    return ramp(
        noise(4, roughness=1.9),
        [
            (0, (190, 30, 6, 255)),
            (0.45, (245, 98, 10, 255)),
            (0.8, (255, 178, 32, 255)),
            (1, (255, 246, 170, 255)),
        ],
    )


def crust() -> Picture:
    """Dark plates; the melt shows through the cracks, which are where waves are near their middle."""
    cracks = np.abs(noise(9, roughness=2.1) - 0.5) * 2
    shade = 0.6 + 0.4 * noise(12, roughness=1.3)
    image = ramp(
        cracks,
        [(0, (120, 20, 0, 0)), (0.16, (120, 24, 4, 0)), (0.3, (58, 34, 30, 235)), (1, (74, 62, 62, 255))],
    )
    image[..., :3] = np.round(image[..., :3] * shade[..., None])
    return image


def lake(height: float) -> tuple[Array, Array, Array, Array]:
    """Positions, normals, texture coordinates and faces of a square that faces up."""
    corners = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)], float)
    positions = np.column_stack([corners[:, 0] * HALF, np.full(4, height), corners[:, 1] * HALF])
    return (
        positions,
        np.tile([0.0, 1, 0], (4, 1)),
        (corners + 1) / 2 * REPEATS,
        np.array([(0, 1, 2), (0, 2, 3)]),
    )


def rock(center: tuple[float, float], radius: float, seed: int) -> tuple[Array, Array, Array, Array]:
    """A boulder: a sphere with dents, in coordinates of latitude and longitude."""
    rng = np.random.default_rng(seed)
    latitude, longitude = np.mgrid[0:13, 0:25]
    polar, angle = latitude / 12 * np.pi, longitude / 24 * 2 * np.pi
    points = np.stack([np.sin(polar) * np.cos(angle), np.cos(polar), np.sin(polar) * np.sin(angle)], axis=-1)
    dents = 1 + sum(0.09 * np.sin(points @ rng.normal(0, 2.5, 3) + rng.uniform(0, 6)) for _ in range(6))
    positions = (points * dents[..., None] * radius * (1, 0.7, 1)).reshape(-1, 3) + (center[0], 0, center[1])
    low = (np.arange(12)[:, None] * 25 + np.arange(24)).ravel()
    faces = np.concatenate(
        [np.stack([low, low + 1, low + 25], 1), np.stack([low + 1, low + 26, low + 25], 1)]
    )
    corners = positions[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(positions)
    for corner in faces.T:
        np.add.at(normals, corner, across)
    # The seam and the poles stand there several times: they share one normal.
    _, same = np.unique(positions.round(6), axis=0, return_inverse=True)
    shared = np.zeros_like(normals)
    np.add.at(shared, same.ravel(), normals)
    normals = shared[same.ravel()]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return positions, normals, np.zeros((len(positions), 2)), faces


class Glb:
    """A binary glTF file in the making."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}]}

    def add(self, table: str, entry: dict[str, Any]) -> int:
        """Append to one of the file's lists; its number there."""
        self.json.setdefault(table, []).append(entry)
        return len(self.json[table]) - 1

    def view(self, data: bytes) -> int:
        self.data += bytes(-len(self.data) % 4)
        number = self.add("bufferViews", {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)})
        self.data += data
        return number

    def accessor(self, values: Array) -> int:
        whole = values.dtype.kind == "i"
        flat = values.reshape(-1) if whole else values
        kind = "SCALAR" if whole else f"VEC{values.shape[1]}"
        entry = {"bufferView": self.view(flat.astype("<u4" if whole else "<f4").tobytes())}
        entry |= {"componentType": 5125 if whole else 5126, "count": len(flat), "type": kind}
        if not whole:
            low, high = values.astype("<f4").min(axis=0), values.astype("<f4").max(axis=0)
            entry |= {"min": low.tolist(), "max": high.tolist()}
        return self.add("accessors", entry)

    def material(self, name: str, image: Picture | None, **surface: Any) -> int:
        if image is not None:
            view = self.view(encode_picture(image, "png"))
            source = self.add("images", {"bufferView": view, "mimeType": "image/png"})
            surface["baseColorTexture"] = {"index": self.add("textures", {"source": source})}
        alpha = "BLEND" if image is not None and image[..., 3].min() < 255 else "OPAQUE"
        return self.add("materials", {"name": name, "pbrMetallicRoughness": surface, "alphaMode": alpha})

    def mesh(self, name: str, arrays: tuple[Array, Array, Array, Array], material: int) -> None:
        words = ("POSITION", "NORMAL", "TEXCOORD_0")
        primitive = {
            "attributes": {word: self.accessor(array) for word, array in zip(words, arrays, strict=False)},
            "indices": self.accessor(arrays[3]),
            "material": material,
        }
        mesh = self.add("meshes", {"name": name, "primitives": [primitive]})
        self.json["scenes"][0]["nodes"].append(self.add("nodes", {"name": name, "mesh": mesh}))

    def bytes(self) -> bytes:
        self.json["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        body = bytes(self.data) + bytes(-len(self.data) % 4)
        chunks = (
            struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
        )
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def model() -> skinpy.Model:
    """The lake: melt, crust a little above it, and rocks."""
    file = Glb()
    file.mesh("melt", lake(0.0), file.material("melt", melt()))
    file.mesh("crust", lake(0.02), file.material("crust", crust()))
    stone = file.material("stone", None, baseColorFactor=[0.075, 0.06, 0.06, 1])
    for number, (x, z, radius) in enumerate(
        [(-1.6, -0.9, 0.75), (1.3, 0.9, 0.5), (0.4, -2.3, 0.6), (2.4, -1.6, 0.9)]
    ):
        file.mesh(f"rock{number}", rock((x, z), radius, number), stone)
    return skinpy.load(file.bytes(), format="glb")


def strip(seconds: float, frames: int) -> Picture:
    """Frames side by side, `seconds` from the first to the last."""
    camera = Camera.look_at((0, 4.4, 6.6), (0, -0.35, 0.2), fov=34)
    with Renderer(model(), size=SIZE, background="#14100f", uv=LAYERS) as renderer:
        pictures = list(renderer.frames(None, np.linspace(0, seconds, frames), camera=camera))
    sheet = np.concatenate(pictures, axis=1)
    sheet[..., :3] = np.minimum((sheet[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
    return sheet


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws flowing lava.")
    parser.add_argument("-o", "--output", type=Path, default=Path("lava.png"), help="picture (%(default)s)")
    parser.add_argument("--seconds", type=float, default=6.0, help="from first to last frame (%(default)s)")
    parser.add_argument("--frames", type=int, default=3, help="frames side by side (%(default)s)")
    options = parser.parse_args(arguments)
    save_picture(options.output, strip(options.seconds, options.frames))
    print(f"{options.output}: {options.output.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
