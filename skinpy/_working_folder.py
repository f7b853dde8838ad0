"""Keeps `python -m skinpy` from importing modules of the folder that it was started in.

`python -m` puts that folder in front of all others on `sys.path`, and a folder of models from strangers may
hold a `numpy.py`. So this module is imported before others, and needs only what Python has imported already.
"""

import os
import sys


def _runs_skinpy() -> bool:
    """Whether Python is looking for the module of `python -m skinpy`: until then `sys.argv[0]` is "-m"."""
    if sys.argv[:1] != ["-m"]:
        return False
    module = sys.orig_argv[-len(sys.argv)].removeprefix("-m")
    return module.partition(".")[0] == __package__


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


if _runs_skinpy() and not sys.flags.safe_path and sys.path[0] in ("", _working_folder()):
    del sys.path[0]
