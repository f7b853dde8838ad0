"""Writing files so that they appear whole or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .._arguments import path_of
from .._progress import working
from .._signals import cleaned_up
from .._types import PathLike

#: Remedies for the reasons why a file cannot be written.
_REMEDIES = {
    errno.ENOENT: "make the folder first",
    errno.ENOTDIR: "a part of the path is a file and not a folder: choose another folder",
    errno.EISDIR: "this is a folder: give the name of a file",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOSPC: "make room on the disk, or choose another disk",
    errno.EDQUOT: "make room on the disk, or choose another disk",
    errno.EFBIG: "raise the limit of file size (ulimit -f), or choose another disk",
    errno.EMFILE: "close files, or raise the limit of open files (ulimit -n)",
}


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """Open a draft for writing, which replaces the file at `path` in one step when the block ends.

    If anything fails, or Ctrl-C, SIGTERM or SIGHUP come, the file is unchanged and the draft is removed. (A
    draft stays if the process is killed, or ended by SIGTERM or SIGHUP while another thread than the main one
    writes.) A symbolic link stays, and its target is replaced. Owner and permissions of an existing file are
    kept. A path that is not a regular file (a pipe, a device) is written to directly. Raises OSError with
    `path` and a remedy.
    """
    path = path_of("path", path)
    with working(f"writing {os.path.basename(os.fsdecode(path))}"), _replacing(path) as file:
        yield file


@contextmanager
def _replacing(path: PathLike) -> Iterator[BinaryIO]:
    if os.path.exists(path) and not os.path.isfile(path):
        try:
            with open(path, "wb") as file:
                yield file
        except OSError as error:
            raise explained(error, path, str(path)) from error
        return
    try:
        target = Path(os.path.realpath(path))
    except OSError as error:  # a path in a working folder that was removed
        raise explained(error, path) from error
    draft = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    with cleaned_up():
        try:
            with draft.open("xb") as file:
                _keep_permissions(target, file.fileno())
                yield file
            os.replace(draft, target)
        except OSError as error:
            _remove(draft)
            raise explained(error, path, str(draft)) from error
        except BaseException:
            _remove(draft)
            raise


def _keep_permissions(target: Path, draft: int) -> None:
    """Give the draft the permissions and the owner of the file, before anything is written to it."""
    with suppress(OSError):  # there may be no file, or a disk without permissions
        old = target.stat()
        os.fchmod(draft, stat.S_IMODE(old.st_mode) & 0o777)
        os.fchown(draft, old.st_uid, old.st_gid)  # only the owner and root may


def _remove(draft: Path) -> None:
    """Remove the draft, if there is one."""
    with suppress(OSError):  # if the folder cannot be read, there is no draft either
        draft.unlink()


def explained(error: OSError, path: PathLike, draft: str | None = None) -> OSError:
    """Return the error with the caller's own path in place of the draft's, and with a remedy.

    Errors of writing have no file name. An error that names another file than the draft stays unchanged.
    """
    remedy = _REMEDIES.get(error.errno or 0)
    ours = (None,) if draft is None else (None, draft, os.fsencode(draft))
    if error.filename not in ours or error.errno is None:
        return error
    reason = error.strerror or str(error)
    return OSError(error.errno, f"{reason}; {remedy}" if remedy else reason, os.fsdecode(path))
