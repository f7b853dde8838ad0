"""The player of a state machine: it switches states at their exact times while a controller advances."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._arguments import instance
from .._strict import Strict
from .._text import quoted
from ..clip import Clip
from .motion import Motion
from .state_checks import check_cycles
from .state_machine import StateMachine
from .state_parsing import known, parameter_value
from .states import State, Transition, Value

if TYPE_CHECKING:
    from ..mask import Mask
    from ..model import Model
    from .blend_space import BoundBlendSpace
    from .controller import AnimationController
    from .track import Track

__all__ = ["StatePlayer", "Switch"]

_EARLY = 1e-6  # seconds before a predicted switch, from which every step looks for the switch
_NEAR = 1e-9  # cycles, or seconds: rounding errors add up to this, so closer times count as one
_HISTORY = 64  # switches that a player remembers


@dataclass(frozen=True)
class Switch:
    """An entry of a player's history.

    Attributes
    ----------
    time : float, seconds
        Time of the controller.
    before : str or None
        Name of the state that was left; None at the start.
    after : str
        Name of the state that was entered.
    """

    time: float
    before: str | None
    after: str


class StatePlayer(Strict):
    """Runs a state machine in one layer of a controller; `AnimationController.run` makes it.

    A player switches states while the controller advances, at the exact time, so the length of the steps does
    not matter. Conditions are tested at the beginning of every step and after every switch, with the values
    that the parameters have then.
    """

    def __init__(
        self,
        controller: AnimationController,
        machine: StateMachine,
        layer: str = "base",
        mask: Mask | str | None = None,
    ) -> None:
        instance("machine", machine, StateMachine, "a StateMachine")
        self._played = {name: _played_by(state, controller.model) for name, state in machine.states.items()}
        _check_clips(machine, {name: _clips_of(played) for name, played in self._played.items()})
        self._controller = controller
        self._machine = machine
        self._layer = layer
        self._mask = mask
        self._values: dict[str, Value] = dict(machine.parameters)
        self._route: tuple[Transition, ...] = ()
        self._next: Transition | None = None
        self._quiet = -math.inf  # seconds of the controller before which nothing switches
        self._history: deque[Switch] = deque(maxlen=_HISTORY)
        self._enter(None, machine.start, None)
        self._number = self._track.number

    @property
    def layer(self) -> str:
        """The name of the layer."""
        return self._layer

    @property
    def number(self) -> int:
        """The number of the player's first track, which names the player in a recording."""
        return self._number

    @property
    def machine(self) -> StateMachine:
        """The machine that runs."""
        return self._machine

    @property
    def state(self) -> str:
        """The name of the present state; the new state counts from the beginning of a fade."""
        return self._state

    @property
    def track(self) -> Track:
        """The track that plays the present state."""
        return self._track

    @property
    def parameters(self) -> MutableMapping[str, Value]:
        """The parameters by name; a trigger is True until a transition uses it up.

        Setting a parameter raises KeyError for an unknown name, TypeError for a value of another kind, and
        ValueError for a number that is not finite.
        """
        return _Parameters(self)

    @property
    def history(self) -> tuple[Switch, ...]:
        """The last 64 switches, including the start, the latest at the end."""
        return tuple(self._history)

    @property
    def route(self) -> tuple[str, ...]:
        """The names of the states that `travel` still leads through."""
        return tuple(one.target for one in self._route)

    def trigger(self, name: str) -> None:
        """Set a trigger; the next transition with that condition uses it up.

        Parameters
        ----------
        name : str
            Name of the trigger.

        Raises
        ------
        KeyError
            If there is no such trigger.
        """
        self._values[known("trigger", "trigger", name, self._machine.triggers)] = True
        self._invalidate()
        self._controller._record("player", name, player=self.number, method="trigger")

    def travel(self, state: str) -> tuple[str, ...]:
        """Go to a state by the fewest transitions.

        Conditions on the route are not tested, but ends and sync points are waited for. Until the player has
        arrived, it takes no other transition. The route to the present state is empty.

        Parameters
        ----------
        state : str
            Name of the state.

        Returns
        -------
        tuple of str
            Names of the states on the route.

        Raises
        ------
        KeyError
            If there is no such state.
        ValueError
            If no transitions lead there.
        """
        self._route = self._machine.route(self._state, state)
        self._invalidate()
        self._controller._record("player", state, player=self.number, method="travel")
        return self.route

    def _set(self, name: str, value: Value) -> None:
        """Set a parameter."""
        old = self.parameters[name]
        checked = parameter_value(f"parameter {quoted(name)}", value)
        if isinstance(old, bool) != isinstance(checked, bool):
            kind = "True or False" if isinstance(old, bool) else "a number"
            raise TypeError(f"parameter {quoted(name)} is set to {value!r}; expected {kind}")
        if checked != old:
            self._values[name] = checked
            self._invalidate()
        if name in self._machine.states[self._state].parameter:
            self._move_space()
        self._controller._record("player", name, checked, player=self.number, method="_set")

    # ---- for the controller ------------------------------------------------------------------------

    def _due(self, end: float) -> float | None:
        """Return the seconds to the next switch, if it comes up to `end` on the controller's clock."""
        if end < self._quiet:
            return None
        self._next, found = None, math.inf
        transitions: Sequence[Transition] = self._route[:1] or self._machine._outgoing[self._state]
        for transition in transitions:
            if self._route or all(one.holds(self._values[one.name]) for one in transition.when):
                seconds = self._seconds_to(transition)
                if seconds < found - _NEAR:
                    self._next, found = transition, seconds
        now = self._controller.time
        if found <= end - now:
            return found
        # Before its start a clip that plays once does not play evenly: it jumps to the start.
        if self._track._position >= 0:
            self._quiet = now + found - _EARLY
        return None

    def _invalidate(self) -> None:
        """Drop the prediction of `_due`: something other than the time has changed."""
        self._quiet = -math.inf

    def _act(self) -> None:
        """Make the switch that `_due` has announced."""
        transition = self._next
        assert transition is not None
        self._next, self._route = None, self._route[1:]
        for condition in transition.when:
            if condition.is_trigger:
                self._values[condition.name] = False
        self._enter(self._state, transition.target, transition)

    def _enter(self, before: str | None, name: str, transition: Transition | None) -> None:
        """Enter a state, by a transition or at the start."""
        state, controller = self._machine.states[name], self._controller
        played = self._played[name]
        # Not by name: a controller out of a pickle may lack the clips of other numbers and names.
        motion: Any = Motion(played) if isinstance(played, Clip) else Motion(None, played)
        options: dict[str, Any] = {
            "layer": self.layer,
            "mask": self._mask,
            "speed": state.speed,
            "loop": state.loop,
        }
        if transition is None:
            self._track = controller.play(motion, **options)
        else:
            fade = self._fade(transition)
            # If the user has stopped the layer, there is no phase to keep.
            plays = self._track in controller.layers[self.layer] and self._track._fade.leaving is None
            warp = transition.warp and plays
            options |= {"ease": transition.ease, "warp": warp, "method": transition.method}
            self._track = controller.cross_fade(motion, fade, **options)
        self._state = name
        self._invalidate()
        self._move_space()
        self._entered = self._track.phase
        self._history.append(Switch(controller.time, before, name))

    def _move_space(self) -> None:
        """Set the parameter of the blend space that plays."""
        names = self._machine.states[self._state].parameter
        if names:
            values = tuple(float(self._values[name]) for name in names)
            self._track._apply("parameter", values if len(values) > 1 else values[0])

    def _fade(self, transition: Transition) -> float:
        """Return the seconds of the fade; one that ends with the clip takes at most half of the clip."""
        track = self._track
        if transition.switch != "end" or track.speed <= 0 or transition.method == "inertial":
            return transition.fade
        return float(min(transition.fade, track.duration / track.speed / 2))

    def _seconds_to(self, transition: Transition) -> float:
        """Return the seconds until a transition may happen; infinite if that is unknown, or never."""
        track = self._track
        if transition.switch == "immediate" or track.duration == 0:
            return 0.0
        if track.speed <= 0 or track._speed.span or track._warp is not None:
            return math.inf  # known again when the warp or the keyed change of speed has ended
        rate = track.speed / track.duration  # cycles per second
        if transition.switch == "end":
            # An inertial fade begins where the old clip has ended, since it does not play it any more.
            fade = self._fade(transition) if transition.method == "blend" else 0.0
            phases = [1.0 - fade * rate]
        elif isinstance(transition.sync, str):
            clip = track.clip
            assert clip is not None
            phases = [event.time / clip.duration for event in clip.events if event.name == transition.sync]
        else:
            phases = [float(transition.sync or 0.0)]
        cycles = (self._cycles_to(phase, transition.switch) for phase in phases)
        return float(min(cycles, default=math.inf) / rate)

    def _cycles_to(self, goal: float, switch: str) -> float:
        """Return the cycles of the clip until its phase next reaches `goal`, from 0 to 1.

        The phase at which the state began does not count: a clip that starts at its sync point plays a whole
        cycle first. A phase that was missed by a rounding error counts as reached.
        """
        phase = self._track.phase
        if self._machine.states[self._state].loop == "once":
            missed = goal < phase - _NEAR or goal <= self._entered + _NEAR
            return max(goal - phase, 0.0) if not missed else 0.0 if switch == "end" else math.inf
        after = max(min(self._entered, phase) + _NEAR, phase - _NEAR)
        return float(max(math.floor(after - goal) + 1 + goal - phase, 0.0))

    def __repr__(self) -> str:
        return f"<StatePlayer in layer {quoted(self.layer)}: {quoted(self._state)}>"


class _Parameters(MutableMapping[str, Value]):
    """The parameters of a player, checked when they are set."""

    def __init__(self, player: StatePlayer) -> None:
        self._player = player

    def __getitem__(self, name: str) -> Value:
        return self._player._values[known("parameters", "parameter", name, self._player._values)]

    def __setitem__(self, name: str, value: Value) -> None:
        self._player._set(name, value)

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"parameter {quoted(name)} cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._player._values)

    def __len__(self) -> int:
        return len(self._player._values)

    def __repr__(self) -> str:
        return repr(self._player._values)


def _played_by(state: State, model: Model) -> Clip | BoundBlendSpace:
    """Return what a state plays."""
    if state.space is not None:
        return state.space.bind(model)
    assert state.clip is not None
    return model.clips[state.clip]


def _clips_of(played: Clip | BoundBlendSpace) -> tuple[Clip, ...]:
    """Return the clips of what a state plays."""
    return (played,) if isinstance(played, Clip) else played.clips


def _check_clips(machine: StateMachine, clips: Mapping[str, Sequence[Clip]]) -> None:
    """Raise an error for events that clips lack, and for states without length in a cycle or a warp."""
    instant = [name for name in clips if min(clip.duration for clip in clips[name]) == 0]
    check_cycles(machine._outgoing, instant)
    for name, transitions in machine._outgoing.items():
        for one in transitions:
            where = f"the transition {quoted(name)} -> {quoted(one.target)}"
            if isinstance(one.sync, str):
                for clip in clips[name]:
                    events = [event.name for event in clip.events]
                    known(where, f"event of clip {quoted(clip.name)}", one.sync, events)
            short = [state for state in (name, one.target) if state in instant]
            if one.warp and short:
                raise ValueError(f"{where}: warp needs clips that last; one of {short[0]!r} has no length")
