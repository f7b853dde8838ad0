"""Writing files so that they appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ._types import PathLike


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` in one step when the block ends well.

    When anything fails, `path` is as it was and nothing else is left. A link stays, and its target changes;
    what is there already and no regular file (a pipe, a device) is written to as it is. Raises OSError.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        with draft.open("xb") as file:
            yield file
        os.replace(draft, target)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(draft):
            error.filename = str(path)  # the caller knows nothing of the draft
        raise
