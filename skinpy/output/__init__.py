"""Pictures, films and contact sheets as files.

`encode_picture`, `save_picture`, `encode_film` and `save_film` take RGBA uint8 arrays and know nothing of
models. `save_clip`, `sheet` and `side_by_side` draw the frames first.
"""

from .clip_file import save_clip
from .contact_sheet import sheet
from .film import encode_film, save_film
from .picture import encode_picture, save_picture
from .side_by_side import side_by_side

__all__ = ["encode_picture", "save_picture", "encode_film", "save_film", "save_clip", "sheet", "side_by_side"]
