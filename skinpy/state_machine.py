"""State machines, their states, transitions and conditions, and the player that a controller runs."""

from .playing.state_machine import Condition, State, StateMachine, StatePlayer, Switch, Transition

__all__ = ["Condition", "State", "StateMachine", "StatePlayer", "Switch", "Transition"]
