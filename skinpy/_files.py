"""Writing files so that they appear whole or not at all."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ._types import PathLike


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file to write beside `path`, which takes its place when the block ends well and is removed when not."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with open(part, "xb") as file:
            yield file
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
