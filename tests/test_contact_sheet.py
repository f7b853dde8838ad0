"""Contact sheets: the positions of frames, the names in text, and the largest size of a sheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("moderngl", reason="sheets are drawn: install the extra 'view'")
pytest.importorskip("PIL", reason="Pillow (the extra `view`) writes the names")

from PIL import Image, ImageFont

import skinpy
from skinpy.__main__ import main
from skinpy.output import contact_sheet, sheet, side_by_side
from skinpy.output.contact_sheet import _laid_out, fitting
from skinpy.render import turntable

CHARACTER = str(Path(skinpy.__file__).parent / "data" / "character.glb")
MARGIN, LINE = 6, 16


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


@pytest.mark.parametrize(
    ("clips", "options", "error", "words"),
    [
        (None, {"frames": 0}, ValueError, "frames is 0; expected 1 to 100"),
        (None, {"size": (0, 20)}, ValueError, r"size is \(0, 20\); expected .* at least 1 pixel"),
        (None, {"size": (20, 60)}, ValueError, r"size is \(20, 60\); expected frames of 24x24"),
        (None, {"limit": 100}, ValueError, r"limit is 100; expected 204 or more for rows of 8"),
        (None, {"size": (10**5, 100)}, ValueError, r"or a size that is less oblong than \(100000, 100\)"),
        (None, {"background": "mauve-ish"}, ValueError, "background is 'mauve-ish'"),
        (["rnu"], {}, KeyError, "did you mean 'run'"),
        ([7], {}, IndexError, "clip is 7; the model has clips 0 to 2"),
        ([2.5], {}, TypeError, "expected a Clip"),
    ],
)
def test_bad_arguments(
    model: skinpy.Model, clips: Any, options: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sheet(model, clips, **options)


def test_rows_are_clips_from_start_to_end(model: skinpy.Model) -> None:
    picture = sheet(model, ["wave", 0], frames=3, size=(48, 36))
    assert picture.shape == (2 * (LINE + 36 + MARGIN) + MARGIN, 3 * 48 + 2 * MARGIN, 4)
    assert picture.dtype == np.uint8 and (picture[..., 3] == 255).all()
    for row, clip in enumerate((model.clips["wave"], model.clips[0])):
        top = MARGIN + row * (LINE + 36 + MARGIN) + LINE
        for number in range(3):
            left = MARGIN + 48 * number
            want = model.render(
                clip, clip.duration * number / 2, (48, 36), background="#ffffff", loop="clamp"
            )
            np.testing.assert_array_equal(picture[top : top + 36, left : left + 48], want)


def test_without_clips_it_is_turned(model: skinpy.Model) -> None:
    still = skinpy.Model.from_arrays(
        ["root"],
        [-1],
        np.eye(4)[None],
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
    )
    picture = sheet(still, frames=4, size=(32, 32), background=None)
    camera = turntable(still, None, 4, aspect=1)[3]
    top, left = MARGIN + LINE, MARGIN + 3 * 32
    want = still.render(size=(32, 32), camera=camera)
    np.testing.assert_array_equal(picture[top : top + 32, left : left + 32], want)


@pytest.mark.parametrize(
    ("background", "paper", "ink"), [("#ffffff", 255, 0), ("#102030", 32, 255), (None, 0, 128)]
)
def test_names_are_written_so_that_one_can_read_them(
    model: skinpy.Model, background: Any, paper: int, ink: int
) -> None:
    picture = sheet(model, ["run"], frames=3, size=(48, 36), background=background)
    strip = picture[MARGIN : MARGIN + LINE, MARGIN:-MARGIN]
    written = strip[strip[..., 3] > 0] if background is None else strip
    values = written[..., 1].astype(int)
    assert (np.abs(values - ink) <= 40).sum() > 20  # letters
    assert background is None or (values == paper).mean() > 0.7
    other = sheet(model, ["walk"], frames=3, size=(48, 36), background=background)
    assert (other[MARGIN : MARGIN + LINE] != picture[MARGIN : MARGIN + LINE]).any()


@pytest.mark.parametrize("font", [ImageFont.load_default(), ImageFont.load_default_imagefont()])
@pytest.mark.parametrize("name", ["", "walk", "w" * 5000, "two\nlines\t\0", "\udcff", "歩く 🦊", "é" * 300])
def test_any_name_can_be_written(name: str, font: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = fitting(name, font, 80)
    assert font.getlength(fitted) <= 80
    assert "\n" not in fitted and "\0" not in fitted
    assert fitted.endswith("...") == (len(name) > 200)
    strip = np.full((LINE, 90, 4), 255, np.uint8)
    monkeypatch.setattr(ImageFont, "load_default", lambda: font)
    contact_sheet.write_line(strip, name)
    assert (strip < 128).any() == bool(fitted.strip())


def test_a_name_that_fits_stays_and_another_is_cut() -> None:
    font = ImageFont.load_default()
    assert fitting("walk", font, 80) == "walk"
    cut = fitting("walking about in the garden", font, 80)
    assert cut.endswith("...") and "walking about in the garden".startswith(cut[:-3]) and len(cut) > 8
    assert fitting("walk", font, 3) == ""


@pytest.mark.parametrize("clips", [1, 7, 40, 92, 93, 1000, 100_000])
@pytest.mark.parametrize("size", [(120, 120), (640, 480), (48, 900), (24, 24)])
@pytest.mark.parametrize("limit", [1000, 4096])
def test_a_sheet_is_bounded(clips: int, size: tuple[int, int], limit: int) -> None:
    layout = _laid_out(clips, 12, size, limit)
    assert max(layout.pixels) <= limit
    assert layout.rows + layout.left_out == clips and layout.rows >= 1
    assert layout.size[0] <= size[0] and layout.size[1] <= size[1] and min(layout.size) >= 24
    assert layout.size[0] / layout.size[1] == pytest.approx(size[0] / size[1], rel=1 / 24)
    if layout.left_out:  # only where frames are as small as may be, and one more row would not fit
        assert min(layout.size) == 24
        more = layout._replace(rows=layout.rows + 1)
        assert more.pixels[1] > limit


def test_what_is_left_out_is_told(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    words = []
    monkeypatch.setattr(contact_sheet, "write_line", lambda strip, line: words.append(line))
    sheet(model, [0, 1, 2] * 2, frames=1, size=(24, 24), limit=120)
    assert words == ["walk   1.00 s", "run   0.70 s", "and 4 more clips"]


def test_progress_counts_the_clips(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def shown(things: Any, total: int | None, what: str) -> Any:
        seen.append(total)
        return iter(things)

    monkeypatch.setattr(contact_sheet, "shown", shown)
    sheet(model, frames=1, size=(24, 24))
    assert seen == [3]


# ---- the command line ----------------------------------------------------------------------------------


def test_the_command_line_writes_a_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = ["--frames", "2", "--size", "24x24"]
    assert main(["sheet", CHARACTER, *small]) == 0
    assert (
        main(["sheet", CHARACTER, *small, "--clip", "run", "--clip", "0", "-o", "two.webp", "--floor"]) == 0
    )
    assert main(["sheet", CHARACTER, *small, "--background", "none", "-o", "clear.png"]) == 0
    heights = []
    for name in ("sheet.png", "two.webp"):
        with Image.open(name) as image:
            heights.append(image.size)
    assert heights == [(60, 3 * 46 + 6), (60, 2 * 46 + 6)]
    with Image.open("clear.png") as image:
        assert image.getpixel((0, 0))[3] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "no/a.png"], "make the folder first"),
        (["--clip", "rnu"], "did you mean 'run'"),
    ],
)
def test_bad_sheets_are_one_line_and_status_1(
    options: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sheet", CHARACTER, *options]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith("skinpy: ") and shown.err.count("\n") == 1 and words in shown.err
    assert list(tmp_path.iterdir()) == []


# ---- several models -----------------------------------------------------------------------------------


def test_figures_of_several_models_at_the_same_times(model: skinpy.Model) -> None:
    """A row per figure, a column per time; a clip that is shorter stays at its end."""
    picture = side_by_side([(model, "walk"), (model, "run")], frames=3, size=(48, 36))
    assert picture.shape == (2 * (LINE + 36 + MARGIN) + MARGIN, 3 * 48 + 2 * MARGIN, 4)
    alone = side_by_side([(model, "walk")], frames=3, size=(48, 36))
    assert (picture[: len(alone) - MARGIN] == alone[: len(alone) - MARGIN]).all()
    last = picture[-36 - MARGIN : -MARGIN, MARGIN + 2 * 48 : MARGIN + 3 * 48]
    end = side_by_side([(model, model.clips["run"])], frames=2, size=(48, 36))
    assert model.clips["run"].duration < model.clips["walk"].duration
    assert np.abs(last.astype(int) - end[-36 - MARGIN : -MARGIN, -48 - MARGIN : -MARGIN]).mean() < 10


def test_the_camera_follows_each_figure(model: skinpy.Model) -> None:
    """A figure that walks away is in the middle of each frame, and as large in all of them."""
    far = skinpy.Clip.from_arrays(
        "far", times=[0, 1], joints=["Hips"], translation=[[[0, 0, 0]], [[50, 0, 0]]]
    )
    picture = side_by_side([(model, model.add_clips(far).clips[-1])], frames=2, size=(48, 48))
    first, last = (picture[MARGIN + LINE : -MARGIN, MARGIN + at : MARGIN + at + 48] for at in (0, 48))
    assert np.abs(first.astype(int) - last).mean() < 1 and (first[..., :3].min() < 200)


def test_figures_that_face_elsewhere_are_seen_from_the_same_side(model: skinpy.Model) -> None:
    """The light stays where it is, so the outlines are compared."""
    outlines = []
    for angle in (0.0, 2.0):
        turned = [[[0, np.sin(angle / 2), 0, np.cos(angle / 2)]]] * 2
        facing = model.add_clips(skinpy.Clip.from_arrays("still", fps=1, joints=["ROOT"], rotation=turned))
        outlines.append((side_by_side([(facing, "still")], frames=1) != 255).any(axis=2))
    assert (outlines[0] != outlines[1]).mean() < 0.01 < outlines[0].mean() / 5


@pytest.mark.parametrize(
    ("figures", "options", "error", "words"),
    [
        ([], {}, ValueError, r"figures is empty; expected a sequence of \(model, clip\)"),
        ("walk", {}, TypeError, "figures is 'walk'"),
        (["walk"], {}, TypeError, "figures has 'walk'"),
        ([(None, "walk")], {}, TypeError, "figures is of type NoneType"),
        ([("character", "wlak")], {}, KeyError, "did you mean 'walk'"),
        ([("character", "walk")], {"frames": 0}, ValueError, "frames is 0; expected 1 to 100"),
        ([("character", "walk")], {"size": (20, 60)}, ValueError, "expected frames of 24x24"),
    ],
)
def test_bad_figures(
    model: skinpy.Model, figures: Any, options: Any, error: type[Exception], words: str
) -> None:
    if isinstance(figures, list):
        figures = [
            (model, one[1]) if isinstance(one, tuple) and one[0] == "character" else one for one in figures
        ]
    with pytest.raises(error, match=words):
        side_by_side(figures, **options)
