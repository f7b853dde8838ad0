"""Building blocks of the panel below a live view: ipywidgets, bound to what the user changes with them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import ipywidgets

from ..._text import unicode_text

#: Values of menus whose other values are numbers of clips or joints: nothing, and what is not in the menu.
NONE, OTHER = -1, -2

#: Runs a change that the user asks for, and shows its error.
Act: TypeAlias = Callable[[Callable[[], object]], None]


class Binding:
    """Connects widgets with the changes that the user makes with them.

    Any thread may show values while the user changes others in another thread.
    """

    def __init__(self, act: Act) -> None:
        self._act = act
        self._lock = threading.RLock()
        self._showing = False  # whether values change because the stage has changed

    def on(self, widget: Any, change: Callable[[Any], object]) -> Any:
        """Run `change(value)` when the user gives the widget another value; returns the widget."""

        def changed(event: Any) -> None:
            # Another thread may be showing values; if this thread is, the change is not the user's.
            with self._lock:
                if not self._showing:
                    self._act(lambda: change(event["new"]))

        widget.observe(changed, names="value")
        return widget

    def on_click(self, button: Any, action: Callable[[], object]) -> Any:
        """Run `action` when the user clicks on a button; returns the button."""
        button.on_click(lambda _: self._act(action))
        return button

    @contextmanager
    def showing(self) -> Iterator[None]:
        """A block in which changes of values are not the user's."""
        with self._lock:
            self._showing = True
            try:
                yield
            finally:
                self._showing = False


def row(*widgets: Any) -> Any:
    """Widgets side by side, and below one another where the view is narrow."""
    return ipywidgets.HBox(widgets, layout={"flex_flow": "row wrap", "align_items": "center"})


def toggle(label: str, tooltip: str) -> Any:
    """A button that stays pressed."""
    return ipywidgets.ToggleButton(
        description=label, tooltip=tooltip, layout={"width": "auto", "padding": "0 8px", "height": "26px"}
    )


def slider(
    label: str, tooltip: str, ends: tuple[float, float], step: float, width: str, value: float = 0
) -> Any:
    """A slider with a label; whole numbers where its lower end is an int."""
    kind = ipywidgets.IntSlider if isinstance(ends[0], int) else ipywidgets.FloatSlider
    return kind(
        value,
        min=ends[0],
        max=ends[1],
        step=step,
        description=label,
        tooltip=tooltip,
        style={"description_width": _label_width(label)},
        layout={"width": width},
    )


def menu(label: str, tooltip: str, options: list[Any], width: str) -> Any:
    """A menu with a label; its first option is chosen."""
    return ipywidgets.Dropdown(
        options=options,
        value=options[0][1],
        description=label,
        tooltip=tooltip,
        style={"description_width": _label_width(label)},
        layout={"width": width},
    )


def _label_width(label: str) -> str:
    return f"{8 + 7 * len(label)}px"


def show_menu(menu: Any, none: str, names: Sequence[str], value: int, other: str) -> None:
    """Let a menu list `none` and the names, by their numbers; `other` too, if `value` is none of them."""
    value = value if value == NONE or 0 <= value < len(names) else OTHER
    named = (unicode_text(name) or f"unnamed {number}" for number, name in enumerate(names))
    options = [(none, NONE), *((name, number) for number, name in enumerate(named))]
    options += [(other, OTHER)] if value == OTHER else []
    if list(menu.options) != options:
        menu.options = options
    menu.value = value


def close_tree(widget: Any) -> None:
    """Close a widget with all widgets inside it, and their layouts and styles.

    ipywidgets keeps every widget until it is closed by itself, and with it all that its callbacks refer to.
    """
    found: dict[int, Any] = {}
    waiting = [widget]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            values = [getattr(one, name) for name in one.keys]
            values += [getattr(one, "_output_context", None)]  # where jupyter_rfb writes errors
            listed = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
            waiting += [part for part in listed if isinstance(part, ipywidgets.Widget)]
    for one in found.values():
        one.close()


def index_of(value: object, values: Sequence[object]) -> int | None:
    """The index of the first of `values` that is equal to `value`, or None."""
    return next((number for number, one in enumerate(values) if one == value), None)
