"""The commands of `skinpy COMMAND ...`, one module each.

A module of a command has `add(commands)`, which describes the command and its options to argparse, and a
function that runs the command and is set as the default of `run`. `values` reads the values of options;
`options` and `loading` hold the options that several commands share.
"""

from . import check, compare, convert, curves, demo, explain, info, page, render, retarget, sheet, view

__all__ = ["COMMANDS"]

#: The modules of the commands, in the order in which `skinpy --help` lists them.
COMMANDS = (info, check, render, view, page, sheet, convert, retarget, compare, curves, explain, demo)
