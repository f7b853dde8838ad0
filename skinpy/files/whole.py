"""Writing files so that they appear whole or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .._types import PathLike

#: What helps where a file cannot be written.
_REMEDIES = {
    errno.ENOENT: "make the folder first",
    errno.ENOTDIR: "what should be a folder is a file: choose another place",
    errno.EISDIR: "this is a folder: give the name of a file",
    errno.EACCES: "choose a place where you may write",
    errno.EPERM: "choose a place where you may write",
    errno.EROFS: "choose a place where you may write",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOSPC: "make room, or choose another disk",
    errno.EDQUOT: "make room, or choose another disk",
    errno.EFBIG: "write less, or choose another disk",
}


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` in one step when the block ends well.

    When anything fails, `path` is as it was and nothing else is left. A link stays, and its target changes;
    who may read and write a file that is there stays the same;
    what is there already and no regular file (a pipe, a device) is written to as it is. Raises OSError that
    names `path` and says what helps.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        try:
            with open(path, "wb") as file:
                yield file
        except OSError as error:
            raise _explained(error, path, str(path)) from error
        return
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        with draft.open("xb") as file:
            _keep_permissions(target, file.fileno())
            yield file
        os.replace(draft, target)
    except OSError as error:
        _remove(draft)
        raise _explained(error, path, str(draft)) from error
    except BaseException:
        _remove(draft)
        raise


def _keep_permissions(target: Path, draft: int) -> None:
    """Those of the file that is there, for the one that is to take its place; before anything is in it."""
    with suppress(OSError):  # where there is none, or a disk that knows no permissions
        there = target.stat()
        os.fchmod(draft, stat.S_IMODE(there.st_mode) & 0o777)
        os.fchown(draft, there.st_uid, there.st_gid)  # its owner's and root's right


def _remove(draft: Path) -> None:
    with suppress(OSError):  # where its folder is none, or not to be read, there is no draft either
        draft.unlink()


def _explained(error: OSError, path: PathLike, written: str) -> OSError:
    """The error with the caller's own path (of drafts it knows nothing) and a remedy.

    Writes do not say which file; an error that names another file than `written` is none of ours.
    """
    remedy = _REMEDIES.get(error.errno or 0)
    if error.filename not in (None, written, os.fsencode(written)) or error.errno is None:
        return error
    words = error.strerror or str(error)
    return OSError(error.errno, f"{words}; {remedy}" if remedy else words, os.fsdecode(path))
