"""State machines: their states, transitions and conditions, and the player that a controller runs."""

from .playing.state_machine import StateMachine
from .playing.state_player import StatePlayer, Switch
from .playing.states import Condition, State, Transition

__all__ = ["Condition", "State", "StateMachine", "StatePlayer", "Switch", "Transition"]
