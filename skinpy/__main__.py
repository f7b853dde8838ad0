"""The command line: parses `skinpy COMMAND ...` and runs the command from `skinpy.commands`.

The exit status is 0 for success, 1 for bad input, 2 for wrong usage and 130 after Ctrl-C.
"""

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from . import __version__
from ._progress import erase
from ._text import printable
from .commands import COMMANDS
from .commands.loading import with_option
from .commands.options import UsageError
from .errors import LoadError, SkinpyError, SkinpyWarning

__all__ = ["main"]

_WRONG_USAGE = 2  # exit status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. An error is one line on standard error."""
    try:
        options = _parser().parse_args(_with_joined_axis(sys.argv[1:] if arguments is None else arguments))
    except ImportError as error:  # of what checks the value of an option
        return _failed(error)
    _escape_missing_letters()
    with warnings.catch_warnings():
        # `info` and `check` show losses of the import themselves; for the other commands each is one line.
        warnings.simplefilter("always", SkinpyWarning)
        warnings.showwarning = _print_warning
        try:
            status = options.run(options)
            if sys.stdout is not None:
                sys.stdout.flush()
        except UsageError as error:
            options.fail(_one_line(error))
        except KeyError as error:
            return _failed(error.args[0])
        except BrokenPipeError:  # the reader has closed the pipe, as `head` does
            _discard_output()
            return 0
        except (SkinpyError, OSError, ValueError, IndexError, ImportError, MemoryError) as error:
            _discard_output()
            without_words = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
            return _failed(error if str(error) else without_words)
        except KeyboardInterrupt:
            return 130
    return status or 0


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without control characters."""

    def error(self, message: str) -> NoReturn:
        words = f"skinpy: {printable(_one_line(message))} (usage: {self.prog} --help)"
        self.exit(_WRONG_USAGE, f"{words}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="skinpy",
        description="Load, check and draw animated 3D models. 'skinpy COMMAND --help' lists the options of a "
        "command.",
    )
    parser.add_argument(
        "--version", action="version", version=f"skinpy {__version__}", help="show the version and exit"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return parser


def _with_joined_axis(arguments: Sequence[str]) -> list[str]:
    """`--up -Z` as `--up=-Z`: argparse takes an argument that begins with a minus for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined[-1:] == ["--up"] and len(argument) == 2 and argument[0] == "-":
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _escape_missing_letters() -> None:
    """Let a terminal whose encoding lacks a letter of a name show the number of that letter."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Send what cannot be written to the null device: Python would write it at exit, and fail once more."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(error: object) -> int:
    message = with_option(error) if isinstance(error, LoadError) else error
    if isinstance(error, OSError) and error.filename is None:  # only standard output has no name
        from .files.whole import explained

        error = explained(error, "standard output")
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        message = f"{os.fsdecode(error.filename)!r}: {error.strerror}"
    print(f"skinpy: {_one_line(message)}", file=sys.stderr)
    return 1


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    erase()
    print(f"skinpy: warning: {_one_line(with_option(message))}", file=sys.stderr)


def _one_line(message: object) -> str:
    return printable(" ".join(str(message).split()))


if __name__ == "__main__":
    sys.exit(main())
