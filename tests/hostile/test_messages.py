"""What messages quote of broken files: little, nothing that a terminal obeys, and the path once."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from builders import Gltf
from seed_models import Seed, own_seeds

import skinpy

LETTER = b"Q"  #: of the text that is inserted; what is not quoted has no row of them
LONG = b"\x1b[31m\x07" + LETTER * 3000 + b"\r\n\xe2\x80\xae\x1b]0;title\x07"
MOST = 100  #: bytes of a file that a message may quote
CASES = 24  #: for each format


def broken(seed: Seed, number: int) -> bytes:
    """The seed with the text at some place, in a string, or in the place of a word."""
    rng = np.random.default_rng([number, len(seed.data)])
    at = int(rng.integers(4, len(seed.data)))
    places = [match.end() for match in re.finditer(rb'["> ]', seed.data)]
    if number % 3 and places:
        at = places[int(rng.integers(len(places)))]
    rest = b"" if number % 4 == 3 else seed.data[at:]
    return seed.data[:at] + LONG[: None if number % 2 else 200] + rest


def check(words: str, path: Path, where: str) -> None:
    assert words.isprintable(), f"{where}: {words!r}"
    assert max(map(len, re.findall("Q+", words)), default=0) <= MOST, f"{where}: {words}"
    assert words.count(str(path)) <= 1, f"{where}: {words}"


def test_names_are_printed_safely() -> None:
    """In representations of objects, and in errors that list the names that there are."""
    name = "a\x1b[31m\x07\u202eb"
    file = Gltf()
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    file.materials.append({"name": name})
    file.node(name, mesh=file.mesh(file.primitive(corners, [[0, 1, 2]], material=0), name=name))
    file.animation(name, file.channel(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]]))
    model = skinpy.load(file.glb(), format="glb")
    things = [model, model.skeleton, model.mesh.submeshes[0], model.clips, model.clips[0], model.materials[0]]
    for thing in [*things, model.clips[0].channels[0], model.report]:
        assert f"{thing!r}{thing}".replace("\n", "").isprintable()
    for ask in (lambda: model.skeleton.index("x"), lambda: model.clips["x"], lambda: model.pose(9)):
        with pytest.raises(LookupError) as caught:
            ask()
        assert str(caught.value.args[0]).isprintable()


@pytest.mark.parametrize("seed", own_seeds(), ids=lambda seed: f"{seed.name}.{seed.format}")
def test_messages_quote_little_and_safely(seed: Seed, tmp_path: Path) -> None:
    for name, content in seed.beside:
        (tmp_path / name).write_bytes(content)
    path = tmp_path / f"model.{seed.format}"
    for number in range(CASES):
        path.write_bytes(broken(seed, number))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model = skinpy.load(path)
            except skinpy.LoadError as failed:
                words = str(failed)
                assert words.startswith(str(path))
                check(words, path, f"error {number}")
                continue
        for warning in caught:
            check(str(warning.message), path, f"warning {number}")
        for entry in model.report:
            check(f"{entry} {entry.first}", path, f"report {number}")
        assert repr(model).isprintable()
