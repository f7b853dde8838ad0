"""Recordings: the calls of a controller as plain data that can be repeated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, wraps
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .._arguments import brief
from .._json import parse_json
from .._strict import Strict
from ..clip import Clip
from ..mask import Mask
from .layer import Key
from .track import Track

if TYPE_CHECKING:
    from .controller import AnimationController

__all__ = ["Recording"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def recorded(
    method: Callable[Concatenate[AnimationController, _Arguments], _Result],
) -> Callable[Concatenate[AnimationController, _Arguments], _Result]:
    """Record the calls of a method that come from outside; calls that other methods make are not recorded.

    Each such method may change what plays, so what the controller has cached is invalidated.
    """

    @wraps(method)
    def called(self: AnimationController, *args: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        self._invalidate()
        if self._recording is None:
            return method(self, *args, **keywords)
        with self._one_call():
            result = method(self, *args, **keywords)
        self._record(method.__name__, *args, **keywords)
        return result

    return called  # type: ignore[return-value]


def plain(value: Any) -> Any:
    """Return an argument as data.

    An argument other than a number, a string or a list becomes a dict whose one key tells the kind.
    """
    if isinstance(value, Track):
        return {"track": value.number}
    if isinstance(value, Key):
        return {"key": value.number}
    if isinstance(value, Mask):
        return {"mask": value.to_dict()}
    if hasattr(value, "to_dict") and hasattr(value, "bind"):
        return {"space": value.to_dict()}
    if hasattr(value, "to_dict") and not isinstance(value, Clip):
        return {"machine": value.to_dict()}
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if hasattr(value, "item"):
        return value.item()  # a NumPy number
    return value


class Recording(Strict):
    """The calls of a controller, in order; `AnimationController.record` makes it.

    A recording grows until `stop`. `to_json` and `from_json` keep it in a file. The model that it is replayed
    on needs the same clips.
    """

    def __init__(self, calls: list[list[Any]] | None = None) -> None:
        self._calls: list[list[Any]] = [] if calls is None else calls
        self._grows = calls is None
        self._made: dict[tuple[str, int], Any] = {}

    @property
    def calls(self) -> list[list[Any]]:
        """The calls, each as [method, arguments, keywords]."""
        return self._calls

    def stop(self) -> None:
        """Stop recording: later calls are not added."""
        self._grows = False
        self._made = {}

    def to_json(self) -> str:
        """Return the calls as JSON.

        Returns
        -------
        str
            JSON that `from_json` reads.

        Raises
        ------
        ValueError
            If a call has a Clip object instead of a name or an index.
        """
        try:
            return json.dumps(self.calls, allow_nan=False)
        except TypeError:
            raise ValueError(
                "a recorded call has a Clip object, which JSON cannot hold; refer to clips by name or index"
            ) from None

    @classmethod
    def from_json(cls, text: str) -> Recording:
        """Return the recording of a JSON text.

        Parameters
        ----------
        text : str
            What `to_json` returned.

        Returns
        -------
        Recording
            A recording that does not grow.

        Raises
        ------
        ValueError
            If the text is not a recording.
        TypeError
            If the text is not a str.
        """
        calls = parse_json("text", text)
        wanted = "expected a list of [method, arguments, keywords]"
        if not isinstance(calls, list):
            raise ValueError(f"text is not a recording but {brief(calls)}; {wanted}")
        for number, call in enumerate(calls):
            if not _is_call(call):
                raise ValueError(f"text is not a recording: its call {number} is {brief(call)}; {wanted}")
        return cls(calls)

    def calls_on(self, controller: AnimationController) -> Iterator[str]:
        """Repeat the calls on a new controller.

        Parameters
        ----------
        controller : AnimationController
            A controller that has not played anything yet.

        Yields
        ------
        str
            The name of each method, after it was called.
        """
        made = Recording()
        controller._recording = made
        for method, args, keywords in self.calls:
            values = [self._value(one, made) for one in args]
            named = {name: self._value(one, made) for name, one in keywords.items()}
            if method == "set":
                setattr(made._find("track", named["track"]), named["name"], named["value"])
            elif method == "player":
                getattr(made._find("player", named["player"]), named["method"])(*values)
            else:
                getattr(controller, method)(*values, **named)
            yield method
        controller._recording = None

    @staticmethod
    def _value(value: Any, made: Recording) -> Any:
        """Return the argument that `plain` turned into data."""
        from .blend_space import space_from_dict
        from .state_machine import StateMachine

        if isinstance(value, list):
            return tuple(Recording._value(one, made) for one in value)
        if not isinstance(value, dict) or len(value) != 1:
            return value
        ((kind, data),) = value.items()
        if kind in ("track", "key", "player"):
            return made._find(kind, data)
        makers = {"mask": Mask.from_dict, "space": space_from_dict, "machine": StateMachine}
        return makers[kind](data) if kind in makers else value

    def _add(self, method: str, args: list[Any], keywords: dict[str, Any]) -> None:
        """Add a call, unless the recording was stopped."""
        if self._grows:
            self.calls.append([method, args, keywords])

    def _keep(self, made: Any) -> None:
        """Keep a track, a key or a player by its number, for calls that refer to it."""
        self._made[type(made).__name__.removeprefix("State").lower(), made.number] = made

    def _find(self, kind: str, number: Any) -> Any:
        """Return the track, the key or the player of a number that `_keep` has kept."""
        if not isinstance(number, int) or (kind, number) not in self._made:
            raise KeyError(
                f"a recorded call refers to the {kind} {brief(number)}, which no earlier call made"
            )
        return self._made[kind, number]

    def __len__(self) -> int:
        return len(self.calls)

    def __repr__(self) -> str:
        return f"<Recording: {len(self.calls)} calls>"


_SETTABLE = ("weight", "speed", "position", "enabled", "parameter")
_PLAYER_METHODS = ("trigger", "travel", "_set")
_METHODS = frozenset(
    ("play", "add_track", "cross_fade", "stop", "pause", "resume", "seek", "advance", "cancel", "run")
    + ("key_speed", "key_weight", "key_position", "key_enable", "key_priority_blend")
)


def _is_call(call: Any) -> bool:
    """Return whether an entry of a JSON text is a call that a recording may have."""
    from .controller import AnimationController
    from .state_player import StatePlayer

    if not (
        isinstance(call, list) and len(call) == 3 and isinstance(call[1], list) and isinstance(call[2], dict)
    ):
        return False
    method, arguments, keywords = call
    if method == "set":
        return (
            not arguments and keywords.keys() == {"track", "name", "value"} and keywords["name"] in _SETTABLE
        )
    if method == "player":
        name = keywords.get("method")
        return (
            keywords.keys() == {"player", "method"}
            and name in _PLAYER_METHODS
            and _takes(StatePlayer, name, arguments, {})
        )
    return (
        isinstance(method, str)
        and method in _METHODS
        and _takes(AnimationController, method, arguments, keywords)
    )


def _takes(owner: type, method: str, arguments: list[Any], keywords: dict[str, Any]) -> bool:
    """Return whether a method can be called with these arguments, whatever they are."""
    try:
        _signature(owner, method).bind(None, *arguments, **keywords)
    except TypeError:
        return False
    return True


@cache
def _signature(owner: type, method: str) -> Signature:
    return signature(getattr(owner, method))
