"""What commands print."""

import json
from typing import Any

from .._text import printable_lines, unicode_text
from ..models.extras import finite_data


def show(text: object) -> None:
    """Print text, line by line, as what no terminal obeys."""
    print(printable_lines(text))


def show_json(facts: Any) -> None:
    """Print facts as JSON, which has no bytes that are not UTF-8, and escapes what is not ASCII."""
    print(json.dumps(finite_data(facts, unicode_text), indent=2))
