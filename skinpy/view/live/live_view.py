"""Live views in notebooks: a model that plays, with menus and sliders below it, and a mouse that turns it.

The kernel draws the pictures. Needs the extra `jupyter`, which the first view loads.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..._arguments import flag
from ..._one_process import OneProcess
from ..._text import quoted
from ...output.picture import encode_picture
from ...output.preview import bundle, wanted
from ...render import Camera, Floor
from ..stage import Stage
from .film import film
from .loop import LiveLoop

if TYPE_CHECKING:
    from types import ModuleType

    from ..._options import StageOptions
    from ..._types import Loop
    from ...model import Model
    from ...playing.controller import AnimationController
    from ...render.posing import ClipLike, Motion
    from ..stage import Layer


class LiveView(OneProcess):
    """A model in a notebook, live: what `Model.view` and `AnimationController.view` return.

    Make it the last line of a cell, or call ``display(view)``. In the picture, a drag orbits, a drag with
    Shift or the right button pans, and a double click resets the camera; after a click into the picture the
    wheel zooms, and the keys are those of windows. Below the picture are the clips, the time, the overlays,
    and a second clip as a layer or, for a controller, the weights of its tracks. Code drives the view by its
    attributes, from any thread. Outside notebooks it can still take snapshots.

    Parameters
    ----------
    model : Model
        The model to show.
    clip : Clip, VertexAnimation, str or int, optional
        What plays. Without it the first clip plays.
    controller : AnimationController, optional
        A controller of this model, which takes the place of a clip.
    size : (int, int), pixels, default (640, 480)
        Width and height of the picture.
    controls : bool, default True
        Whether there are menus and sliders below the picture.
    **options
        The other arguments of `Stage`: layer, floor, overlays, camera, speed, loop, playing, background,
        samples, uv.

    Attributes
    ----------
    stage : Stage
        What is shown.
    canvas : jupyter_rfb.RemoteFrameBuffer
        The picture alone, as a widget.
    widget : ipywidgets.VBox
        The box with everything, to be put into other boxes.

    Raises
    ------
    ImportError
        If the extra `jupyter` is not installed.
    KeyError
        If the model has no clip, or no joint that an overlay names.
    IndexError
        If the model has no clip, or no joint of an overlay, of this number.
    ValueError
        If an argument is out of range.
    TypeError
        If an argument has the wrong type.
    GraphicsError
        If OpenGL fails.
    """

    def __init__(
        self,
        model: Model,
        clip: ClipLike = None,
        *,
        controller: AnimationController | None = None,
        size: tuple[int, int] = (640, 480),
        controls: bool = True,
        **options: Unpack[StageOptions],
    ) -> None:
        with_controls = flag("controls", controls)
        canvas, panel = _jupyter_modules()
        import ipywidgets

        self.stage = Stage(model, clip, controller=controller, size=size, **options)
        self._loop = LiveLoop(self.stage, canvas, panel)
        self.canvas = self._loop.canvas
        rows = self._loop.panel.rows if with_controls else [self._loop.panel.message]
        for row in rows:
            row.layout.width, row.layout.max_width = f"{size[0]}px", "100%"
        self.widget = ipywidgets.VBox([self.canvas, *rows])

    # ---- driving it by code -----------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model."""
        return self.stage.model

    @property
    def clip(self) -> Motion:
        """The clip that plays, or None for the rest pose.

        Settable: a name, a number, a `Clip` or a `VertexAnimation`; None is the first clip.
        """
        return self.stage.player.clip

    @clip.setter
    def clip(self, value: ClipLike) -> None:
        self.stage.choose(value)
        self.refresh()

    @property
    def time(self) -> float:
        """Seconds played, not wrapped. Settable."""
        return self.stage.player.time

    @time.setter
    def time(self, value: float) -> None:
        self.stage.player.time = value
        self.refresh()

    @property
    def playing(self) -> bool:
        """Whether time passes by itself. Settable."""
        return self.stage.player.playing

    @playing.setter
    def playing(self, value: bool) -> None:
        self.stage.player.playing = value
        self.refresh()

    @property
    def speed(self) -> float:
        """Seconds of the clip per second; negative speeds play backwards. Settable."""
        return self.stage.player.speed

    @speed.setter
    def speed(self, value: float) -> None:
        self.stage.player.speed = value
        self.refresh()

    @property
    def loop(self) -> Loop:
        """What happens beyond the ends of the clip: "wrap", "pingpong", "clamp" or "once". Settable."""
        return self.stage.player.loop

    @loop.setter
    def loop(self, value: Loop) -> None:
        self.stage.player.loop = value
        self.refresh()

    @property
    def layer(self) -> Layer | None:
        """A second clip over the first, or None. Settable: a `Layer`, or the name of a clip."""
        return self.stage.player.layer

    @layer.setter
    def layer(self, value: Layer | str | None) -> None:
        self.stage.player.layer = value
        self.refresh()

    @property
    def overlays(self) -> Any:
        """What is drawn over the model: `Overlays`, or None. Settable."""
        return self.stage.overlays

    @overlays.setter
    def overlays(self, value: Any) -> None:
        self.stage.overlays = value
        self.refresh()

    @property
    def floor(self) -> bool:
        """Whether there is a floor. Settable, also to a `Floor`."""
        return self.stage.floor

    @floor.setter
    def floor(self, value: bool | Floor) -> None:
        self.stage.floor = value
        self.refresh()

    @property
    def camera(self) -> Camera:
        """The camera of the next picture. Settable; the horizon of the new camera is made level."""
        return self.stage.rig.camera

    @camera.setter
    def camera(self, value: Camera) -> None:
        self.stage.rig.camera = value
        self.refresh()

    def reset_camera(self) -> None:
        """Put the camera where it was before anybody moved it."""
        self.stage.rig.reset()
        self.refresh()

    def refresh(self) -> None:
        """Show what has changed: of use after changes to `stage` or to the controller."""
        self._loop.refresh()

    def snapshot(self, size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
        """Draw the current picture. This works without a notebook, and after `close`.

        Parameters
        ----------
        size : (int, int), pixels, optional
            Width and height; by default those of the view.

        Returns
        -------
        (h, w, 4) uint8 ndarray
            The picture, RGBA, row 0 on top.

        Raises
        ------
        ValueError
            If the size is out of range.
        TypeError
            If the size is not a pair of integers.
        GraphicsError
            If OpenGL fails.
        """
        return self.stage.frame(size=size)

    def close(self) -> None:
        """Remove the view from the notebook and free its GPU memory; closing twice is harmless."""
        if not self._loop.closed:
            self._loop.close()
            from .widgets import close_tree

            close_tree(self.widget)
            self.stage.close()

    # ---- in a notebook ----------------------------------------------------------------------------------

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        """The widget, with a picture for exports and for readers without a kernel.

        Where no browser can be there, as nobody could answer a question (nbconvert, nbclient), it is the
        picture alone, and the picture moves.
        """
        closed = self._loop.closed
        alone = closed or not _has_frontend()
        picture = None
        if not closed and wanted("image/png", include, exclude):
            picture = (self._film() if alone else None) or encode_picture(self.snapshot(), "png")
        found: dict[str, Any] = bundle(self, picture, include, exclude)
        if not alone:
            shown = self.widget._repr_mimebundle_() or {}  # nothing, if the box alone was closed
            found |= {kind: data for kind, data in shown.items() if kind not in ("text/plain", *found)}
        return {kind: data for kind, data in found.items() if wanted(kind, include, exclude)}

    def _film(self) -> bytes | None:
        with self._loop.lock:
            return film(self.stage)

    def __repr__(self) -> str:
        player, (width, height) = self.stage.player, self.stage.size
        state = "closed" if self._loop.closed else "playing" if player.playing else "stopped"
        return f"<LiveView of {quoted(player.clip_name)} at {player.time_label}, {width}x{height}, {state}>"


def _jupyter_modules() -> tuple[ModuleType, ModuleType]:
    """The modules that need the extra `jupyter`."""
    try:
        from . import canvas, panel
    except ImportError as error:
        raise ImportError(
            f"a live view needs jupyter_rfb and ipywidgets ({error}): pip install 'skinpy-anim[jupyter]'"
        ) from error
    return canvas, panel


def _has_frontend() -> bool:
    """Whether a browser may show a widget: whoever runs the cell then says that questions can be answered."""
    shell = sys.modules["IPython"].get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return True
    content = kernel.get_parent("shell").get("content", {})
    return bool(content.get("allow_stdin", True))
