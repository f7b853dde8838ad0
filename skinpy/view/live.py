"""Live views in notebooks: a model that plays, with menus and sliders, and a mouse that turns it.

Pictures are drawn in the kernel, by the graphics thread, and only when there is something new, the browser
has shown the last one, and the view is in sight. Needs the extra `jupyter`, which the first view loads.
"""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skinpy._arguments import flag

from ..output.picture import encode_picture
from ..output.preview import bundle, fitting, preview_times, wanted
from ..render import Camera, Floor
from .hand import Hand
from .orbit import Orbit
from .pace import Pace, reduced
from .stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from .._types import Loop
    from ..model import Model
    from ..playing.controller import AnimationController
    from ..render.posing import ClipLike, Motion
    from .layer import Layer

_FPS = 30.0  # of what plays, at most: the rest of the time is the notebook's
_LONGEST = 0.5  # seconds that a picture may come late without the clip going slower
_REST = 0.25  # seconds after the last move, until a fine picture takes the place of a coarse one
_HOLD = 0.4  # seconds after a move of the slider in which the clip does not go on by itself
_PANEL = 0.12  # seconds between two moves of the slider by what plays
_LADDER = ((300, 20), (240, 20), (180, 20), (120, 16), (60, 8))  # of films: height in pixels, most frames
_LARGEST = 4096  # pixels a side, whatever the browser asks for


def _jupyter() -> tuple[ModuleType, ModuleType]:
    """The modules that need the extra."""
    try:
        from . import canvas, controls
    except ImportError as error:
        raise ImportError(
            f"a live view needs jupyter_rfb and ipywidgets ({error}): pip install 'skinpy-anim[jupyter]'"
        ) from error
    return canvas, controls


def _is_attended() -> bool:
    """Whether the notebook that runs has somebody before it, so that a browser may show a widget: whoever
    asked for the cell then says that questions (`input`) can be answered."""
    shell = sys.modules["IPython"].get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return True
    content = kernel.get_parent("shell").get("content", {})
    return bool(content.get("allow_stdin", True))


class LiveView:
    """A model in a notebook, live: what `model.view()` and `controller.view()` give.

    Let it be the last line of a cell, or `display(view)` it. In the picture, a drag orbits, one with Shift or
    the right button pans, a double click resets the camera; after a click there the wheel zooms, and the keys
    are those of windows. Below it are the clips, the time, the overlays, and a second clip as a layer or, of
    a controller, the weights of its tracks. Code drives it by the attributes.

    Arguments are those of `Stage`: `clip` (None is the first) or `controller`, `layer`, `size` in pixels,
    `floor`, `overlays`, `camera`, `speed`, `loop`, `playing`, `background`, `samples`, `uv`. With `controls`
    False there is the picture alone. Any thread may use it; outside notebooks it can still take snapshots.

    Raises ImportError without the extra `jupyter`, and what `Stage` raises.
    """

    def __init__(
        self,
        model: Model,
        clip: ClipLike = None,
        *,
        controller: AnimationController | None = None,
        size: tuple[int, int] = (640, 480),
        controls: bool = True,
        **options: Any,
    ) -> None:
        with_controls = flag("controls", controls)
        canvas, panel = _jupyter()
        import ipywidgets

        self.stage = Stage(model, clip, controller=controller, size=size, **options)  #: what is shown
        self._lock = threading.RLock()
        self._hand, self._pace = Hand(self.stage, self._say), Pace()
        self._last = self._moved = self._shown = self._held = -1e9  # times: see below
        self._ran = False  # whether it played when the last picture was drawn
        self._good = self.stage.overlays  # with which a picture was drawn
        self._closed = False
        self._seen = self.stage.frame()  # errors come here, not in the browser
        self.canvas = canvas.Canvas(size, self._draw, self._take)
        self._panel = panel.Controls(self.stage, self._act, self._scrubbed)
        rows = self._panel.rows if with_controls else [self._panel.message]
        for row in rows:
            row.layout.width, row.layout.max_width = f"{size[0]}px", "100%"
        #: The ipywidgets box with everything, to be put into boxes of others.
        self.widget = ipywidgets.VBox([self.canvas, *rows])

    # ---- driving it by code -------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model."""
        return self.stage.model

    @property
    def clip(self) -> Motion:
        """What plays, or None for the rest pose. Settable: a name, a number, a Clip; None is the first."""
        return self.stage.clip

    @clip.setter
    def clip(self, value: ClipLike) -> None:
        self.stage.choose(value)
        self.refresh()

    @property
    def time(self) -> float:
        """Seconds that were played, not wrapped. Settable."""
        return self.stage.time

    @time.setter
    def time(self, value: float) -> None:
        self.stage.time = value
        self.refresh()

    @property
    def playing(self) -> bool:
        """Whether time goes on by itself. Settable."""
        return self.stage.playing

    @playing.setter
    def playing(self, value: bool) -> None:
        self.stage.playing = value
        self.refresh()

    @property
    def speed(self) -> float:
        """Seconds of the clip per second; below 0 it goes backwards. Settable."""
        return self.stage.speed

    @speed.setter
    def speed(self, value: float) -> None:
        self.stage.speed = value
        self.refresh()

    @property
    def loop(self) -> Loop:
        """What happens beyond the clip's ends: "wrap", "pingpong", "clamp" or "once". Settable."""
        return self.stage.loop

    @loop.setter
    def loop(self, value: Loop) -> None:
        self.stage.loop = value
        self.refresh()

    @property
    def layer(self) -> Layer | None:
        """A second clip over the first, or None. Settable: a `skinpy.view.Layer`, or the name of a clip."""
        return self.stage.layer

    @layer.setter
    def layer(self, value: Layer | str | None) -> None:
        self.stage.layer = value
        self.refresh()

    @property
    def overlays(self) -> Any:
        """What is drawn on top: `skinpy.render.Overlays`, or None. Settable."""
        return self.stage.overlays

    @overlays.setter
    def overlays(self, value: Any) -> None:
        self.stage.overlays = value
        self.refresh()

    @property
    def floor(self) -> bool:
        """Whether there is a floor. Settable, also to a `skinpy.render.Floor`."""
        return self.stage.floor

    @floor.setter
    def floor(self, value: bool | Floor) -> None:
        self.stage.floor = value
        self.refresh()

    @property
    def camera(self) -> Camera:
        """The camera of the next picture. Settable; its horizon is made level."""
        return self.stage.camera

    @camera.setter
    def camera(self, value: Camera) -> None:
        if not isinstance(value, Camera):
            raise TypeError(f"camera is {type(value).__name__}; expected a Camera")
        eye = self.stage.eye
        self.stage.eye = Orbit.through(value, up=eye.up, radius=eye.radius)
        self.refresh()

    def reset_camera(self) -> None:
        """The camera as it was before anybody moved it."""
        self.stage.reset_camera()
        self.refresh()

    def refresh(self) -> None:
        """Show what has changed: of use after changes to `stage` or to the controller."""
        self._moved = time.monotonic()
        self._panel.show(time=not self._is_held)
        if not self._closed:
            self.canvas.ask()

    # ---- pictures -----------------------------------------------------------------------------------

    def snapshot(self, size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
        """The picture of now: (h, w, 4) uint8, RGBA, row 0 on top; `size` (width, height), by default the
        view's. Works without a notebook, and after `close`.

        Raises ValueError or TypeError for a wrong size, and GraphicsError.
        """
        return self.stage.frame(size=size)

    def close(self) -> None:
        """Take the view out of the notebook and free what it holds on the GPU. Closing twice is harmless."""
        if not self._closed:
            self._closed = True
            self.stage.playing = False
            self.widget.close()
            self.canvas.close()
            self.stage.close()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        """The widget, with a picture for exports and for readers without a kernel. Where no browser can be
        there, as nobody could answer a question (nbconvert, nbclient), the picture alone, and it moves.
        """
        alone = self._closed or not _is_attended()
        picture = None
        if not self._closed and wanted("image/png", include, exclude):
            picture = (self._film() if alone else None) or encode_picture(self.snapshot(), "png")
        found: dict[str, Any] = bundle(self, picture, include, exclude)
        if not alone:
            shown = self.widget._repr_mimebundle_() or {}  # nothing, after the box was closed by itself
            found |= {kind: data for kind, data in shown.items() if kind not in ("text/plain", *found)}
        return {kind: data for kind, data in found.items() if wanted(kind, include, exclude)}

    def _film(self) -> bytes | None:
        """An animated PNG of what plays; None where nothing does, or where a controller decides."""
        stage = self.stage
        if stage.controller is not None or not (stage.playing and stage.duration > 0):
            return None
        width, height = stage.size
        ladder = [((max(round(h * width / height), 1), h), most) for h, most in _LADDER]

        def draw(size: tuple[int, int], most: int) -> tuple[list[NDArray[np.uint8]], float]:
            times, fps = preview_times(stage.duration, most)
            frames = []
            for time in times.tolist():
                stage.time = time
                frames.append(stage.frame(size=size))
            return frames, fps

        with self._lock:
            time = stage.time
            try:
                return fitting(ladder, draw)
            finally:
                stage.time = time

    def __repr__(self) -> str:
        state = "closed" if self._closed else "playing" if self.playing else "stopped"
        width, height = self.stage.size
        return f"<LiveView of {self.stage.clip_name!r} at {self.stage.time_label}, {width}x{height}, {state}>"

    # ---- what the browser asks for ------------------------------------------------------------------

    def _draw(self) -> NDArray[np.uint8] | None:
        """The next picture; None where there is none to show. Errors are shown in the view."""
        with self._lock:
            if self._closed:
                return None
            start = time.monotonic()
            try:
                moves = self._go_on(start)
                self._seen = self._picture(moves, start)
                self._good = self.stage.overlays
            except Exception as error:
                self._failed(error)
                return None
            self._show_panel(start)
            if self.stage.playing:
                self.canvas.ask_later(max(0.0, start + 1 / _FPS - time.monotonic()))
            elif moves and not self._pace.is_finest:
                self.canvas.ask_later(_REST)
            return self._seen

    def _show_panel(self, now: float) -> None:
        """Bring the widgets up to date, but not thirty times a second: each change is a message."""
        if not self.stage.playing or now - self._shown > _PANEL:
            self._shown = now
            self._panel.show(time=not self._is_held)

    def _go_on(self, now: float) -> bool:
        """Let the time since the last picture go by; whether anything moves."""
        if self._ran and not self._is_held:
            self.stage.advance(min(now - self._last, _LONGEST))
        self._last, self._ran = now, self.stage.playing and not self._is_held
        return self.stage.playing or self._hand.dragging or now - self._moved < _REST * 0.9

    def _picture(self, moves: bool, start: float) -> NDArray[np.uint8]:
        if not moves:
            return self.stage.frame()
        share, samples = self._pace.fineness
        picture = self.stage.frame(size=reduced(self.stage.size, share), samples=samples)
        self._pace.took(time.monotonic() - start)
        return picture

    def _take(self, event: Mapping[str, Any]) -> None:
        """Something that the pointer, the keyboard or the size of the picture did."""
        kind = event["type"]
        if self._closed or kind == "close":
            return
        if kind == "resize":
            self._act(lambda: self._resized(event))
        elif kind == "show":
            # A page that was loaded anew confirms none of the pictures that the old one got, and jupyter_rfb
            # waits for that: one is sent without being asked for.
            picture = self._draw()
            if picture is not None:
                self.canvas.send_frame(picture)
        else:
            if kind in ("pointer_down", "wheel", "key_down"):
                self._show_message("")
            before = self.stage.changes
            self._act(lambda: self._hand.take(event), quiet=True)
            if self.stage.changes != before:
                self.refresh()

    def _resized(self, event: Mapping[str, Any]) -> None:
        self._hand.resized(event["height"])
        width, height = (max(round(event[side] * event["ratio"]), 1) for side in ("width", "height"))
        shrink = min(1.0, _LARGEST / max(width, height))
        self.stage.size = max(round(width * shrink), 1), max(round(height * shrink), 1)

    def _act(self, action: Callable[[], object], quiet: bool = False) -> None:
        """Do what a hand asks for; an error is shown in the view. `quiet`: draw nothing, and let a message
        stay."""
        try:
            if not quiet:
                self._show_message("")
            action()
        except Exception as error:
            self._tell(error)
        if not quiet:
            self.refresh()

    def _scrubbed(self) -> None:
        self._held = time.monotonic() + _HOLD

    @property
    def _is_held(self) -> bool:
        """Whether a hand is on the slider."""
        return time.monotonic() < self._held

    def _failed(self, error: Exception) -> None:
        """A picture could not be drawn: back to overlays that could be, or stop."""
        self._tell(error)
        if self.stage.overlays != self._good:
            self.stage.overlays = self._good
            self.refresh()
        else:
            self.stage.playing = False
            self._panel.show()

    def _tell(self, error: Exception) -> None:
        said = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        words = f"{type(error).__name__}: {html.escape(said)}"
        self._show_message(f'<span style="color:#c62828">{words}</span>')

    def _say(self, words: str) -> None:
        self._show_message(html.escape(words))

    def _show_message(self, code: str) -> None:
        if self._panel.message.value != code:
            self._panel.message.value = code
